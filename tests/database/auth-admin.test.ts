import { randomUUID } from "node:crypto";
import type { AuthError } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Authenticator } from "../support/authenticator.ts";
import { backendKeys } from "../support/backend-keys.ts";
import { type AppSupabaseClient, startTestBackend } from "../support/test-backend.ts";

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
beforeAll(async () => {
  testBackend = await startTestBackend();
});
afterAll(() => testBackend.close());

const password = "a good password";
const otherPassword = "another good password";
let accountCount = 0;

function newEmailAddress(): string {
  accountCount += 1;
  return `colleague-${accountCount}@company.example`;
}

/** The metadata of an account that an invitation lets through. */
async function createInvitationMetadata(email: string) {
  const { rows } = await testBackend.backend.db.query<{ id: string }>(
    `insert into private.staff_invites (email, name, role, invited_by_name)
     values ($1, 'Ann', 'clerk', 'the company') returning id`,
    [email],
  );
  return { staff_invite_id: rows[0]?.id, full_name: "Ann" };
}

/** A confirmed account of a colleague's, as the company makes it. */
async function newStaffAccount() {
  const email = newEmailAddress();
  const user_metadata = await createInvitationMetadata(email);
  const made = await testBackend.serviceRole.auth.admin.createUser({
    email,
    password,
    email_confirm: true,
    user_metadata,
  });
  if (made.error) throw made.error;
  return { email, id: made.data.user.id };
}

async function newSession(email: string, given = password) {
  const supabase = testBackend.anonymous();
  const { data, error } = await supabase.auth.signInWithPassword({ email, password: given });
  if (error) throw error;
  return { supabase, session: data.session };
}

/** The token of a new link that recovers an account. */
async function createRecoveryToken(email: string): Promise<string> {
  const { data, error } = await testBackend.serviceRole.auth.admin.generateLink({ type: "recovery", email });
  if (error) throw error;
  return data.properties.hashed_token;
}

const redeemToken = (token_hash: string, type: "recovery" | "signup" = "recovery") =>
  testBackend.anonymous().auth.verifyOtp({ type, token_hash });

async function banAccount(id: string, until = "now() + interval '1 hour'"): Promise<void> {
  await testBackend.backend.db.query(`update auth.users set banned_until = ${until} where id = $1`, [id]);
}

const getErrorStatus = ({ error }: { error: AuthError | null }) => [error?.status, error?.code];

async function countAccountTraces(email: string) {
  const { rows } = await testBackend.backend.db.query(
    `select (select count(*) from auth.users where email = $1)::int as users,
       (select count(*) from auth.identities where email = $1)::int as identities,
       (select count(*) from auth.audit_log_entries where payload -> 'traits' ->> 'user_email' = $1)::int as log`,
    [email],
  );
  return rows[0];
}

async function listAuthLogEntries(id: string) {
  const { rows } = await testBackend.backend.db.query<{ payload: object }>(
    `select payload from auth.audit_log_entries
     where $1 in (payload ->> 'actor_id', payload -> 'traits' ->> 'user_id') order by created_at`,
    [id],
  );
  return rows.map(({ payload }) => payload);
}

