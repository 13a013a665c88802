/** Sign-in with a password, as GoTrue answers it. The library would compare the hash within the turn at the database. */
import { randomUUID } from "node:crypto";
import bcrypt from "bcryptjs";
import pLimit from "p-limit";
import type { SqlSession } from "../database/database.ts";
import { authError, userBannedError } from "./errors.ts";
import { type AuthOptions, createTokenResponse, readJsonBody } from "./sessions.ts";
import { dummyPasswordHash, findAccount } from "./sign-up.ts";
import { toAuthUser, userColumns } from "./users.ts";

/**
 * Sign-in takes the same time for an unknown address, and says that an address is unconfirmed only to somebody who
 * knows its password. GoTrue looks whether an account is banned before it looks at the password, and so says it to anybody.
 */
export async function logIn(rules: AuthOptions, request: Request): Promise<Response> {
  const { email, password } = await readJsonBody<{ email: unknown; password: unknown }>(request.clone());
  // The library says what is missing.
  if (!email || !password || typeof email !== "string" || typeof password !== "string") return rules.next(request);
  const account = await findAccount(rules.db, email);
  if (account?.closed && account.encrypted_password) return userBannedError(400);
  const hash = account?.encrypted_password ?? null;
  const right = await rules.runUnlocked(async () => {
    const compared = hash ?? (await dummyPasswordHash());
    return passwordCheckLimit(() => bcrypt.compare(password, compared));
  });
  if (account && hash && right) {
    // Others had their turns meanwhile: the password counts if it is still that of the account.
    const begun = await createSession(rules.db, account.id, email, hash);
    if (begun) return createTokenResponse(rules, toAuthUser(begun.user), begun);
    const now = await findAccount(rules.db, email);
    if (now?.id === account.id && now.encrypted_password === hash) {
      return now.closed ? userBannedError(400) : authError(400, "email_not_confirmed", "Email not confirmed");
    }
  }
  return authError(400, "invalid_credentials", "Invalid login credentials");
}

/** Two passwords at a time are judged: the others of Node's four threads stay free for the signatures of tokens. */
const passwordCheckLimit = pLimit(2);

/**
 * Begins a session of an account with this address whose password has this hash: with a refresh token, its method, and an
 * entry in auth's log. Null where it has another address or password by now, is closed, or has an address that was not confirmed.
 */
async function createSession(db: SqlSession, userId: string, email: string, hash: string) {
  // The library takes no other form of a refresh token.
  const session = { id: randomUUID(), refreshToken: randomUUID() };
  const { rows } = await db.query<Record<string, unknown> & { signed_in: number }>(
    `with account as (
       update auth.users set last_sign_in_at = now(), updated_at = now()
       where id = $1 and encrypted_password = $6 and email = lower($7) and confirmed_at is not null and coalesce(banned_until <= now(), true)
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
