import { handleAdminRequest } from "./admin.ts";
import { authError, userBannedError } from "./errors.ts";
import { logIn } from "./login.ts";
import { handleFactorRequest } from "./mfa.ts";
import { type AuthOptions, authenticate, type Handler, readJsonBody, reissueTokenResponse } from "./sessions.ts";
import { dummyPasswordHash, handleResend, signUp } from "./sign-up.ts";
import { handleUserRequest } from "./user-endpoint.ts";
import { verifyOneTimeToken } from "./verify.ts";

const handlers: Record<string, (options: AuthOptions, request: Request) => Promise<Response>> = {
  "POST /auth/v1/signup": signUp,
  "POST /auth/v1/resend": handleResend,
  "POST /auth/v1/verify": verifyOneTimeToken,
  "POST /auth/v1/token": issueTokens,
  "POST /auth/v1/logout": logOut,
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

async function logOut(options: AuthOptions, request: Request): Promise<Response> {
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
