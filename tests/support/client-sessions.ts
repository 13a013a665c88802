/** Creates second factors and client sessions without access: ended sessions, and sessions before the second factor. */
import { Authenticator } from "./authenticator.ts";
import type { AppSupabaseClient, TestBackend } from "./test-backend.ts";

export async function startEnrollment(supabase: AppSupabaseClient, friendlyName = "Phone") {
  const { data, error } = await supabase.auth.mfa.enroll({ factorType: "totp", friendlyName });
  if (error) throw error;
  return { factorId: data.id, app: new Authenticator(data.totp.secret), totp: data.totp };
}

/** Adds a verified second factor to an account. The session then has AAL2. */
export async function enrollFactor(supabase: AppSupabaseClient, friendlyName = "Phone") {
  const { factorId, app } = await startEnrollment(supabase, friendlyName);
  const verified = await supabase.auth.mfa.challengeAndVerify({ factorId, code: await app.freshCode() });
  if (verified.error) throw verified.error;
  return { factorId, app, accessToken: verified.data.access_token };
}

/**
 * Starts a session and returns two Supabase clients. `supabase` can sign out. `token` always sends the same access
 * token, even after signing out.
 */
export async function newClientSession(
  testBackend: TestBackend,
  email: string,
): Promise<{ supabase: AppSupabaseClient; token: AppSupabaseClient }> {
  const supabase = testBackend.anonymous();
  const { data, error } = await supabase.auth.signInWithPassword({ email, password: "a good password" });
  if (error) throw error;
  return { supabase, token: testBackend.withToken(data.session.access_token) };
}

export async function newEndedSession(testBackend: TestBackend, email: string): Promise<AppSupabaseClient> {
  const { supabase, token } = await newClientSession(testBackend, email);
  const { error } = await supabase.auth.signOut({ scope: "local" });
  if (error) throw error;
  return token;
}

/** Runs `job` while the account has a second factor that its sessions have not passed. */
export async function runWithSecondFactor(
  testBackend: TestBackend,
  account: string,
  job: () => Promise<unknown>,
): Promise<void> {
  await testBackend.backend.db.query(
    `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at)
     values (gen_random_uuid(), $1, 'Phone', 'totp', 'verified', 'JBSWY3DPEHPK3PXP', now(), now())`,
    [account],
  );
  try {
    await job();
  } finally {
    await testBackend.backend.db.query("delete from auth.mfa_factors where user_id = $1", [account]);
  }
}
