import { decodeJwt } from "jose";
import type { SessionMutex, SqlSession } from "../database/database.ts";
import type { Mailer } from "../mailer.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { authError, userBannedError } from "./errors.ts";

export type Handler = (request: Request) => Promise<Response>;
export type AuthOptions = {
  next: Handler;
  db: SqlSession;
  mailer: Mailer;
  runUnlocked: SessionMutex["runUnlocked"];
  tokens: AccessTokens;
  secretKey: string;
  jwtExpirySeconds: number;
  siteUrl: string;
  securePasswordChange: boolean;
  issuer: string;
  /** The hook's URI, `pg-functions://postgres/<schema>/<function>`, or null. */
  beforeUserCreated: string | null;
  otpLength: number;
  resendAfterSeconds: number;
};
export type FactorRow = {
  id: string;
  friendly_name: string | null;
  status: "unverified" | "verified";
  secret: string;
  accepted_step: number;
};
type SessionUser = { id: string; email: string; app_metadata: object; user_metadata: object };
/** An authentication method in a token's `amr` claim. `timestamp` is in seconds since 1970. */
export type AmrEntry = { method: string; timestamp: number };
type AccessTokenResponse = { access_token: string; refresh_token: string; user: SessionUser };
/** A session is `recent` within 24 hours of its start, and `linked` if an emailed link started it. */
export type Caller = {
  user: SessionUser;
  sessionId: string;
  aal: string;
  recent: boolean;
  linked: boolean;
};

export async function authenticate(options: AuthOptions, request: Request): Promise<Caller | Response> {
  const url = new URL(request.url);
  url.pathname = "/auth/v1/user";
  const headers = new Headers();
  for (const name of ["apikey", "authorization"]) {
    const value = request.headers.get(name);
    if (value) headers.set(name, value);
  }
  const response = await options.next(new Request(url, { headers }));
  if (!response.ok) return response;
  const { session_id } = decodeJwt<{ session_id?: string }>(headers.get("authorization")?.slice(7) ?? "");
  const { rows } = await options.db.query<{ aal: string; recent: boolean; linked: boolean; closed: boolean }>(
    `select coalesce(session.aal, 'aal1') as aal, session.created_at > now() - interval '24 hours' as recent,
       exists (
         select from auth.mfa_amr_claims as claim
         where claim.session_id = session.id and claim.authentication_method = 'otp'
       ) as linked,
       coalesce(account.banned_until > now(), false) as closed
     from auth.sessions as session join auth.users as account on account.id = session.user_id where session.id = $1`,
    [session_id ?? null],
  );
  if (!session_id || !rows[0])
    return authError(403, "session_not_found", "Session from session_id claim does not exist");
  const { closed, ...session } = rows[0];
  return closed
    ? userBannedError(403)
    : { user: (await response.json()) as SessionUser, sessionId: session_id, ...session };
}

export async function reissueTokenResponse(options: AuthOptions, response: Response, method: string | null) {
  const session = (await response.json()) as AccessTokenResponse;
  const { session_id: id } = decodeJwt<{ session_id: string }>(session.access_token);
  if (method) await recordAmrClaim(options.db, id, method);
  const user = await addFactorsToUser(options.db, session.user);
  return createTokenResponse(options, user, { id, refreshToken: session.refresh_token });
}

export async function recordAmrClaim(db: SqlSession, sessionId: string, method: string): Promise<void> {
  await db.query(
    `insert into auth.mfa_amr_claims (session_id, authentication_method) values ($1, $2)
     on conflict (session_id, authentication_method) do update set updated_at = now()`,
    [sessionId, method],
  );
}

async function listAmrEntries(db: SqlSession, sessionId: string): Promise<AmrEntry[]> {
  const { rows } = await db.query<AmrEntry>(
    `select authentication_method as method, floor(extract(epoch from updated_at))::int as timestamp
     from auth.mfa_amr_claims where session_id = $1 order by updated_at desc`,
    [sessionId],
  );
  return rows;
}

export async function createTokenResponse(
  { db, issuer, jwtExpirySeconds, tokens }: AuthOptions,
  user: SessionUser,
  session: { id: string; refreshToken: string; methods?: AmrEntry[] },
): Promise<Response> {
  const amr = session.methods ?? (await listAmrEntries(db, session.id));
  const { id, email, app_metadata, user_metadata } = user;
  const now = Math.floor(Date.now() / 1000);
  const access_token = await tokens.sign({
    iss: issuer,
    sub: id,
    aud: "authenticated",
    iat: now,
    exp: now + jwtExpirySeconds,
    email,
    phone: "",
    app_metadata,
    user_metadata,
    role: "authenticated",
    aal: amr.some(({ method }) => method === "totp") ? "aal2" : "aal1",
    amr,
    session_id: session.id,
    is_anonymous: false,
  });
  const expiry = { expires_in: jwtExpirySeconds, expires_at: now + jwtExpirySeconds };
  return Response.json({ access_token, token_type: "bearer", ...expiry, refresh_token: session.refreshToken, user });
}

export async function addFactorsToUser<T>(db: SqlSession, user: T & { id?: string }): Promise<T> {
  const factors = user.id ? await listPublicFactors(db, user.id) : [];
  return factors.length > 0 ? { ...user, factors } : user;
}

export async function listPublicFactors(db: SqlSession, userId: string) {
  return (await listFactors(db, userId)).map(({ secret: _, accepted_step: __, ...factor }) => factor);
}

export async function listFactors(db: SqlSession, userId: string): Promise<FactorRow[]> {
  const { rows } = await db.query<FactorRow>(
    `select id, friendly_name, factor_type, status, created_at, updated_at, last_challenged_at, secret, accepted_step
     from auth.mfa_factors where user_id = $1 order by created_at`,
    [userId],
  );
  return rows;
}

export async function readJsonBody<T extends object>(message: Request | Response): Promise<Partial<T>> {
  const value: unknown = await message.json().catch(() => null);
  return value && typeof value === "object" ? (value as Partial<T>) : {};
}
