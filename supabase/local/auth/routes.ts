import type { SqlSession } from "../database/database.ts";
import { handleAdminRequest } from "./admin.ts";
import { authError, userBannedError } from "./errors.ts";
import { logIn } from "./login.ts";
import { handleFactorRequest } from "./mfa.ts";
import { type AuthOptions, authenticate, type Handler, readJsonBody, reissueTokenResponse } from "./sessions.ts";
import { dummyPasswordHash, handleResend, signUp } from "./sign-up.ts";
import { handleUserRequest } from "./user-endpoint.ts";

const handlers: Record<string, (options: AuthOptions, request: Request) => Promise<Response>> = {
  "POST /auth/v1/signup": signUp,
  "POST /auth/v1/resend": handleResend,
  "POST /auth/v1/verify": verifyOneTimeToken,
  "POST /auth/v1/token": issueTokens,
  "POST /auth/v1/logout": authenticateFirst,
  "HEAD /auth/v1/user": authenticateFirst,
  "GET /auth/v1/user": handleUserRequest,
  "PUT /auth/v1/user": handleUserRequest,
};

/** Handles the routes of Supabase Auth that @supabase/lite lacks or handles differently. */
export function withAuthRoutes(options: AuthOptions): Handler {
  // Creates the hash now, so that the first login with an unknown email address does not take longer.
  void dummyPasswordHash();
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/auth/v1/admin/")) return handleAdminRequest(options, request, pathname);
    if (pathname.startsWith("/auth/v1/factors")) return handleFactorRequest(options, request);
    const handler = handlers[`${request.method} ${pathname}`];
    return handler ? handler(options, request) : options.next(request);
  };
}

async function issueTokens(options: AuthOptions, request: Request): Promise<Response> {
  const grant = new URL(request.url).searchParams.get("grant_type");
  if (grant === "password") return logIn(options, request);
  const response = await (grant === "refresh_token" ? refreshSession(options, request) : options.next(request));
  return response.ok ? reissueTokenResponse(options, response, null) : response;
}

async function authenticateFirst(options: AuthOptions, request: Request): Promise<Response> {
  const caller = await authenticate(options, request);
  return caller instanceof Response ? caller : options.next(request);
}

const refreshTokenPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function refreshSession(options: AuthOptions, request: Request): Promise<Response> {
  const { refresh_token } = await readJsonBody<{ refresh_token: unknown }>(request.clone());
  if (typeof refresh_token !== "string" || refresh_token === "") return options.next(request);
  if (!refreshTokenPattern.test(refresh_token))
    return authError(400, "validation_failed", "Refresh token is not valid");
  const { rows } = await options.db.query<{ closed: boolean }>(
    `select coalesce(account.banned_until > now(), false) as closed
     from auth.refresh_tokens as token join auth.users as account on account.id = token.user_id where token.token = $1`,
    [refresh_token],
  );
  if (!rows[0]) return authError(400, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found");
  return rows[0].closed ? userBannedError(400, "Invalid Refresh Token: User Banned") : options.next(request);
}

type VerifyParams = { type: unknown; token: unknown; token_hash: unknown; email: unknown; phone: unknown };

/** Exchanges a one-time token for a session. @supabase/lite finds the token and checks the token's age. */
async function verifyOneTimeToken(options: AuthOptions, request: Request): Promise<Response> {
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
  // After the use of one token, the account's other tokens become invalid.
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
