/** What hosted auth (GoTrue) does at sign-up and refresh and @supabase/lite does not; read from GoTrue's source. */
import { randomUUID } from "node:crypto";
import process from "node:process";
import bcrypt from "bcryptjs";
import type { SqlSession } from "../database/database.ts";
import { transaction } from "../database/migrations.ts";
import type { Mailer } from "../mailer.ts";
import { authError, rollBackOnError, userBannedError } from "./errors.ts";
import { createOneTimeToken, generateRecoveryToken } from "./generate-link.ts";
import { verifyOneTimeToken } from "./verify.ts";

type Handler = (request: Request) => Promise<Response>;
type AuthRoutesOptions = {
  next: Handler;
  db: SqlSession;
  mailer: Mailer;
  /** Address of the `before_user_created` hook, `pg-functions://postgres/<schema>/<function>`, or null. */
  beforeUserCreated: string | null;
  otpLength: number;
  /** How long a person waits before the same mail goes out again. */
  resendAfterSeconds: number;
};
type PasswordAccount = {
  id: string;
  email: string;
  confirmed: boolean;
  closed: boolean;
  encrypted_password: string | null;
  mailed_ago: number;
};
type Credentials = { email?: unknown; password?: unknown; refresh_token?: unknown; data?: Record<string, unknown> };

/** A refresh token as this backend makes them. */
const refreshTokenPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// bcryptjs is another name here for bcrypt, the library's own import included (package.json, overrides): native, and off
// this thread.
const dummyHashByCost = new Map<number, Promise<string>>();

/** What the library's own hashes cost, by its own variable. */
const bcryptCost = () => Number(process.env.LITE_AUTH_BCRYPT_COST || 10);

/** The hash of a password, as the library makes it. */
export function hashPassword(password: string): Promise<string> {
  return bcrypt.hash(password, bcryptCost());
}

/** A hash of a random password: comparing with it takes as long as with a real one. */
export function dummyPasswordHash(): Promise<string> {
  const hash = dummyHashByCost.get(bcryptCost()) ?? hashPassword(randomUUID());
  dummyHashByCost.set(bcryptCost(), hash);
  return hash;
}

/** Wraps the library's handler. Answers and error codes are those of GoTrue. */
export function withAuthRoutes(rules: AuthRoutesOptions): Handler {
  // The first to need it must not wait longer than those with an account.
  void dummyPasswordHash();
  return async (request) => {
    const url = new URL(request.url);
    const route = `${request.method} ${url.pathname}`;
    if (route === "POST /auth/v1/signup") return signUp(rules, request);
    if (route === "POST /auth/v1/resend") return handleResend(rules, request);
    if (route === "POST /auth/v1/verify") return verifyOneTimeToken(rules, request);
    if (route === "POST /auth/v1/admin/generate_link") return generateRecoveryToken(rules, request);
    const isToken = route === "POST /auth/v1/token";
    if (isToken && url.searchParams.get("grant_type") === "refresh_token") return refreshSession(rules, request);
    return rules.next(request);
  };
}

/**
 * Sign-up in one transaction with its mail: a mail that cannot be handed over leaves no account. A known address gets
 * the answer of a new one: confirmed, an invented user; unconfirmed, the confirmation again.
 */
async function signUp(rules: AuthRoutesOptions, request: Request): Promise<Response> {
  const input = await readCredentials(request);
  const account = await findAccount(rules.db, input.email);

  if (!account) {
    const refusal = await runBeforeUserCreatedHook(rules, input);
    if (refusal) return refusal;
    return rollBackOnError(rules.db, () => rules.next(request));
  }

  // The library checks the input before it looks for the address, so its only refusal left is "known".
  const response = await rules.next(request);
  if ((await readErrorCode(response)) !== "over_email_send_rate_limit") return response;
  await bcrypt.compare(String(input.password), await dummyPasswordHash());
  if (!account.confirmed) {
    const wait = await resendConfirmation(rules, account);
    if (wait > 0) return emailRateLimitError(wait);
  }
  return Response.json(obfuscatedUser(account.email, input.data ?? {}));
}

/** Another confirmation mail for an unconfirmed account; the same empty answer for everybody else. */
async function handleResend(rules: AuthRoutesOptions, request: Request): Promise<Response> {
  const input = (await request
    .clone()
    .json()
    .catch(() => ({}))) as { type?: unknown; email?: unknown };
  if (input.type !== "signup")
    return authError(400, "validation_failed", "Only a sign-up has a mail that is sent again");
  const account = await findAccount(rules.db, input.email);
  if (!account || account.confirmed) return rules.next(request);
  const wait = await resendConfirmation(rules, account);
  return wait > 0 ? emailRateLimitError(wait) : Response.json({});
}

