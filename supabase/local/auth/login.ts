import { randomUUID } from "node:crypto";
import bcrypt from "bcryptjs";
import pLimit from "p-limit";
import type { SqlSession } from "../database/database.ts";
import { authError, userBannedError } from "./errors.ts";
import { type AuthOptions, createTokenResponse, readJsonBody } from "./sessions.ts";
import { dummyPasswordHash, findAccount } from "./sign-up.ts";
import { toAuthUser, userColumns } from "./users.ts";

/** Takes equal time for known and unknown addresses. Only the right password reveals that an address is unconfirmed. */
export async function logIn(options: AuthOptions, request: Request): Promise<Response> {
  const { email, password } = await readJsonBody<{ email: unknown; password: unknown }>(request.clone());
  // For a missing email address or password, @supabase/lite returns the error.
  if (!email || !password || typeof email !== "string" || typeof password !== "string") return options.next(request);
  const account = await findAccount(options.db, email);
  // Like Supabase Auth, rejects a closed account before checking the password.
  if (account?.closed && account.encrypted_password) return userBannedError(400);
  const hash = account?.encrypted_password ?? null;
  const isCorrect = await options.runUnlocked(async () => {
    const comparedHash = hash ?? (await dummyPasswordHash());
    return passwordCheckLimit(() => bcrypt.compare(password, comparedHash));
  });
  if (account && hash && isCorrect) {
    // Another request may have changed the password during the comparison.
    const session = await createSession(options.db, account.id, email, hash);
    if (session) return createTokenResponse(options, toAuthUser(session.user), session);
    const current = await findAccount(options.db, email);
    if (current?.id === account.id && current.encrypted_password === hash) {
      return current.closed ? userBannedError(400) : authError(400, "email_not_confirmed", "Email not confirmed");
    }
  }
  return authError(400, "invalid_credentials", "Invalid login credentials");
}

/** Checks at most two passwords in parallel, so that two of Node's four worker threads are free for signing tokens. */
const passwordCheckLimit = pLimit(2);

/** Returns null if the password or email address has changed, or if the account is closed or unconfirmed. */
async function createSession(db: SqlSession, userId: string, email: string, hash: string) {
  // @supabase/lite accepts only a UUID as a refresh token.
  const session = { id: randomUUID(), refreshToken: randomUUID() };
  const { rows } = await db.query<Record<string, unknown> & { signed_in: number }>(
    `with account as (
       update auth.users set last_sign_in_at = now(), updated_at = now()
       where id = $1 and encrypted_password = $6 and email = lower($7) and confirmed_at is not null
         and coalesce(banned_until <= now(), true)
       returning ${userColumns}
     ), session as (
       insert into auth.sessions (id, user_id, aal, created_at, updated_at) select $2, id, 'aal1', now(), now() from account
     ), token as (
       insert into auth.refresh_tokens (id, token, user_id, session_id, revoked, created_at, updated_at)
       select $3, $4, id, $2, false, now(), now() from account
     ), method as (
       insert into auth.mfa_amr_claims (session_id, authentication_method) select $2, 'password' from account
     ), entry as (
       insert into auth.audit_log_entries (id, payload, created_at)
       select $5, jsonb_build_object(
         'action', 'login', 'actor_id', id, 'actor_username', email, 'actor_via_sso', false, 'log_type', 'account',
         'traits', jsonb_build_object('provider', 'email')
       ), now() from account
     )
     select *, floor(extract(epoch from now()))::int as signed_in from account`,
    [userId, session.id, randomUUID(), session.refreshToken, randomUUID(), hash, email],
  );
  if (!rows[0]) return null;
  const { signed_in, ...user } = rows[0];
  return { ...session, user, methods: [{ method: "password", timestamp: signed_in }] };
}
