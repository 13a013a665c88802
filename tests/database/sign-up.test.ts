import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import bcrypt from "bcryptjs";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { clientIdInvalid } from "../../app/models/client-id.ts";
import { createBackend } from "../../supabase/local/backend.ts";
import { backendKeys } from "../support/backend-keys.ts";
import { createMigratedDatabase } from "../support/database.ts";
import { startTestBackend } from "../support/test-backend.ts";

const password = "a good password";
/** As supabase/config.toml and the mail itself say, in seconds. */
const hourSeconds = 60 * 60;
const linkLifetimeSeconds = 24 * hourSeconds;

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let addressCount = 0;
beforeAll(async () => {
  testBackend = await startTestBackend();
});
afterAll(() => testBackend.close());

test("a new client ID opens an account, is claimed by it, and its owner gets one mail", async () => {
  const clientId = await newClientId();
  const email = newEmailAddress();
  const { data, error } = await signUp(email, clientId);
  expect(error).toBeNull();
  expect(data.session).toBeNull();
  const user = await findUser(email);
  expect(user).toMatchObject({ id: data.user?.id, confirmed: false });
  expect(await getClaimAccountId(clientId)).toBe(user?.id);
  expect(listEmailsTo(email)).toHaveLength(1);
});

test("a missing, an unknown and a used client ID are refused alike, without an account or a mail", async () => {
  const used = await newClientId();
  await signUp(newEmailAddress(), used);
  const before = { users: await listUsers(), emails: testBackend.emails.length };
  const results = await Promise.all(
    [{}, { client_id: "" }, { client_id: "N0TH-1NG0-0F1T-HERE" }, { client_id: used }, { client_id: null }].map(
      (data) => postJson("/auth/v1/signup", { email: newEmailAddress(), password, data }),
    ),
  );
  results.push(await postJson("/auth/v1/signup", { email: newEmailAddress(), password }));
  for (const result of results) {
    expect(result.status).toBe(400);
    expect(await result.json()).toEqual({ code: 400, error_code: "unknown", msg: clientIdInvalid });
  }
  expect({ users: await listUsers(), emails: testBackend.emails.length }).toEqual(before);
});

test.each([
  ["a list that holds it", (id: string) => [id]],
  ["a pattern", () => "%"],
  ["in small letters", (id: string) => id.toLowerCase()],
  ["with a blank behind it", (id: string) => `${id} `],
  ["with more SQL behind it", (id: string) => `${id}' or '1'='1`],
  ["an object", (id: string) => ({ client_id: id })],
  ["true", () => true],
])("a client ID sent as %s opens nothing", async (_how, send) => {
  const before = await listUsers();
  const result = await postJson("/auth/v1/signup", {
    email: newEmailAddress(),
    password,
    data: { client_id: send(await newClientId()) },
  });
  expect(result.status).toBe(400);
  expect(await listUsers()).toEqual(before);
});

test("fifty sign-ups at once with one client ID and fifty addresses make exactly one account", async () => {
  const clientId = await newClientId();
  const before = await listUsers();
  const results = await Promise.all(Array.from({ length: 50 }, () => signUp(newEmailAddress(), clientId)));
  expect(results.filter(({ error }) => error === null)).toHaveLength(1);
  const rejections = results.flatMap(({ error }) => (error ? [error.message] : []));
  expect(new Set(rejections)).toEqual(new Set([clientIdInvalid]));
  const made = (await listUsers()).filter(({ id }) => !before.some((old) => old.id === id));
  expect(made).toHaveLength(1);
  expect(await getClaimAccountId(clientId)).toBe(made[0]?.id);
});

test("two client IDs do not open two accounts for one address", async () => {
  const email = newEmailAddress();
  const [first, second] = [await newClientId(), await newClientId()];
  await Promise.all([signUp(email, first), signUp(email, second)]);
  expect((await listUsers()).filter((user) => user.email === email)).toHaveLength(1);
  expect(
    [await getClaimAccountId(first), await getClaimAccountId(second)].filter((claim) => claim !== null),
  ).toHaveLength(1);
});

test("the database refuses a user without an unclaimed client ID, whoever inserts it", async () => {
  const used = await newClientId();
  await signUp(newEmailAddress(), used);
  const before = await listUsers();
  for (const data of [null, {}, { client_id: null }, { client_id: "" }, { client_id: "N0TH" }, { client_id: used }]) {
    await expect(
      testBackend.backend.db.query(
        "insert into auth.users (id, email, raw_user_meta_data) values (gen_random_uuid(), $1, $2::jsonb)",
        [newEmailAddress(), data && JSON.stringify(data)],
      ),
    ).rejects.toThrow(/client ID/);
  }
  expect(await listUsers()).toEqual(before);
});

