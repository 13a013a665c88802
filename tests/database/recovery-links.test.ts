import { randomUUID } from "node:crypto";
import type { AuthError } from "@supabase/supabase-js";
import { describe, expect, test } from "vitest";
import { getErrorStatus, otherPassword, password, setUpAuth } from "../support/auth-suite.ts";
import { enrollFactor } from "../support/client-sessions.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const suite = setUpAuth();
const { testBackend, query } = suite;
const { newEmailAddress, newStaffAccount, newSession, createRecoveryToken } = suite;
const { redeemToken, banAccount, listAuthLogEntries } = suite;

test("A recovery link opens one session, and the log has the request and the login.", async () => {
  const { email, id } = await newStaffAccount();
  const request = { type: "recovery", email: email.toUpperCase() } as const;
  const { data } = await testBackend.serviceRole.auth.admin.generateLink(request);
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
  const traits = { actor_id: id, actor_name: "Ann", actor_username: email, actor_via_sso: false };
  expect((await listAuthLogEntries(id)).slice(1)).toEqual([
    { ...traits, action: "user_recovery_requested", log_type: "user" },
    expect.objectContaining({ action: "login", actor_id: id }),
  ]);
});

test("A recovery link leads only to a page of the site.", async () => {
  const { email } = await newStaffAccount();
  const redirectOf = async (redirectTo?: string) => {
    const request = { type: "recovery", email, options: { redirectTo } } as const;
    const link = await testBackend.serviceRole.auth.admin.generateLink(request);
    return link.data.properties?.redirect_to ?? "";
  };
  const site = await redirectOf();
  const page = new URL("/password?a=b", site).href;
  expect(await redirectOf(page)).toBe(page);
  expect(await redirectOf("https://thief.example/")).toBe(site);
  expect(await redirectOf("javascript:alert(1)")).toBe(site);
});

test("A new recovery link invalidates all earlier recovery links.", async () => {
  const { email } = await newStaffAccount();
  const [first, second] = [await createRecoveryToken(email), await createRecoveryToken(email)];
  expect(getErrorStatus(await redeemToken(first))).toEqual([403, "otp_expired"]);
  expect((await redeemToken(second)).error).toBeNull();
});

test("A recovery link opens no session after a day, as another kind of link, or with a wrong token.", async () => {
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

test("A session that a recovery link opened still needs the code of the second factor.", async () => {
  const { email } = await newStaffAccount();
  await enrollFactor((await newSession(email)).supabase);
  const thief = testBackend.anonymous();
  const opened = await thief.auth.verifyOtp({ type: "recovery", token_hash: await createRecoveryToken(email) });
  expect(opened.error).toBeNull();
  const change = await thief.auth.updateUser({ password: otherPassword });
  expect(getErrorStatus(change)).toEqual([401, "insufficient_aal"]);
  expect((await newSession(email)).session).not.toBeNull();
});

test("A recovery link can be created only for an existing account.", async () => {
  const { email } = await newStaffAccount();
  const linkFor = (type: string, address: string) =>
    testBackend.serviceRole.auth.admin.generateLink({ type: type as "recovery", email: address });
  expect(getErrorStatus(await linkFor("recovery", newEmailAddress()))).toEqual([404, "user_not_found"]);
  expect(getErrorStatus(await linkFor("recovery", "nobody"))).toEqual([400, "validation_failed"]);
  expect(getErrorStatus(await linkFor("recovery", ""))).toEqual([400, "validation_failed"]);
  expect(getErrorStatus(await linkFor("another", email))).toEqual([400, "validation_failed"]);
});

describe("closed accounts", () => {
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

  const passwordChange = { password: otherPassword, current_password: password };
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

  test("A banned account cannot use a recovery link, which stays valid.", async () => {
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
