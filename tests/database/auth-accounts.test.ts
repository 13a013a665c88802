import { randomUUID } from "node:crypto";
import type { AuthError } from "@supabase/supabase-js";
import { describe, expect, test } from "vitest";
import { getErrorStatus, otherPassword, password, setUpAuth } from "../support/auth-suite.ts";
import { backendKeys } from "../support/backend-keys.ts";
import { enrollFactor } from "../support/client-sessions.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const suite = setUpAuth();
const { testBackend, query, sendRequest, newEmailAddress, createInvitationMetadata, newStaffAccount } = suite;
const { newSession, createRecoveryToken, countAccountTraces, listAuthLogEntries, redeemToken, banAccount } = suite;

test("An account that the company creates is confirmed immediately, uses up its invitation, and can log in.", async () => {
  const email = newEmailAddress();
  const user_metadata = await createInvitationMetadata(email);
  const account = { email: email.toUpperCase(), password, email_confirm: true, user_metadata };
  const { data, error } = await testBackend.serviceRole.auth.admin.createUser(account);
  expect(error).toBeNull();
  const id = data.user?.id;
  expect(data.user).toMatchObject({
    ...{ email, role: "authenticated", email_confirmed_at: expect.any(String), is_anonymous: false },
    app_metadata: { provider: "email", providers: ["email"] },
    user_metadata: { ...user_metadata, email_verified: true },
    identities: [{ user_id: id, provider: "email", email, identity_data: { sub: id, email } }],
  });
  expect(await query("select from private.staff_invites where email = $1", [email])).toEqual([]);
  const actor = { actor_username: "service_role", log_type: "team" };
  expect(await listAuthLogEntries(id ?? "")).toMatchObject([{ action: "user_signedup", ...actor }]);
  expect((await newSession(email)).session.user.id).toBe(id);
});

test("An account without a password cannot log in until its owner sets a password with a link.", async () => {
  const email = newEmailAddress();
  const user_metadata = await createInvitationMetadata(email);
  const created = await testBackend.serviceRole.auth.admin.createUser({ email, email_confirm: true, user_metadata });
  expect(created.error).toBeNull();
  for (const guess of ["", "undefined", "null", password]) {
    const login = await testBackend.anonymous().auth.signInWithPassword({ email, password: guess });
    expect(getErrorStatus(login)).toEqual([400, "invalid_credentials"]);
  }
  const supabase = testBackend.anonymous();
  await supabase.auth.verifyOtp({ type: "recovery", token_hash: await createRecoveryToken(email) });
  expect((await supabase.auth.updateUser({ password })).error).toBeNull();
  expect((await newSession(email)).session.user.id).toBe(created.data.user?.id);
});

test("A second account cannot be created with the same email address in upper or lower case.", async () => {
  const { email } = await newStaffAccount();
  const before = await countAccountTraces(email);
  for (const spelling of [email, email.toUpperCase()]) {
    const duplicate = await testBackend.serviceRole.auth.admin.createUser({ email: spelling, email_confirm: true });
    expect(getErrorStatus(duplicate)).toEqual([422, "email_exists"]);
  }
  expect(await countAccountTraces(email)).toEqual(before);
});

test("Creating an account for an email address without an invitation fails and leaves no row in the database.", async () => {
  const email = newEmailAddress();
  const foreign = await createInvitationMetadata(newEmailAddress());
  for (const user_metadata of [undefined, {}, { staff_invite_id: randomUUID() }, foreign]) {
    const account = { email, email_confirm: true, user_metadata };
    const created = await testBackend.serviceRole.auth.admin.createUser(account);
    expect(created.error?.status).toBe(500);
    expect(await countAccountTraces(email)).toEqual([{ users: 0, identities: 0, log: 0 }]);
  }
});

test("An account cannot be created without a valid email address.", async () => {
  const long = `${"a".repeat(250)}@company.example`;
  for (const email of [undefined, "", "nobody", "a@b@company.example", "a b@company.example", long]) {
    const created = await testBackend.serviceRole.auth.admin.createUser({ email, email_confirm: true });
    expect(getErrorStatus(created), email).toEqual([400, "validation_failed"]);
  }
});

type AdminApi = AppSupabaseClient["auth"]["admin"];
test.each<[string, (admin: AdminApi, account: { email: string; id: string }) => Promise<{ error: AuthError | null }>]>([
  ["create an account", (admin) => admin.createUser({ email: newEmailAddress(), email_confirm: true })],
  ["delete an account", (admin, { id }) => admin.deleteUser(id)],
  ["create a recovery link", (admin, { email }) => admin.generateLink({ type: "recovery", email })],
  ["list the second factors of an account", (admin, { id }) => admin.mfa.listFactors({ userId: id })],
])("Visitors and signed-in users cannot %s.", async (_what, call) => {
  const account = await newStaffAccount();
  const { supabase } = await newSession(account.email);
  for (const caller of [testBackend.anonymous(), supabase]) {
    expect([401, 403]).toContain((await call(caller.auth.admin, account)).error?.status);
  }
  expect((await supabase.auth.getUser()).data.user?.id).toBe(account.id);
});