test("no other door of auth opens an account", async () => {
  const before = await listUsers();
  const email = newEmailAddress();
  const doors: [string, object][] = [
    ["/auth/v1/otp", { email, create_user: true, data: { client_id: await newClientId() } }],
    ["/auth/v1/magiclink", { email, data: { client_id: await newClientId() } }],
    ["/auth/v1/recover", { email }],
    ["/auth/v1/resend", { type: "signup", email }],
    ["/auth/v1/signup", { data: { client_id: await newClientId() } }],
    ["/auth/v1/invite", { email }],
    ["/auth/v1/admin/users", { email, password, email_confirm: true }],
  ];
  for (const [door, body] of doors) await postJson(door, body);
  expect(await listUsers()).toEqual(before);
  expect(listEmailsTo(email)).toEqual([]);
});

test("no mail but the confirmation can be asked for, and nobody learns who has an account by asking", async () => {
  const known = await newConfirmedEmail();
  const sent = listEmailsTo(known).length;
  const doors: [string, object][] = [
    ["/auth/v1/otp", {}],
    ["/auth/v1/magiclink", {}],
    ["/auth/v1/recover", {}],
    ["/auth/v1/invite", {}],
    ["/auth/v1/resend", { type: "email_change" }],
  ];
  for (const [door, body] of doors) {
    const results = await Promise.all([known, newEmailAddress()].map((email) => postJson(door, { ...body, email })));
    expect(results.map(({ ok }) => ok)).toEqual([false, false]);
    const [first, second] = await Promise.all(results.map((result) => result.text()));
    expect([results[0]?.status, first]).toEqual([results[1]?.status, second]);
  }
  expect(listEmailsTo(known)).toHaveLength(sent);
});

test("the gate holds however the address of sign-up is written", async () => {
  const before = await listUsers();
  for (const door of [
    "/auth/v1/%73ignup",
    "/auth/v1/signup/",
    "/auth/v1/./signup",
    "/auth/v1/SIGNUP",
    "/auth/v1/signup?x=1",
    "/auth/v1//signup",
    "/auth//v1/signup",
    "/auth/v1/signup;x",
    "/auth/v1/x/%2e%2e/signup",
    "/auth/v1/%2573ignup",
  ]) {
    const result = await postJson(door, {
      email: newEmailAddress(),
      password,
      data: { client_id: "N0TH-1NG0-0F1T-HERE" },
    });
    expect([400, 404], door).toContain(result.status);
  }
  expect(await listUsers()).toEqual(before);
});

test("a mail that cannot be delivered leaves no user and the client ID unclaimed, and the same form works later", async () => {
  const objectsDir = mkdtempSync(path.join(tmpdir(), "objects-"));
  const database = await createMigratedDatabase();
  let delivers = false;
  const backend = await createBackend({
    dataDir: null,
    databaseUrl: database?.url ?? null,
    objectsDir,
    siteUrl: "http://127.0.0.1:3000",
    ...backendKeys,
    deliver: async () => {
      if (!delivers) throw new Error("the mail server is away");
    },
    seed: false,
  });
  try {
    await backend.db.query("insert into public.client_ids (client_id) values ('0000-0000-0000-0001')");
    const form = { email: newEmailAddress(), password, data: { client_id: "0000-0000-0000-0001" } };
    const send = () =>
      backend.fetch(
        new Request("http://backend.local/auth/v1/signup", {
          method: "POST",
          headers: { apikey: testBackend.publishableKey, "content-type": "application/json" },
          body: JSON.stringify(form),
        }),
      );
    const state = async () =>
      (
        await backend.db.query<{ users: number; identities: number; claimed: number }>(
          `select (select count(*) from auth.users)::int as users, (select count(*) from auth.identities)::int as identities,
             (select count(account_id) from public.client_ids)::int as claimed`,
        )
      ).rows[0];

    const failed = await send();
    expect(failed.status).toBeGreaterThanOrEqual(500);
    expect(await failed.text()).not.toContain("mail server");
    expect(await state()).toEqual({ users: 0, identities: 0, claimed: 0 });

    delivers = true;
    expect((await send()).status).toBe(200);
    expect(await state()).toEqual({ users: 1, identities: 1, claimed: 1 });
  } finally {
    await backend.close();
    await database?.drop();
    rmSync(objectsDir, { recursive: true, force: true });
  }
});

test.each([
  ["no address", { email: undefined }],
  ["something that is no address", { email: "not an address" }],
  ["a password of five characters", { password: "short" }],
  ["no password", { password: undefined }],
  ["a password of 73 characters", { password: "x".repeat(73) }],
])("a sign-up with %s is refused and leaves the client ID unclaimed", async (_what, change) => {
  const clientId = await newClientId();
  const before = await listUsers();
  const form = { email: newEmailAddress(), password, data: { client_id: clientId }, ...change };
  const result = await postJson("/auth/v1/signup", form);
  expect(result.status).toBeGreaterThanOrEqual(400);
  expect(result.status).toBeLessThan(500);
  expect(await listUsers()).toEqual(before);
  expect(await getClaimAccountId(clientId)).toBeNull();
});