describe("an account that the company makes", () => {
  test("is confirmed at once, spends its invitation, and signs in with its password", async () => {
    const email = newEmailAddress();
    const user_metadata = await createInvitationMetadata(email);
    const { data, error } = await testBackend.serviceRole.auth.admin.createUser({
      email: email.toUpperCase(),
      password,
      email_confirm: true,
      user_metadata,
    });
    expect(error).toBeNull();
    const id = data.user?.id;
    expect(data.user).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      aud: "authenticated",
      role: "authenticated",
      email,
      email_confirmed_at: expect.any(String),
      phone: "",
      app_metadata: { provider: "email", providers: ["email"] },
      user_metadata: { ...user_metadata, email_verified: true },
      identities: [
        {
          identity_id: expect.any(String),
          id,
          user_id: id,
          identity_data: { sub: id, email, email_verified: false, phone_verified: false },
          provider: "email",
          last_sign_in_at: expect.any(String),
          created_at: expect.any(String),
          updated_at: expect.any(String),
          email,
        },
      ],
      created_at: expect.any(String),
      updated_at: expect.any(String),
      is_anonymous: false,
    });
    const invitations = await testBackend.backend.db.query("select from private.staff_invites where email = $1", [
      email,
    ]);
    expect(invitations.rows).toEqual([]);
    expect(await listAuthLogEntries(id ?? "")).toEqual([
      {
        action: "user_signedup",
        actor_id: "00000000-0000-0000-0000-000000000000",
        actor_username: "service_role",
        actor_via_sso: false,
        log_type: "team",
        traits: { user_id: id, user_email: email, user_phone: "", provider: "email" },
      },
    ]);
    expect((await newSession(email)).session.user.id).toBe(id);
  });

  test("without a password has one that nobody knows, until a link sets it", async () => {
    const email = newEmailAddress();
    const user_metadata = await createInvitationMetadata(email);
    const made = await testBackend.serviceRole.auth.admin.createUser({ email, email_confirm: true, user_metadata });
    expect(made.error).toBeNull();
    for (const guess of ["", "undefined", "null", password]) {
      const login = await testBackend.anonymous().auth.signInWithPassword({ email, password: guess });
      expect(getErrorStatus(login)).toEqual([400, "invalid_credentials"]);
    }
    const supabase = testBackend.anonymous();
    await supabase.auth.verifyOtp({ type: "recovery", token_hash: await createRecoveryToken(email) });
    expect((await supabase.auth.updateUser({ password })).error).toBeNull();
    expect((await newSession(email)).session.user.id).toBe(made.data.user?.id);
  });

  test("waits for its confirmation when the company does not confirm it", async () => {
    const email = newEmailAddress();
    const user_metadata = await createInvitationMetadata(email);
    const { data, error } = await testBackend.serviceRole.auth.admin.createUser({ email, password, user_metadata });
    expect(error).toBeNull();
    expect(data.user).not.toHaveProperty("email_confirmed_at");
    expect(data.user?.user_metadata).toEqual(user_metadata);
    const login = await testBackend.anonymous().auth.signInWithPassword({ email, password });
    expect(getErrorStatus(login)).toEqual([400, "email_not_confirmed"]);
  });

  test("is not made for an address that has one, in whatever case it is written", async () => {
    const { email } = await newStaffAccount();
    const before = await countAccountTraces(email);
    for (const known of [email, email.toUpperCase()]) {
      const again = await testBackend.serviceRole.auth.admin.createUser({ email: known, email_confirm: true });
      expect(getErrorStatus(again)).toEqual([422, "email_exists"]);
    }
    expect(await countAccountTraces(email)).toEqual(before);
  });

  test("is not made without an invitation, nor with another address's, and leaves nothing behind", async () => {
    const email = newEmailAddress();
    const foreign = await createInvitationMetadata(newEmailAddress());
    for (const user_metadata of [undefined, {}, { staff_invite_id: randomUUID() }, foreign]) {
      const result = await testBackend.backend.fetch(
        new Request("http://backend.local/auth/v1/admin/users", {
          method: "POST",
          headers: {
            apikey: testBackend.secretKey,
            authorization: `Bearer ${testBackend.secretKey}`,
            "content-type": "application/json",
            "x-supabase-api-version": "2024-01-01",
          },
          body: JSON.stringify({ email, email_confirm: true, user_metadata }),
        }),
      );
      expect(result.status).toBe(500);
      expect(await result.json()).toEqual({
        code: "unexpected_failure",
        message: "Database error creating new user",
      });
      expect(await countAccountTraces(email)).toEqual({ users: 0, identities: 0, log: 0 });
    }
  });

  test("needs an e-mail address", async () => {
    const long = `${"a".repeat(250)}@company.example`;
    for (const email of [undefined, "", "nobody", "a@b@company.example", "a b@company.example", long]) {
      const made = await testBackend.serviceRole.auth.admin.createUser({ email, email_confirm: true });
      expect(getErrorStatus(made), email).toEqual([400, "validation_failed"]);
    }
  });

  test("is made by nobody else", async () => {
    const { supabase } = await newSession((await newStaffAccount()).email);
    const email = newEmailAddress();
    const user_metadata = await createInvitationMetadata(email);
    for (const stranger of [testBackend.anonymous(), supabase]) {
      const made = await stranger.auth.admin.createUser({ email, email_confirm: true, user_metadata });
      expect([401, 403]).toContain(made.error?.status);
    }
    expect(await countAccountTraces(email)).toEqual({ users: 0, identities: 0, log: 0 });
  });
});

