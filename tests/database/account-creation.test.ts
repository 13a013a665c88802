import { randomUUID } from "node:crypto";
import type { AuthError } from "@supabase/supabase-js";
import { expect, test } from "vitest";
import { getErrorStatus, otherPassword, password, setUpAuth } from "../support/auth-suite.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const suite = setUpAuth();
const { testBackend, query, sendRequest } = suite;
const { newEmailAddress, createInvitationMetadata, newStaffAccount, newSession } = suite;
const { createRecoveryToken, countAccountTraces, listAuthLogEntries } = suite;

test("An account that the company creates is confirmed immediately, redeems its invitation, and logs in.", async () => {
  const email = newEmailAddress();
  const user_metadata = await createInvitationMetadata(email);
  const account = { email: email.toUpperCase(), password, email_confirm: true, user_metadata };
  const { data, error } = await testBackend.serviceRole.auth.admin.createUser(account);
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
  expect(await query("select from private.staff_invites where email = $1", [email])).toEqual([]);
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

test("An account created without a password cannot log in until a link sets a password.", async () => {
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

test("An account that the company creates unconfirmed cannot log in.", async () => {
  const email = newEmailAddress();
  const user_metadata = await createInvitationMetadata(email);
  const { data, error } = await testBackend.serviceRole.auth.admin.createUser({ email, password, user_metadata });
  expect(error).toBeNull();
  expect(data.user).not.toHaveProperty("email_confirmed_at");
  expect(data.user?.user_metadata).toEqual(user_metadata);
  const login = await testBackend.anonymous().auth.signInWithPassword({ email, password });
  expect(getErrorStatus(login)).toEqual([400, "email_not_confirmed"]);
});

test("A second account is not created for an address, in upper or lower case.", async () => {
  const { email } = await newStaffAccount();
  const before = await countAccountTraces(email);
  for (const spelling of [email, email.toUpperCase()]) {
    const duplicate = await testBackend.serviceRole.auth.admin.createUser({ email: spelling, email_confirm: true });
    expect(getErrorStatus(duplicate)).toEqual([422, "email_exists"]);
  }
  expect(await countAccountTraces(email)).toEqual(before);
});

test("Creating an account without an invitation to its address fails and leaves no row.", async () => {
  const email = newEmailAddress();
  const foreign = await createInvitationMetadata(newEmailAddress());
  for (const user_metadata of [undefined, {}, { staff_invite_id: randomUUID() }, foreign]) {
    const { secretKey } = testBackend;
    const version = { "x-supabase-api-version": "2024-01-01" };
    const headers = { apikey: secretKey, authorization: `Bearer ${secretKey}`, ...version };
    const account = { email, email_confirm: true, user_metadata };
    const result = await sendRequest("POST", "/auth/v1/admin/users", headers, account);
    expect(result.status).toBe(500);
    expect(await result.json()).toEqual({ code: "unexpected_failure", message: "Database error creating new user" });
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
  const { data } = await admin.getUserById(id);
  expect([data.user?.email, data.user?.identities?.[0]?.identity_data?.email]).toEqual([email, email]);
  const secondAccount = await newStaffAccount();
  expect((await admin.updateUserById(secondAccount.id, { email })).error?.code).toBe("email_exists");
  expect((await admin.updateUserById(secondAccount.id, { email: "no address" })).error?.code).toBe("validation_failed");
  const nobody = "00000000-0000-4000-8000-00000000dead";
  expect((await admin.getUserById(nobody)).error?.code).toBe("user_not_found");
  expect((await admin.updateUserById(nobody, { email: newEmailAddress() })).error?.code).toBe("user_not_found");
});

test("The service role cannot list accounts, and can change only the address of an account.", async () => {
  const { id } = await newStaffAccount();
  const { admin } = testBackend.serviceRole.auth;
  expect((await admin.listUsers()).error).not.toBeNull();
  expect((await admin.updateUserById(id, { password: otherPassword })).error).not.toBeNull();
  expect((await admin.inviteUserByEmail(newEmailAddress())).error).not.toBeNull();
});