test.each([
  ["lines", "Amina\r\n5a000000  Gold"],
  ["an escape", "Amina\u001b[2K"],
  ["a C1 escape", "Amina\u009b2K"],
  ["a direction override", "Amina\u202eanimA"],
  ["101 characters", "x".repeat(101)],
])("a full name with %s opens no account past the form, and an account does not take it later", async (_what, name) => {
  const clientId = await newClientId();
  const before = await listUsers();
  const result = await postJson("/auth/v1/signup", {
    email: newEmailAddress(),
    password,
    data: { client_id: clientId, full_name: name },
  });
  expect(result.ok).toBe(false);
  expect(await listUsers()).toEqual(before);
  expect(await getClaimAccountId(clientId)).toBeNull();

  const client = await testBackend.newClient(newEmailAddress());
  const nameNow = async () => (await client.supabase.auth.getUser()).data.user?.user_metadata.full_name;
  const had = await nameNow();
  expect((await client.supabase.auth.updateUser({ data: { full_name: name } })).error).not.toBeNull();
  expect(await nameNow()).toBe(had);
  expect((await client.supabase.auth.updateUser({ data: { full_name: "أمينة Wanjirũ" } })).error).toBeNull();
  expect(await nameNow()).toBe("أمينة Wanjirũ");
});

test("more than 4000 bytes beside the name open no account, and an account does not take them later", async () => {
  const much = "x".repeat(4000);
  const clientId = await newClientId();
  const before = await listUsers();
  const result = await postJson("/auth/v1/signup", {
    email: newEmailAddress(),
    password,
    data: { client_id: clientId, full_name: "Amina", much },
  });
  expect(result.ok).toBe(false);
  expect(await listUsers()).toEqual(before);
  expect(await getClaimAccountId(clientId)).toBeNull();

  const client = await testBackend.newClient(newEmailAddress());
  const kept = async () => (await client.supabase.auth.getUser()).data.user?.user_metadata ?? {};
  const had = await kept();
  // Bytes, not characters; and all of it together, not each by itself.
  for (const data of [{ much }, { much: "é".repeat(2000) }, { one: "x".repeat(2500), two: "x".repeat(2500) }]) {
    expect((await client.supabase.auth.updateUser({ data })).error).not.toBeNull();
    expect(await kept()).toEqual(had);
  }
  expect((await client.supabase.auth.updateUser({ data: { one: "x".repeat(2500) } })).error).toBeNull();
  expect((await client.supabase.auth.updateUser({ data: { two: "x".repeat(2500) } })).error).not.toBeNull();
  expect(await kept()).toEqual({ ...had, one: "x".repeat(2500) });
  expect((await client.supabase.auth.updateUser({ data: { one: null, two: "x".repeat(2500) } })).error).toBeNull();
});

test("a known, confirmed address gets an answer shaped like a new one, and neither mail nor claim", async () => {
  const known = await newConfirmedEmail();
  const fresh = await (await postJson("/auth/v1/signup", await createSignUpForm(newEmailAddress()))).json();
  const sent = listEmailsTo(known).length;
  const before = await listUsers();
  const again = await createSignUpForm(known);
  const result = await postJson("/auth/v1/signup", again);

  expect(result.status).toBe(200);
  const body = await result.json();
  expect(Object.keys(body).sort()).toEqual(Object.keys(fresh).sort());
  expect(body).toMatchObject({ email: known, aud: "authenticated", app_metadata: fresh.app_metadata });
  expect(body.id).not.toBe((await findUser(known))?.id);
  expect(Date.parse(body.created_at)).toBeGreaterThan(Date.parse("2020-01-01"));
  expect(JSON.stringify(body)).not.toContain("confirmed_at");
  expect(listEmailsTo(known)).toHaveLength(sent);
  expect(await listUsers()).toEqual(before);
  expect(await getClaimAccountId(again.data.client_id)).toBeNull();
});

test("signing up again for a known address does not change its password", async () => {
  const known = await newConfirmedEmail();
  await postJson("/auth/v1/signup", { ...(await createSignUpForm(known)), password: "another password" });
  expect((await logInAs(known, "another password")).error?.code).toBe("invalid_credentials");
  expect((await logInAs(known, password)).error).toBeNull();
});