describe("a link that recovers an account", () => {
  test("opens one session, by its token, and says how", async () => {
    const { email, id } = await newStaffAccount();
    const { data } = await testBackend.serviceRole.auth.admin.generateLink({
      type: "recovery",
      email: email.toUpperCase(),
    });
    const { properties, user } = data;
    const token = properties?.hashed_token ?? "";
    expect(user).toMatchObject({ id, email, identities: [{ user_id: id }], recovery_sent_at: expect.any(String) });
    expect(properties).toEqual({
      action_link: expect.stringContaining(`/auth/v1/verify?token=${token}&type=recovery&redirect_to=http`),
      email_otp: expect.stringMatching(/^\d{10}$/),
      hashed_token: expect.stringMatching(/^[0-9a-f]{56,64}$/),
      verification_type: "recovery",
      redirect_to: expect.stringMatching(/^http/),
    });

    const opened = await redeemToken(token);
    expect(opened.error).toBeNull();
    expect(opened.data.user?.id).toBe(id);
    const claims = await testBackend.anonymous().auth.getClaims(opened.data.session?.access_token);
    expect(claims.data?.claims).toMatchObject({ sub: id, aal: "aal1", amr: [{ method: "otp" }] });
    expect(getErrorStatus(await redeemToken(token))).toEqual([403, "otp_expired"]);
    const about = { actor_id: id, actor_name: "Ann", actor_username: email, actor_via_sso: false };
    expect((await listAuthLogEntries(id)).slice(1)).toEqual([
      { ...about, action: "user_recovery_requested", log_type: "user" },
      expect.objectContaining({ action: "login", actor_id: id }),
    ]);
  });

  test("leads to a page of the site alone", async () => {
    const { email } = await newStaffAccount();
    const redirectOf = async (redirectTo?: string) => {
      const link = await testBackend.serviceRole.auth.admin.generateLink({
        type: "recovery",
        email,
        options: { redirectTo },
      });
      return link.data.properties?.redirect_to ?? "";
    };
    const site = await redirectOf();
    const page = new URL("/password?a=b", site).href;
    expect(await redirectOf(page)).toBe(page);
    expect(await redirectOf("https://thief.example/")).toBe(site);
    expect(await redirectOf("javascript:alert(1)")).toBe(site);
  });

  test("ends the links before it", async () => {
    const { email } = await newStaffAccount();
    const [first, second] = [await createRecoveryToken(email), await createRecoveryToken(email)];
    expect(getErrorStatus(await redeemToken(first))).toEqual([403, "otp_expired"]);
    expect((await redeemToken(second)).error).toBeNull();
  });

  test("opens nothing after a day, nor as another kind of link, nor when it is guessed", async () => {
    const { email, id } = await newStaffAccount();
    const token = await createRecoveryToken(email);
    expect(getErrorStatus(await redeemToken(token, "signup"))).toEqual([403, "otp_expired"]);
    for (const guess of [token.slice(1), token.toUpperCase(), "null", "%", "' or true --"]) {
      expect(getErrorStatus(await redeemToken(guess)), guess).toEqual([403, "otp_expired"]);
    }
    expect(getErrorStatus(await redeemToken(""))).toEqual([400, "validation_failed"]);
    await testBackend.backend.db.query(
      "update auth.users set recovery_sent_at = now() - interval '25 hours' where id = $1",
      [id],
    );
    expect(getErrorStatus(await redeemToken(token))).toEqual([403, "otp_expired"]);
  });

  test("does not stand in for the code of a second factor", async () => {
    const { email } = await newStaffAccount();
    const { supabase } = await newSession(email);
    const enrolled = await supabase.auth.mfa.enroll({ factorType: "totp", friendlyName: "Phone" });
    if (enrolled.error) throw enrolled.error;
    const app = new Authenticator(enrolled.data.totp.secret);
    const factorId = enrolled.data.id;
    const given = await supabase.auth.mfa.challengeAndVerify({ factorId, code: await app.freshCode() });
    expect(given.error).toBeNull();

    const thief = testBackend.anonymous();
    const opened = await thief.auth.verifyOtp({ type: "recovery", token_hash: await createRecoveryToken(email) });
    expect(opened.error).toBeNull();
    const change = await thief.auth.updateUser({ password: otherPassword });
    expect(getErrorStatus(change)).toEqual([401, "insufficient_aal"]);
    expect((await newSession(email)).session).not.toBeNull();
  });

  test("is made only for an address that has an account, and of this kind", async () => {
    const { email } = await newStaffAccount();
    const linkFor = (type: string, address: string) =>
      testBackend.serviceRole.auth.admin.generateLink({ type: type as "recovery", email: address });
    expect(getErrorStatus(await linkFor("recovery", newEmailAddress()))).toEqual([404, "user_not_found"]);
    expect(getErrorStatus(await linkFor("recovery", "nobody"))).toEqual([400, "validation_failed"]);
    expect(getErrorStatus(await linkFor("recovery", ""))).toEqual([400, "validation_failed"]);
    expect(getErrorStatus(await linkFor("another", email))).toEqual([400, "validation_failed"]);
  });

  test("is made by nobody else, for themselves neither", async () => {
    const { email } = await newStaffAccount();
    const { supabase } = await newSession(email);
    for (const stranger of [testBackend.anonymous(), supabase]) {
      const link = await stranger.auth.admin.generateLink({ type: "recovery", email });
      expect([401, 403]).toContain(link.error?.status);
      expect(link.data.properties).toBeNull();
    }
  });
});