/** Renews a session, unless its account is banned. GoTrue tells a token that it never made from one that it does not know. */
async function refreshSession(rules: AuthRoutesOptions, request: Request): Promise<Response> {
  const { refresh_token } = await readCredentials(request);
  if (typeof refresh_token !== "string" || refresh_token === "") return rules.next(request);
  if (!refreshTokenPattern.test(refresh_token))
    return authError(400, "validation_failed", "Refresh token is not valid");
  const { rows } = await rules.db.query<{ closed: boolean }>(
    `select coalesce(account.banned_until > now(), false) as closed
     from auth.refresh_tokens as held join auth.users as account on account.id = held.user_id where held.token = $1`,
    [refresh_token],
  );
  if (!rows[0]) return authError(400, "refresh_token_not_found", "Invalid Refresh Token: Refresh Token Not Found");
  return rows[0].closed ? userBannedError(400, "Invalid Refresh Token: User Banned") : rules.next(request);
}

/** Asks the hook whether the user may be created. Returns its refusal, or null. */
async function runBeforeUserCreatedHook(rules: AuthRoutesOptions, input: Credentials): Promise<Response | null> {
  if (!rules.beforeUserCreated) return null;
  const [, schema, name] = /^pg-functions:\/\/postgres\/(\w+)\/(\w+)$/.exec(rules.beforeUserCreated) ?? [];
  if (!schema || !name) throw new Error(`Not the address of a hook: ${rules.beforeUserCreated}`);
  const now = new Date().toISOString();
  const event = {
    metadata: { uuid: randomUUID(), time: now, name: "before-user-created" },
    user: {
      ...obfuscatedUser(String(input.email ?? "").toLowerCase(), input.data ?? {}),
      confirmation_sent_at: undefined,
    },
  };
  const { rows } = await rules.db.query<{ verdict: { error?: { http_code?: number; message?: string } } }>(
    `select "${schema}"."${name}"($1::jsonb) as verdict`,
    [JSON.stringify(event)],
  );
  const error = rows[0]?.verdict.error;
  return error ? authError(error.http_code ?? 500, "unknown", error.message ?? "") : null;
}

/** Sends the confirmation of an unconfirmed account with a new token. Returns the seconds to wait when it is too soon. */
async function resendConfirmation(rules: AuthRoutesOptions, account: PasswordAccount): Promise<number> {
  const wait = Math.ceil(rules.resendAfterSeconds - account.mailed_ago);
  if (wait > 0) return wait;
  const { otp, tokenHash } = createOneTimeToken(account.email, rules.otpLength);
  await transaction(rules.db, async () => {
    await rules.db.query(
      "update auth.users set confirmation_token = $1, confirmation_sent_at = now(), updated_at = now() where id = $2",
      [tokenHash, account.id],
    );
    await rules.mailer.sendConfirmation(account.email, tokenHash, otp);
  });
  return 0;
}

/** The account of an e-mail address, or null. */
export async function findAccount(db: SqlSession, email: unknown): Promise<PasswordAccount | null> {
  const { rows } = await db.query<PasswordAccount>(
    `select id, email, encrypted_password, confirmed_at is not null as confirmed,
       coalesce(banned_until > now(), false) as closed,
       coalesce(extract(epoch from now() - confirmation_sent_at), 1e9)::float8 as mailed_ago
     from auth.users where email = lower($1)`,
    [String(email ?? "")],
  );
  return rows[0] ?? null;
}

async function readCredentials(request: Request): Promise<Credentials> {
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => null);
  return body && typeof body === "object" ? body : {};
}

/** What GoTrue answers for an address that has an account, so that it looks like one that had none. */
function obfuscatedUser(email: string, data: Record<string, unknown>) {
  const now = new Date().toISOString();
  return {
    id: randomUUID(),
    aud: "authenticated",
    role: "",
    email,
    phone: "",
    confirmation_sent_at: now,
    app_metadata: { provider: "email", providers: ["email"] },
    user_metadata: data,
    identities: [],
    created_at: now,
    updated_at: now,
    is_anonymous: false,
  };
}

async function readErrorCode(response: Response): Promise<string | null> {
  if (response.ok) return null;
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { error_code?: string } | null;
  return body?.error_code ?? null;
}

function emailRateLimitError(seconds: number): Response {
  return authError(
    429,
    "over_email_send_rate_limit",
    `For security purposes, you can only request this after ${seconds} seconds.`,
  );
}