test("a known, unconfirmed address gets the mail again, but not within a minute of the last", async () => {
  const email = newEmailAddress();
  const clientId = await newClientId();
  await signUp(email, clientId);
  const [first] = listEmailsTo(email);

  const soon = await postJson("/auth/v1/signup", { email, password, data: { client_id: clientId } });
  expect(soon.status).toBe(429);
  expect((await soon.json()).error_code).toBe("over_email_send_rate_limit");
  expect(listEmailsTo(email)).toEqual([first]);

  await backdateConfirmation(email, 61);
  const later = await postJson("/auth/v1/signup", { email, password, data: { client_id: clientId } });
  expect(later.status).toBe(200);
  expect(listEmailsTo(email)).toHaveLength(2);
  expect((await listUsers()).filter((user) => user.email === email)).toHaveLength(1);

  const once = await postJson("/auth/v1/signup", { email, password, data: { client_id: clientId } });
  expect(once.status).toBe(429);
  expect(listEmailsTo(email)).toHaveLength(2);
});

test("asking for the mail again sends it to unconfirmed addresses only, once a minute", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  const resend = (to: string) => postJson("/auth/v1/resend", { type: "signup", email: to });

  expect((await resend(email)).status).toBe(429);
  expect(listEmailsTo(email)).toHaveLength(1);
  await backdateConfirmation(email, 61);
  const again = await resend(email.toUpperCase());
  expect(again.status).toBe(200);
  expect(listEmailsTo(email)).toHaveLength(2);

  const confirmed = await newConfirmedEmail();
  const sent = listEmailsTo(confirmed).length;
  const unknown = newEmailAddress();
  const [toConfirmed, toUnknown] = [await resend(confirmed), await resend(unknown)];
  expect([toConfirmed.status, toUnknown.status]).toEqual([again.status, again.status]);
  const said = await again.text();
  expect([await toConfirmed.text(), await toUnknown.text()]).toEqual([said, said]);
  expect(listEmailsTo(confirmed)).toHaveLength(sent);
  expect(listEmailsTo(unknown)).toEqual([]);
});

test("a link in a newer mail works and the one in the older does not any more", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  await backdateConfirmation(email, 61);
  await postJson("/auth/v1/resend", { type: "signup", email });
  const [older, newer] = listEmailsTo(email).map(extractToken);
  expect(newer).not.toBe(older);
  expect((await confirmEmail(email, older)).error?.code).toBe("otp_expired");
  expect(await findUser(email)).toMatchObject({ confirmed: false });
  expect((await confirmEmail(email, newer)).error).toBeNull();
  expect(await findUser(email)).toMatchObject({ confirmed: true });
});

// Each as GoTrue 2.196.0 answers it.
test.each([
  ["/auth/v1/token?grant_type=password", '{"email":5,"password":"x"}', "bad_json"],
  ["/auth/v1/token?grant_type=password", '{"email":"a@client.example","password":["x"]}', "bad_json"],
  ["/auth/v1/token?grant_type=password", "[]", "bad_json"],
  ["/auth/v1/token?grant_type=password", "", "bad_json"],
  ["/auth/v1/token?grant_type=password", "null", "validation_failed"],
  ["/auth/v1/token?grant_type=password", '{"email":null,"password":"x"}', "validation_failed"],
  ["/auth/v1/token?grant_type=refresh_token", '{"refresh_token":{}}', "bad_json"],
  ["/auth/v1/token?grant_type=refresh_token", "null", "validation_failed"],
  ["/auth/v1/signup", '{"email":"a@client.example","password":"long enough","data":[1]}', "bad_json"],
  ["/auth/v1/signup", "{", "bad_json"],
  ["/auth/v1/token?grant_type=refresh_token", '{"refresh_token":"\\u0000"}', "bad_json"],
  [
    "/auth/v1/signup",
    '{"email":"a@client.example","password":"long enough","data":{"client_id":"\\ud800"}}',
    "bad_json",
  ],
  ["/auth/v1/resend", '{"type":"signup","email":5}', "bad_json"],
  ["/auth/v1/resend", "null", "validation_failed"],
  ["/auth/v1/verify", '{"type":"signup","token_hash":5}', "bad_json"],
  ["/auth/v1/verify", "null", "validation_failed"],
])("%s says of the body %s that it is %s, with 400", async (at, body, code) => {
  const result = await postText(at, body);
  expect({ status: result.status, code: (await result.json()).error_code }).toEqual({ status: 400, code });
});

test("before the confirmation only the right password says what is missing, a wrong one says what it says to anybody", async () => {
  const unconfirmed = newEmailAddress();
  await signUp(unconfirmed, await newClientId());
  const confirmed = await newConfirmedEmail();

  const right = await logInAs(unconfirmed, password);
  expect(right.error?.code).toBe("email_not_confirmed");
  expect(right.data.session).toBeNull();

  const wrong = await Promise.all(
    [unconfirmed, confirmed, newEmailAddress()].map(async (email) => {
      const result = await postJson("/auth/v1/token?grant_type=password", { email, password: "a wrong password" });
      return { status: result.status, body: await result.json() };
    }),
  );
  expect(wrong[0]).toMatchObject({ status: 400, body: { error_code: "invalid_credentials" } });
  expect(wrong[1]).toEqual(wrong[0]);
  expect(wrong[2]).toEqual(wrong[0]);
});

