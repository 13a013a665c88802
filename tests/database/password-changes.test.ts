import { expect, test } from "vitest";
import { getErrorStatus, otherPassword, password, setUpAuth } from "../support/auth-suite.ts";
import { backendKeys } from "../support/backend-keys.ts";

const { testBackend, sendRequest, newStaffAccount, newSession, createRecoveryToken, redeemToken } = setUpAuth();

const { publishableKey, secretKey } = backendKeys;
const send = (method: string, path: string, key: string, token: string, body?: object) =>
  sendRequest(method, `/auth/v1/${path}`, { apikey: key, authorization: `Bearer ${token}` }, body);

const passwordChange = { password: otherPassword, current_password: password };
test.each<[string, (id: string, token: string) => Promise<Response>]>([
  [
    "another address",
    (id) => send("PUT", `admin/users/${id}`, secretKey, secretKey, { email: `x${id}@client.example` }),
  ],
  ["the account deleted", (id) => send("DELETE", `admin/users/${id}`, secretKey, secretKey)],
  ["another password", (_id, token) => send("PUT", "user", publishableKey, token, passwordChange)],
])("A login is rejected if it finds %s after the password check.", async (_what, change) => {
  const { email, id } = await newStaffAccount();
  const { session } = await newSession(email);
  // While the login hashes the password, the database can execute the change.
  const login = send("POST", "token?grant_type=password", publishableKey, publishableKey, { email, password });
  expect((await change(id, session?.access_token ?? "")).status).toBe(200);
  const result = await login;
  expect([result.status, (await result.json()).error_code]).toEqual([400, "invalid_credentials"]);
});

test("A new password ends every other session of the same account, but no session of other accounts.", async () => {
  const [account, otherAccount] = [await newStaffAccount(), await newStaffAccount()];
  const here = await newSession(account.email);
  const otherSessions = [await newSession(account.email), await newSession(account.email)];
  const bystander = await newSession(otherAccount.email);
  const change = { password: otherPassword, current_password: password };
  expect((await here.supabase.auth.updateUser(change)).error).toBeNull();

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

test("A new password invalidates earlier recovery links.", async () => {
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

test("Changing a name needs no password and ends no session.", async () => {
  const { email } = await newStaffAccount();
  const [here, there] = [await newSession(email), await newSession(email)];
  expect((await here.supabase.auth.updateUser({ data: { full_name: "Ann B." } })).error).toBeNull();
  expect((await there.supabase.auth.getUser()).data.user?.user_metadata.full_name).toBe("Ann B.");
});