test("The service role reads an account and changes its address and identity.", async () => {
  const { id } = await newStaffAccount();
  const { admin } = testBackend.serviceRole.auth;
  const email = newEmailAddress();
  const changed = await admin.updateUserById(id, { email: email.toUpperCase(), email_confirm: true });
  expect([changed.error, changed.data.user?.email]).toEqual([null, email]);
  const { user } = (await admin.getUserById(id)).data;
  expect([user?.email, user?.identities?.[0]?.identity_data?.email]).toEqual([email, email]);
  const secondAccount = await newStaffAccount();
  expect((await admin.updateUserById(secondAccount.id, { email })).error?.code).toBe("email_exists");
  expect((await admin.updateUserById(secondAccount.id, { email: "no address" })).error?.code).toBe("validation_failed");
  const nobody = "00000000-0000-4000-8000-00000000dead";
  expect((await admin.getUserById(nobody)).error?.code).toBe("user_not_found");
  expect((await admin.updateUserById(nobody, { email: newEmailAddress() })).error?.code).toBe("user_not_found");
});

const { publishableKey, secretKey } = backendKeys;
const send = (method: string, path: string, key: string, token: string, body?: object) =>
  sendRequest(method, `/auth/v1/${path}`, { apikey: key, authorization: `Bearer ${token}` }, body);

const passwordChange = { password: otherPassword, current_password: password };
test.each<[string, (id: string, token: string) => Promise<Response>]>([
  [
    "the email address is changed",
    (id) => send("PUT", `admin/users/${id}`, secretKey, secretKey, { email: `x${id}@client.example` }),
  ],
  ["the account is deleted", (id) => send("DELETE", `admin/users/${id}`, secretKey, secretKey)],
  ["the password is changed", (_id, token) => send("PUT", "user", publishableKey, token, passwordChange)],
])("A login is rejected if %s during the password check.", async (_what, change) => {
  const { email, id } = await newStaffAccount();
  const { session } = await newSession(email);
  // The login compares the password outside the database, so `change` can run in the database before the login ends.
  const login = send("POST", "token?grant_type=password", publishableKey, publishableKey, { email, password });
  expect((await change(id, session?.access_token ?? "")).status).toBe(200);
  const result = await login;
  expect([result.status, (await result.json()).error_code]).toEqual([400, "invalid_credentials"]);
});

test("A new password ends all other sessions of the same account, but no session of other accounts.", async () => {
  const [account, otherAccount] = [await newStaffAccount(), await newStaffAccount()];
  const here = await newSession(account.email);
  const otherSessions = [await newSession(account.email), await newSession(account.email)];
  const bystander = await newSession(otherAccount.email);
  expect((await here.supabase.auth.updateUser(passwordChange)).error).toBeNull();
  for (const { supabase, session } of otherSessions) {
    expect((await supabase.auth.getUser(session.access_token)).error).not.toBeNull();
    const refresh = await testBackend.anonymous().auth.refreshSession(session);
    expect(getErrorStatus(refresh)).toEqual([400, "refresh_token_not_found"]);
  }
  for (const { supabase } of [here, bystander]) {
    expect((await supabase.auth.getUser()).error).toBeNull();
    expect((await supabase.auth.refreshSession()).error).toBeNull();
  }
  const previous = await testBackend.anonymous().auth.signInWithPassword({ email: account.email, password });
  expect(getErrorStatus(previous)).toEqual([400, "invalid_credentials"]);
  expect((await newSession(account.email, otherPassword)).session.user.id).toBe(account.id);
});

test.each([
  ["without the current password", undefined, "current_password_required"],
  ["with a wrong current password", "not the one of now", "current_password_invalid"],
])("A new password is rejected %s.", async (_how, current_password, code) => {
  const { email } = await newStaffAccount();
  const { supabase } = await newSession(email);
  const change = await supabase.auth.updateUser({ password: otherPassword, current_password });
  expect(getErrorStatus(change)).toEqual([400, code]);
  expect((await newSession(email)).session).not.toBeNull();
});

test.each([
  ["is the old one", password, 422, "same_password"],
  ["is too short", "x", 422, "weak_password"],
  ["is longer than its hash reads", "x".repeat(73), 400, "validation_failed"],
])("A new password that %s changes nothing and ends no session.", async (_how, newPassword, status, code) => {
  const { email } = await newStaffAccount();
  const [here, there] = [await newSession(email), await newSession(email)];
  const token = await createRecoveryToken(email);
  const change = { password: newPassword, current_password: password };
  expect(getErrorStatus(await here.supabase.auth.updateUser(change))).toEqual([status, code]);
  expect((await there.supabase.auth.getUser()).error).toBeNull();
  expect((await redeemToken(token)).error).toBeNull();
  expect((await newSession(email)).session).not.toBeNull();
});