test("a login and a sign-up cost the backend one hash of a password, whether the address has an account or not", async () => {
  // As in the product, not as in the other tests.
  vi.stubEnv("LITE_AUTH_BCRYPT_COST", undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const known = await newConfirmedEmail();
  const waiting = newEmailAddress();
  await signUp(waiting, await newClientId());
  const logIn = (email: string) =>
    postJson("/auth/v1/token?grant_type=password", { email, password: "a wrong password" });
  const join = async (email: string) => postJson("/auth/v1/signup", await createSignUpForm(email));
  // The hash that nobody has is made once for each cost, in the product as the backend starts.
  await logIn(newEmailAddress());
  const acts = {
    "login, known": () => logIn(known),
    "login, not confirmed": () => logIn(waiting),
    "login, unknown": () => logIn(newEmailAddress()),
    "sign-up, known": () => join(known),
    "sign-up, not confirmed": () => join(waiting),
    "sign-up, unknown": () => join(newEmailAddress()),
  };
  for (const [what, act] of Object.entries(acts)) {
    expect(await collectHashRounds(act), what).toEqual([10]);
  }
});

test("a password that only begins like the right one does not open the account", async () => {
  const email = await newConfirmedEmail();
  for (const tried of [`${password}x`, password.slice(0, -1), password.toUpperCase(), ""]) {
    expect((await logInAs(email, tried)).data.session).toBeNull();
  }
});

test("a confirmation link works once", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  const token = extractToken(listEmailsTo(email)[0]);
  expect(token).not.toBe("");
  expect((await confirmEmail(email, token)).error).toBeNull();
  expect(await findUser(email)).toMatchObject({ confirmed: true });
  const second = await confirmEmail(email, token);
  expect(second.error?.code).toBe("otp_expired");
  expect(second.data.session).toBeNull();
});

test("ten confirmations with one link at once sign in at most one", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  const token = extractToken(listEmailsTo(email)[0]);
  const results = await Promise.all(Array.from({ length: 10 }, () => confirmEmail(email, token)));
  expect(results.filter(({ data }) => data.session !== null)).toHaveLength(1);
});

test("a link older than a day is refused and leaves the address unconfirmed", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  await backdateConfirmation(email, linkLifetimeSeconds + 60);
  const { data, error } = await confirmEmail(email, extractToken(listEmailsTo(email)[0]));
  expect(error?.code).toBe("otp_expired");
  expect(data.session).toBeNull();
  expect(await findUser(email)).toMatchObject({ confirmed: false });
  expect((await logInAs(email, password)).error?.code).toBe("email_not_confirmed");
});

test("a link is still good after 23 hours", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  await backdateConfirmation(email, linkLifetimeSeconds - 60 * 60);
  expect((await confirmEmail(email, extractToken(listEmailsTo(email)[0]))).error).toBeNull();
  expect(await findUser(email)).toMatchObject({ confirmed: true });
});

test.each(["", "0", "a".repeat(64), "null", "%", "' or true --"])(
  "no address is confirmed by the token %j",
  async (token) => {
    const waiting = newEmailAddress();
    await signUp(waiting, await newClientId());
    const { data, error } = await confirmEmail(waiting, token);
    expect(error).not.toBeNull();
    expect(data.session).toBeNull();
    expect(await findUser(waiting)).toMatchObject({ confirmed: false });
  },
);

