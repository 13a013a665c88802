import type { SqlSession } from "../database/database.ts";
import { authError, userBannedError } from "./errors.ts";
import { type AuthOptions, readJsonBody, reissueTokenResponse } from "./sessions.ts";

type VerifyParams = { type: unknown; token: unknown; token_hash: unknown; email: unknown; phone: unknown };

/** Exchanges a one-time token for a session. @supabase/lite finds the token and checks the token's age. */
export async function verifyOneTimeToken(options: AuthOptions, request: Request): Promise<Response> {
  const { next, db } = options;
  const { type, token, token_hash: hash, email, phone } = await readJsonBody<VerifyParams>(request.clone());
  if (type && !token === !hash) {
    return authError(400, "validation_failed", "Verify requires either a token or a token hash");
  }
  if (type && hash && (email || phone)) {
    return authError(400, "validation_failed", "Only the token_hash and type should be provided");
  }
  if (await isBanned(db, hash, email)) return userBannedError(403);

  const response = await next(request);
  if (response.status === 500) {
    const message = type === "signup" ? "Error confirming user" : "Database error updating user";
    return authError(500, "unexpected_failure", message);
  }
  if (!response.ok) return response;
  // Using one token invalidates the account's other tokens.
  const { user } = (await response.clone().json()) as { user: { id: string } };
  await db.query("update auth.users set confirmation_token = null, recovery_token = null where id = $1", [user.id]);
  return reissueTokenResponse(options, response, "otp");
}

async function isBanned(db: SqlSession, hash: unknown, email: unknown): Promise<boolean> {
  const { rows } = await db.query<{ closed: boolean }>(
    `select coalesce(banned_until > now(), false) as closed from auth.users
     where case when $1 = '' then email = lower($2) else $1 in (confirmation_token, recovery_token) end`,
    [String(hash ?? ""), String(email ?? "")],
  );
  return rows.some(({ closed }) => closed);
}