describe("a banned account", () => {
  test("cannot sign in, whatever password is given, and can again when the ban is over", async () => {
    const { email, id } = await newStaffAccount();
    const signIn = (given: string) => testBackend.anonymous().auth.signInWithPassword({ email, password: given });
    await banAccount(id);
    for (const given of [password, otherPassword])
      expect(getErrorStatus(await signIn(given))).toEqual([400, "user_banned"]);
    await banAccount(id, "now() - interval '1 second'");
    expect(getErrorStatus(await signIn(otherPassword))).toEqual([400, "invalid_credentials"]);
    expect((await signIn(password)).error).toBeNull();
  });

  test("cannot renew a session, whose renewal works again after the ban", async () => {
    const { email, id } = await newStaffAccount();
    const { session } = await newSession(email);
    const renew = () => testBackend.anonymous().auth.refreshSession(session);
    await banAccount(id);
    expect(getErrorStatus(await renew())).toEqual([400, "user_banned"]);
    await banAccount(id, "null");
    expect((await renew()).error).toBeNull();
  });

  const acts: [string, (supabase: AppSupabaseClient) => Promise<{ error: AuthError | null }>][] = [
    ["see itself", (supabase) => supabase.auth.getUser()],
    ["change its name", (supabase) => supabase.auth.updateUser({ data: { full_name: "Somebody" } })],
    [
      "change its password",
      (supabase) => supabase.auth.updateUser({ password: otherPassword, current_password: password }),
    ],
    ["enrol a second factor", (supabase) => supabase.auth.mfa.enroll({ factorType: "totp", friendlyName: "Phone" })],
    ["remove a second factor", (supabase) => supabase.auth.mfa.unenroll({ factorId: randomUUID() })],
  ];
  test.each(acts)("cannot %s with the token of a session that goes on", async (_what, act) => {
    const { email, id } = await newStaffAccount();
    const { supabase } = await newSession(email);
    await banAccount(id);
    expect(getErrorStatus(await act(supabase))).toEqual([403, "user_banned"]);
    await banAccount(id, "null");
    expect((await supabase.auth.getUser()).data.user?.user_metadata.full_name).toBe("Ann");
    expect((await newSession(email)).session).not.toBeNull();
  });

  test("cannot use a link, which is not spent by that", async () => {
    const { email, id } = await newStaffAccount();
    const { data } = await testBackend.serviceRole.auth.admin.generateLink({ type: "recovery", email });
    const token = data.properties?.email_otp ?? "";
    const hash = data.properties?.hashed_token ?? "";
    await banAccount(id);
    expect(getErrorStatus(await redeemToken(hash))).toEqual([403, "user_banned"]);
    for (const code of [token, "0000000000"]) {
      const opened = await testBackend.anonymous().auth.verifyOtp({ type: "recovery", email, token: code });
      expect(getErrorStatus(opened)).toEqual([403, "user_banned"]);
    }
    await banAccount(id, "null");
    expect((await redeemToken(hash)).error).toBeNull();
  });
});