describe("the mailbox alone confirms nothing", () => {
  test("at any address of auth, and the token still works with the password", async () => {
    const email = newEmailAddress();
    await signUp(email, await newClientId());
    const token = extractToken(listEmailsTo(email)[0]);
    for (const type of ["signup", "email", "magiclink", "recovery", "invite", "email_change"]) {
      await postJson("/auth/v1/verify", { type, token_hash: token });
      const headers = { apikey: testBackend.publishableKey };
      await testBackend.backend.fetch(
        new Request(`http://backend.local/auth/v1/verify?type=${type}&token=${token}`, { headers }),
      );
    }
    expect(await findUser(email)).toMatchObject({ confirmed: false });
    expect((await logInAs(email, password)).error?.code).toBe("email_not_confirmed");
    expect((await confirmEmail(email, token)).error).toBeNull();
    expect((await logInAs(email, password)).error).toBeNull();
  });

  test("nor with the password of another account, nor with a password given a minute ago", async () => {
    const [email, other] = [newEmailAddress(), newEmailAddress()];
    await signUp(email, await newClientId());
    await signUp(other, await newClientId());
    const [token, others] = [email, other].map((address) => extractToken(listEmailsTo(address)[0]));
    const prove = (address: string, token = "") =>
      testBackend.serviceRole.rpc("mark_password_proven", { email: address, token });
    expect((await prove(other, token)).data).toBe(false);
    expect((await prove(other, others)).data).toBe(true);
    await testBackend.anonymous().auth.verifyOtp({ token_hash: token ?? "", type: "signup" });
    expect(await findUser(email)).toMatchObject({ confirmed: false });

    expect((await prove(email, token)).data).toBe(true);
    await testBackend.backend.db.query(
      "update public.client_ids set password_proven_at = password_proven_at - interval '61 s'",
    );
    await testBackend.anonymous().auth.verifyOtp({ token_hash: token ?? "", type: "signup" });
    expect(await findUser(email)).toMatchObject({ confirmed: false });
    expect((await confirmEmail(email, token)).error).toBeNull();
  });

  test("but the company may make an account that is confirmed from the start", async () => {
    const email = newEmailAddress();
    await testBackend.backend.db.exec(`begin;
      insert into auth.users (id, email, raw_user_meta_data)
      values (gen_random_uuid(), '${email}', '{"client_id": "${await newClientId()}"}');
      update auth.users set email_confirmed_at = now() where email = '${email}';
      commit;`);
    expect(await findUser(email)).toMatchObject({ confirmed: true });
  });
});