test("A recovery link starts one session, and the log contains the link's request and the login.", async () => {
  const { email, id } = await newStaffAccount();
  const request = { type: "recovery", email: email.toUpperCase() } as const;
  const { properties, user } = (await testBackend.serviceRole.auth.admin.generateLink(request)).data;
  const token = properties?.hashed_token ?? "";
  expect(user).toMatchObject({ id, email, identities: [{ user_id: id }], recovery_sent_at: expect.any(String) });
  expect(properties?.hashed_token).toMatch(/^[0-9a-f]{56,64}$/);
  const opened = await redeemToken(token);
  expect(opened.error).toBeNull();
  expect(opened.data.user?.id).toBe(id);
  const claims = await testBackend.anonymous().auth.getClaims(opened.data.session?.access_token);
  expect(claims.data?.claims).toMatchObject({ sub: id, aal: "aal1", amr: [{ method: "otp" }] });
  expect(getErrorStatus(await redeemToken(token))).toEqual([403, "otp_expired"]);
  expect((await listAuthLogEntries(id)).slice(1)).toMatchObject([
    { action: "user_recovery_requested", actor_id: id, actor_username: email },
    { action: "login", actor_id: id },
  ]);
});

test("A new recovery link or a new password invalidates all earlier recovery links.", async () => {
  const { email } = await newStaffAccount();
  const [first, second] = [await createRecoveryToken(email), await createRecoveryToken(email)];
  expect(getErrorStatus(await redeemToken(first))).toEqual([403, "otp_expired"]);
  expect((await redeemToken(second)).error).toBeNull();
  const third = await createRecoveryToken(email);
  expect((await (await newSession(email)).supabase.auth.updateUser(passwordChange)).error).toBeNull();
  expect(getErrorStatus(await redeemToken(third))).toEqual([403, "otp_expired"]);
});

test("A recovery link starts no session after a day, as another kind of link, or with a wrong token.", async () => {
  const { email, id } = await newStaffAccount();
  const token = await createRecoveryToken(email);
  expect(getErrorStatus(await redeemToken(token, "signup"))).toEqual([403, "otp_expired"]);
  for (const guess of [token.slice(1), token.toUpperCase(), "null", "%", "' or true --"]) {
    expect(getErrorStatus(await redeemToken(guess)), guess).toEqual([403, "otp_expired"]);
  }
  expect(getErrorStatus(await redeemToken(""))).toEqual([400, "validation_failed"]);
  await query("update auth.users set recovery_sent_at = now() - interval '25 hours' where id = $1", [id]);
  expect(getErrorStatus(await redeemToken(token))).toEqual([403, "otp_expired"]);
});

test("A session that started with a recovery link still needs the code of the second factor.", async () => {
  const { email } = await newStaffAccount();
  await enrollFactor((await newSession(email)).supabase);
  const thief = testBackend.anonymous();
  const opened = await thief.auth.verifyOtp({ type: "recovery", token_hash: await createRecoveryToken(email) });
  expect(opened.error).toBeNull();
  const change = await thief.auth.updateUser({ password: otherPassword });
  expect(getErrorStatus(change)).toEqual([401, "insufficient_aal"]);
  expect((await newSession(email)).session).not.toBeNull();
});

describe("Closed accounts", () => {
  test("A banned account can neither log in with any password nor refresh a session until the ban ends.", async () => {
    const { email, id } = await newStaffAccount();
    const { session } = await newSession(email);
    const refresh = () => testBackend.anonymous().auth.refreshSession(session);
    const signIn = (guess: string) => testBackend.anonymous().auth.signInWithPassword({ email, password: guess });
    await banAccount(id);
    for (const guess of [password, otherPassword])
      expect(getErrorStatus(await signIn(guess))).toEqual([400, "user_banned"]);
    expect(getErrorStatus(await refresh())).toEqual([400, "user_banned"]);
    await banAccount(id, "now() - interval '1 second'");
    expect(getErrorStatus(await signIn(otherPassword))).toEqual([400, "invalid_credentials"]);
    expect((await signIn(password)).error).toBeNull();
    expect((await refresh()).error).toBeNull();
  });

  const requests: [string, (supabase: AppSupabaseClient) => Promise<{ error: AuthError | null }>][] = [
    ["read its data", (supabase) => supabase.auth.getUser()],
    ["change its name", (supabase) => supabase.auth.updateUser({ data: { full_name: "Somebody" } })],
    ["change its password", (supabase) => supabase.auth.updateUser(passwordChange)],
    ["enrol a second factor", (supabase) => supabase.auth.mfa.enroll({ factorType: "totp", friendlyName: "Phone" })],
    ["remove a second factor", (supabase) => supabase.auth.mfa.unenroll({ factorId: randomUUID() })],
  ];
  test.each(requests)("A banned account cannot %s with the token of an existing session.", async (_what, send) => {
    const { email, id } = await newStaffAccount();
    const { supabase } = await newSession(email);
    await banAccount(id);
    expect(getErrorStatus(await send(supabase))).toEqual([403, "user_banned"]);
    await banAccount(id, "null");
    expect((await supabase.auth.getUser()).data.user?.user_metadata.full_name).toBe("Ann");
    expect((await newSession(email)).session).not.toBeNull();
  });

  test("A banned account cannot use a recovery link, and the link remains valid for the time after the ban.", async () => {
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
