/** Sessions of clients that are not good for their account: ended, or without the code of a second factor. */
import type { AppSupabaseClient, startTestBackend } from "./test-backend.ts";

type TestBackend = Awaited<ReturnType<typeof startTestBackend>>;

/** A new session of a client: its handle, and one that keeps sending its access token when it has ended. */
export async function newClientSession(
  world: TestBackend,
  email: string,
): Promise<{ handle: AppSupabaseClient; token: AppSupabaseClient }> {
  const handle = world.anonymous();
  const { data, error } = await handle.auth.signInWithPassword({ email, password: "a good password" });
  if (error) throw error;
  return { handle, token: world.withToken(data.session.access_token) };
}

/** A handle that sends the access token of a session that has ended. */
export async function newEndedSession(world: TestBackend, email: string): Promise<AppSupabaseClient> {
  const { handle, token } = await newClientSession(world, email);
  const { error } = await handle.auth.signOut({ scope: "local" });
  if (error) throw error;
  return token;
}

/** Does something while an account has a second factor, whose code its sessions have not given. */
export async function runWithSecondFactor(
  world: TestBackend,
  account: string,
  job: () => Promise<unknown>,
): Promise<void> {
  await world.backend.db.query(
    `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at)
     values (gen_random_uuid(), $1, 'Phone', 'totp', 'verified', 'JBSWY3DPEHPK3PXP', now(), now())`,
    [account],
  );
  try {
    await job();
  } finally {
    await world.backend.db.query("delete from auth.mfa_factors where user_id = $1", [account]);
  }
}