describe("a sign-up that nobody confirmed", () => {
  test("makes way for another with its own client ID: that one's password counts, the first link is dead", async () => {
    const email = newEmailAddress();
    const [first, second] = [await newClientId(), await newClientId()];
    await testBackend
      .anonymous()
      .auth.signUp({ email, password: "a stranger's", options: { data: { client_id: first } } });
    const old = extractToken(listEmailsTo(email)[0]);
    await backdateClientId(email, hourSeconds + 1);
    expect(await isAdmitted(second, email)).toBe(true);
    expect((await signUp(email, second)).error).toBeNull();

    expect((await confirmEmail(email, old)).error?.code).toBe("otp_expired");
    expect((await logInAs(email, "a stranger's")).error?.code).toBe("invalid_credentials");
    expect((await confirmEmail(email, extractToken(listEmailsTo(email)[1]))).error).toBeNull();
    expect((await logInAs(email, password)).error).toBeNull();
    expect(await getClaimAccountId(first)).toBeNull();
    expect(await getClaimAccountId(second)).toBe((await findUser(email))?.id);
    // The first client ID stays spent, so that nobody learns what became of the first sign-up.
    expect(await isAdmitted(first, email)).toBe(true);
    expect(await isAdmitted(first, newEmailAddress())).toBe(false);
    expect((await signUp(newEmailAddress(), first)).error?.message).toBe(clientIdInvalid);
  });

  test("stays for a minute, so that nobody's mailbox is flooded", async () => {
    const email = newEmailAddress();
    const clientId = await newClientId();
    await signUp(email, clientId);
    const before = await findUser(email);
    expect(await isAdmitted(clientId, email)).toBe(true);
    expect(await findUser(email)).toEqual(before);
  });

  test("stays for an hour whoever else comes, so that who reads the mailbox can confirm it", async () => {
    const email = newEmailAddress();
    await signUp(email, await newClientId());
    await backdateClientId(email, hourSeconds - 10);
    const before = await findUser(email);
    expect(await isAdmitted(await newClientId(), email)).toBe(true);
    expect(await findUser(email)).toEqual(before);
    await backdateClientId(email, hourSeconds + 1);
    expect(await isAdmitted(await newClientId(), email)).toBe(true);
    expect(await findUser(email)).toBeUndefined();
  });

  test("makes way after its hour also for a client ID that was used while it lasted, and that one's hour begins", async () => {
    const email = newEmailAddress();
    const [theirs, own, late] = [await newClientId(), await newClientId(), await newClientId()];
    await testBackend
      .anonymous()
      .auth.signUp({ email, password: "a stranger's", options: { data: { client_id: theirs } } });
    for (let press = 0; press < 2; press += 1) {
      expect(await isAdmitted(own, email)).toBe(true);
      expect((await testBackend.serviceRole.rpc("redeem_client_id", { client_id: own, email })).data).toBe(true);
    }
    expect(await getClaimAccountId(theirs)).toBe((await findUser(email))?.id);
    await testBackend.backend.db.query("update public.client_ids set used_at = used_at - interval '61 minutes'");
    expect(await isAdmitted(own, email)).toBe(true);
    expect((await signUp(email, own)).error).toBeNull();
    const waiting = await findUser(email);
    expect(await getClaimAccountId(own)).toBe(waiting?.id);
    for (const other of [theirs, late]) expect(await isAdmitted(other, email)).toBe(true);
    expect(await findUser(email)).toEqual(waiting);
    expect((await confirmEmail(email, extractToken(listEmailsTo(email).at(-1)))).error).toBeNull();
    expect((await logInAs(email, password)).error).toBeNull();
  });

  test("is not brought back by the client ID that was moved away, however often it is sent", async () => {
    const email = newEmailAddress();
    const [theirs, own] = [await newClientId(), await newClientId()];
    await testBackend
      .anonymous()
      .auth.signUp({ email, password: "a stranger's", options: { data: { client_id: theirs } } });
    // The stranger repeats the sign-up as often as allowed.
    await backdateClientId(email, hourSeconds + 1);
    await isAdmitted(theirs, email);
    await testBackend
      .anonymous()
      .auth.signUp({ email, password: "a stranger's", options: { data: { client_id: theirs } } });
    await isAdmitted(own, email);
    await signUp(email, own);
    const waiting = await findUser(email);
    for (let turn = 0; turn < 3; turn += 1) {
      await backdateConfirmation(email, 61);
      expect(await isAdmitted(theirs, email)).toBe(true);
      await testBackend
        .anonymous()
        .auth.signUp({ email, password: "a stranger's", options: { data: { client_id: theirs } } });
    }
    expect(await findUser(email)).toEqual(waiting);
    expect((await confirmEmail(email, extractToken(listEmailsTo(email).at(-1)))).error).toBeNull();
    expect((await logInAs(email, password)).error).toBeNull();
    expect((await logInAs(email, "a stranger's")).error?.code).toBe("invalid_credentials");
  });

  test("makes way for its own client ID, for who mistyped the password", async () => {
    const email = newEmailAddress();
    const clientId = await newClientId();
    await testBackend
      .anonymous()
      .auth.signUp({ email, password: "mistyped", options: { data: { client_id: clientId } } });
    await backdateConfirmation(email, 61);
    expect(await isAdmitted(clientId, email)).toBe(true);
    expect((await signUp(email, clientId)).error).toBeNull();
    expect((await confirmEmail(email, extractToken(listEmailsTo(email).at(-1)))).error).toBeNull();
    expect((await logInAs(email, password)).error).toBeNull();
  });

  test("makes way also where another mail was asked for a moment ago", async () => {
    const email = newEmailAddress();
    const [theirs, own] = [await newClientId(), await newClientId()];
    await signUp(email, theirs);
    await backdateClientId(email, hourSeconds + 1);
    await testBackend.backend.db.query("update auth.users set confirmation_sent_at = now() where email = $1", [email]);
    const before = await findUser(email);
    expect(await isAdmitted(own, email)).toBe(true);
    await signUp(email, own);
    expect((await findUser(email))?.id).not.toBe(before?.id);
  });

  test("stays where the client ID is not good, and so does every account that was ever confirmed", async () => {
    const waiting = newEmailAddress();
    await signUp(waiting, await newClientId());
    await backdateClientId(waiting, hourSeconds + 1);
    const used = await newClientId();
    await signUp(newEmailAddress(), used);
    const confirmed = await newConfirmedEmail();
    await backdateClientId(confirmed, hourSeconds + 1);
    const revoked = await newConfirmedEmail();
    await testBackend.backend.db.query("update auth.users set email_confirmed_at = null where email = $1", [revoked]);
    await backdateClientId(revoked, hourSeconds + 1);
    const before = await listUsers();
    for (const bad of ["N0TH-1NG0-0F1T-HERE", "", used]) expect(await isAdmitted(bad, waiting)).toBe(false);
    for (const email of [confirmed, revoked]) expect(await isAdmitted(await newClientId(), email)).toBe(true);
    expect(await listUsers()).toEqual(before);
  });

  test("is moved by one client ID for one address, when fifty come at once", async () => {
    const { rows } = await testBackend.backend.db.query<{ email: string }>(
      `with issued as (
         insert into public.client_ids select private.generate_client_id() from generate_series(1, 50) returning client_id
       )
       insert into auth.users (id, email, raw_user_meta_data, created_at)
       select gen_random_uuid(), 'pending-' || lower(client_id) || '@client.example',
         jsonb_build_object('client_id', client_id), now() - interval '61 seconds'
       from issued
       returning email`,
    );
    const emails = rows.map(({ email }) => email);
    await testBackend.backend.db.query(
      `update public.client_ids set used_at = now() - interval '61 minutes'
       where account_id in (select id from auth.users where email like 'pending-%')`,
    );
    const clientId = await newClientId();
    const results = await Promise.all(emails.map((email) => isAdmitted(clientId, email)));
    expect(results.filter(Boolean)).toHaveLength(1);
    const left = (await listUsers()).filter(({ email }) => emails.includes(email));
    expect(left).toHaveLength(49);
  });
});