describe("a login", () => {
  const { publishableKey, secretKey } = backendKeys;
  const send = (method: string, path: string, key: string, token: string, body?: object) =>
    testBackend.backend.fetch(
      new Request(`http://backend.example/auth/v1/${path}`, {
        method,
        headers: { apikey: key, authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: body && JSON.stringify(body),
      }),
    );

  test.each<[string, (id: string, token: string) => Promise<Response>]>([
    [
      "another address",
      (id) => send("PUT", `admin/users/${id}`, secretKey, secretKey, { email: `moved-${id}@client.example` }),
    ],
    ["the account removed", (id) => send("DELETE", `admin/users/${id}`, secretKey, secretKey)],
    [
      "another password",
      (_id, token) =>
        send("PUT", "user", publishableKey, token, { password: otherPassword, current_password: password }),
    ],
  ])("that finds %s when its password has been judged is refused", async (_what, change) => {
    const { email, id } = await newStaffAccount();
    const { session } = await newSession(email);
    // The password is judged while others have their turns at the database: the change is the next of them.
    const login = send("POST", "token?grant_type=password", publishableKey, publishableKey, { email, password });
    expect((await change(id, session?.access_token ?? "")).status).toBe(200);
    const result = await login;
    expect([result.status, (await result.json()).error_code]).toEqual([400, "invalid_credentials"]);
  });
});

describe("a new password", () => {
  test("ends every other session of the account, and nobody else's", async () => {
    const [mine, theirs] = [await newStaffAccount(), await newStaffAccount()];
    const here = await newSession(mine.email);
    const others = [await newSession(mine.email), await newSession(mine.email)];
    const bystander = await newSession(theirs.email);
    expect(
      (await here.supabase.auth.updateUser({ password: otherPassword, current_password: password })).error,
    ).toBeNull();

    for (const { supabase, session } of others) {
      expect((await supabase.auth.getUser(session.access_token)).error).not.toBeNull();
      expect(getErrorStatus(await testBackend.anonymous().auth.refreshSession(session))).toEqual([
        400,
        "refresh_token_not_found",
      ]);
    }
    for (const { supabase } of [here, bystander]) {
      expect((await supabase.auth.getUser()).error).toBeNull();
      expect((await supabase.auth.refreshSession()).error).toBeNull();
    }
    const old = await testBackend.anonymous().auth.signInWithPassword({ email: mine.email, password });
    expect(getErrorStatus(old)).toEqual([400, "invalid_credentials"]);
    expect((await newSession(mine.email, otherPassword)).session.user.id).toBe(mine.id);
  });

  test.each([
    ["without the password of now", undefined, "current_password_required"],
    ["with another one", "not the one of now", "current_password_invalid"],
  ])("is refused %s to who has no more than a session", async (_how, current_password, code) => {
    const { email } = await newStaffAccount();
    const { supabase } = await newSession(email);
    const change = await supabase.auth.updateUser({ password: otherPassword, current_password });
    expect(getErrorStatus(change)).toEqual([400, code]);
    expect((await newSession(email)).session).not.toBeNull();
  });

  test("ends the links that were made before", async () => {
    const { email } = await newStaffAccount();
    const { supabase } = await newSession(email);
    const token = await createRecoveryToken(email);
    const changed = await supabase.auth.updateUser({ password: otherPassword, current_password: password });
    expect(changed.data.user).not.toHaveProperty("recovery_sent_at");
    expect(getErrorStatus(await redeemToken(token))).toEqual([403, "otp_expired"]);
  });

  test.each([
    ["is the old one", password, 422, "same_password"],
    ["is too short", "x", 422, "weak_password"],
    ["is longer than its hash reads", "x".repeat(73), 400, "validation_failed"],
  ])("that %s changes nothing and ends nothing", async (_how, given, status, code) => {
    const { email } = await newStaffAccount();
    const [here, there] = [await newSession(email), await newSession(email)];
    const token = await createRecoveryToken(email);
    expect(
      getErrorStatus(await here.supabase.auth.updateUser({ password: given, current_password: password })),
    ).toEqual([status, code]);
    expect((await there.supabase.auth.getUser()).error).toBeNull();
    expect((await redeemToken(token)).error).toBeNull();
    expect((await newSession(email)).session).not.toBeNull();
  });

  test("is not needed to change a name, which ends no session", async () => {
    const { email } = await newStaffAccount();
    const [here, there] = [await newSession(email), await newSession(email)];
    expect((await here.supabase.auth.updateUser({ data: { full_name: "Ann B." } })).error).toBeNull();
    expect((await there.supabase.auth.getUser()).data.user?.user_metadata.full_name).toBe("Ann B.");
  });
});

test("the company's key shows an account and gives it another address; its identity goes with it, its sessions stay", async () => {
  const { id } = await newStaffAccount();
  const { admin } = testBackend.serviceRole.auth;
  const email = newEmailAddress();
  const changed = await admin.updateUserById(id, { email: email.toUpperCase(), email_confirm: true });
  expect([changed.error, changed.data.user?.email]).toEqual([null, email]);
  const { data } = await admin.getUserById(id);
  expect([data.user?.email, data.user?.identities?.[0]?.identity_data?.email]).toEqual([email, email]);
  const other = await newStaffAccount();
  expect((await admin.updateUserById(other.id, { email })).error?.code).toBe("email_exists");
  expect((await admin.updateUserById(other.id, { email: "no address" })).error?.code).toBe("validation_failed");
  const nobody = "00000000-0000-4000-8000-00000000dead";
  expect((await admin.getUserById(nobody)).error?.code).toBe("user_not_found");
  expect((await admin.updateUserById(nobody, { email: newEmailAddress() })).error?.code).toBe("user_not_found");
});

test("accounts are not listed by the company's key, nor changed but for their address", async () => {
  const { id } = await newStaffAccount();
  const { admin } = testBackend.serviceRole.auth;
  expect((await admin.listUsers()).error).not.toBeNull();
  expect((await admin.updateUserById(id, { password: otherPassword })).error).not.toBeNull();
  expect((await admin.inviteUserByEmail(newEmailAddress())).error).not.toBeNull();
});