test("the mail's link leads to the site and holds nothing that signs in by itself", async () => {
  const email = newEmailAddress();
  await signUp(email, await newClientId());
  const message = listEmailsTo(email)[0];
  const link = new URL(/https?:\/\/[^\s"\]]+/.exec(message?.text ?? "")?.[0] ?? "");
  expect(link.origin + link.pathname).toBe("http://127.0.0.1:3000/auth/confirm");
  expect(link.searchParams.get("type")).toBe("signup");
  expect(link.searchParams.get("token_hash")).toBe(extractToken(message));
  expect(message?.text).not.toMatch(/access_token|refresh_token/);
});

test("addresses are one account whatever their capitals", async () => {
  const email = await newConfirmedEmail();
  expect((await logInAs(email.toUpperCase(), password)).error).toBeNull();
  const before = await listUsers();
  await postJson("/auth/v1/signup", await createSignUpForm(email.toUpperCase()));
  expect(await listUsers()).toEqual(before);
});

async function newClientId(): Promise<string> {
  const { data, error } = await testBackend.serviceRole.rpc("issue_client_ids", {});
  if (error) throw error;
  return data[0]?.client_id ?? "";
}

function newEmailAddress(): string {
  addressCount += 1;
  return `client-${addressCount}@client.example`;
}

async function createSignUpForm(email: string) {
  return { email, password, data: { full_name: "Achieng Otieno", client_id: await newClientId() } };
}

/** The bcrypt cost of each password hash made or compared during an act: hashing takes nearly all of its time. */
async function collectHashRounds(act: () => Promise<unknown>): Promise<number[]> {
  const compare = vi.spyOn(bcrypt, "compare");
  const hash = vi.spyOn(bcrypt, "hash");
  try {
    await act();
    return [
      ...compare.mock.calls.map(([_typed, stored]) => Number(String(stored).split("$")[2])),
      ...hash.mock.calls.map(([_typed, rounds]) => Number(rounds)),
    ];
  } finally {
    compare.mockRestore();
    hash.mockRestore();
  }
}

function signUp(email: string, clientId: string) {
  return testBackend.anonymous().auth.signUp({ email, password, options: { data: { client_id: clientId } } });
}

function logInAs(email: string, typed: string) {
  return testBackend.anonymous().auth.signInWithPassword({ email, password: typed });
}

/** Confirms an address with the token of a link, after the password was proven. */
async function confirmEmail(email: string, token = "") {
  await testBackend.serviceRole.rpc("mark_password_proven", { email, token });
  return testBackend.anonymous().auth.verifyOtp({ token_hash: token, type: "signup" });
}

async function isAdmitted(client_id: string, email: string) {
  const { data, error } = await testBackend.serviceRole.rpc("admit_sign_up", { client_id, email });
  if (error) throw error;
  return data;
}

async function newConfirmedEmail(): Promise<string> {
  const { email } = await testBackend.newClient(newEmailAddress(), password);
  return email;
}

function postJson(at: string, body: object): Promise<Response> {
  return postText(at, JSON.stringify(body));
}

function postText(at: string, body: string): Promise<Response> {
  return testBackend.backend.fetch(
    new Request(`http://backend.local${at}`, {
      method: "POST",
      headers: { apikey: testBackend.publishableKey, "content-type": "application/json" },
      body,
    }),
  );
}

function listEmailsTo(email: string) {
  return testBackend.emails.filter((message) => message.to === email);
}

function extractToken(email: { html: string } | undefined): string {
  return /token_hash=([0-9a-f]+)/.exec(email?.html ?? "")?.[1] ?? "";
}

async function listUsers() {
  const { rows } = await testBackend.backend.db.query<{ id: string; email: string; confirmed: boolean }>(
    "select id, email, confirmed_at is not null as confirmed from auth.users order by id",
  );
  return rows;
}

async function findUser(email: string) {
  return (await listUsers()).find((user) => user.email === email);
}

/** Who has claimed a client ID; null when nobody has. */
async function getClaimAccountId(clientId: string): Promise<string | null> {
  const { rows } = await testBackend.backend.db.query<{ account_id: string | null }>(
    "select account_id from public.client_ids where client_id = $1",
    [clientId],
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.account_id ?? null;
}

/** Moves the sending of the last mail to an address into the past. */
async function backdateConfirmation(email: string, seconds: number): Promise<void> {
  await testBackend.backend.db.query(
    `update auth.users
     set created_at = now() - make_interval(secs => $2), confirmation_sent_at = now() - make_interval(secs => $2)
     where email = $1`,
    [email, seconds],
  );
}

/** As if the client ID of an account that waits for its confirmation had been used so many seconds earlier. */
async function backdateClientId(email: string, seconds: number): Promise<void> {
  await backdateConfirmation(email, seconds);
  await testBackend.backend.db.query(
    `update public.client_ids set used_at = now() - make_interval(secs => $2)
     where account_id = (select id from auth.users where email = $1)`,
    [email, seconds],
  );
}
