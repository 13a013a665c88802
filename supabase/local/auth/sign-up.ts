import { randomUUID } from "node:crypto";
import process from "node:process";
// package.json replaces bcryptjs with native bcrypt, which runs in other threads.
import bcrypt from "bcryptjs";
import type { SqlSession } from "../database/database.ts";
import { transaction } from "../database/migrations.ts";
import { authError, rollBackOnError } from "./errors.ts";
import { createOneTimeToken } from "./generate-link.ts";
import { type AuthOptions, readJsonBody } from "./sessions.ts";
import { parseEmail } from "./users.ts";

type PasswordAccount = {
  id: string;
  email: string;
  confirmed: boolean;
  closed: boolean;
  encrypted_password: string | null;
  seconds_since_email: number;
};
type SignUpParams = { email?: unknown; password?: unknown; data?: Record<string, unknown> };

const dummyHashByCost = new Map<number, Promise<string>>();

const bcryptCost = () => Number(process.env.LITE_AUTH_BCRYPT_COST || 10);

export function hashPassword(password: string): Promise<string> {
  return bcrypt.hash(password, bcryptCost());
}

/** Returns a hash to compare for unknown email addresses, so that these logins take as long as other logins. */
export function dummyPasswordHash(): Promise<string> {
  const hash = dummyHashByCost.get(bcryptCost()) ?? hashPassword(randomUUID());
  dummyHashByCost.set(bcryptCost(), hash);
  return hash;
}

/** Returns the same response for known and new email addresses. Creates no account if the email cannot be sent. */
export async function signUp(options: AuthOptions, request: Request): Promise<Response> {
  const input = await readJsonBody<SignUpParams>(request.clone());
  const email = input.email && parseEmail(input.email);
  if (email instanceof Response) return email;
  const account = await findAccount(options.db, input.email);

  if (!account) {
    const hookError = await runBeforeUserCreatedHook(options, input);
    if (hookError) return hookError;
    return rollBackOnError(options.db, async () => {
      const response = await options.next(request);
      return request.signal.aborted
        ? authError(503, "request_timeout", "The site has cancelled this request.")
        : response;
    });
  }

  // @supabase/lite returns over_email_send_rate_limit for a known email address, and other codes for invalid input.
  const response = await options.next(request);
  const { error_code } = await readJsonBody<{ error_code: string }>(response.clone());
  if (error_code !== "over_email_send_rate_limit") return response;
  await bcrypt.compare(String(input.password), await dummyPasswordHash());
  if (!account.confirmed) {
    const wait = await resendConfirmation(options, account);
    if (wait > 0) return emailRateLimitError(wait);
  }
  return Response.json(obfuscatedUser(account.email, input.data ?? {}));
}

/** Sends the confirmation email to an unconfirmed email address. Returns the same response for other addresses. */
export async function handleResend(options: AuthOptions, request: Request): Promise<Response> {
  const input = await readJsonBody<{ type: unknown; email: unknown }>(request.clone());
  if (input.type !== "signup")
    return authError(400, "validation_failed", "Only a confirmation email can be sent again");
  const account = await findAccount(options.db, input.email);
  if (!account || account.confirmed) return options.next(request);
  const wait = await resendConfirmation(options, account);
  return wait > 0 ? emailRateLimitError(wait) : Response.json({});
}

async function runBeforeUserCreatedHook(options: AuthOptions, input: SignUpParams): Promise<Response | null> {
  if (!options.beforeUserCreated) return null;
  const [, schema, name] = /^pg-functions:\/\/postgres\/(\w+)\/(\w+)$/.exec(options.beforeUserCreated) ?? [];
  if (!schema || !name)
    throw new Error(`supabase/config.toml: "${options.beforeUserCreated}" is not a valid hook URI.`);
  const now = new Date().toISOString();
  const event = {
    metadata: { uuid: randomUUID(), time: now, name: "before-user-created" },
    user: {
      ...obfuscatedUser(String(input.email ?? "").toLowerCase(), input.data ?? {}),
      confirmation_sent_at: undefined,
    },
  };
  const { rows } = await options.db.query<{ result: { error?: { http_code?: number; message?: string } } }>(
    `select "${schema}"."${name}"($1::jsonb) as result`,
    [JSON.stringify(event)],
  );
  const error = rows[0]?.result.error;
  return error ? authError(error.http_code ?? 500, "unknown", error.message ?? "") : null;
}

/** Sends a new confirmation email and returns 0, or returns the seconds until the next email is allowed. */
async function resendConfirmation(options: AuthOptions, account: PasswordAccount): Promise<number> {
  const wait = Math.ceil(options.resendAfterSeconds - account.seconds_since_email);
  if (wait > 0) return wait;
  const { otp, tokenHash } = createOneTimeToken(account.email, options.otpLength);
  await transaction(options.db, async () => {
    await options.db.query(
      "update auth.users set confirmation_token = $1, confirmation_sent_at = now(), updated_at = now() where id = $2",
      [tokenHash, account.id],
    );
    await options.mailer.sendConfirmation(account.email, tokenHash, otp);
  });
  return 0;
}

export async function findAccount(db: SqlSession, email: unknown): Promise<PasswordAccount | null> {
  const { rows } = await db.query<PasswordAccount>(
    `select id, email, encrypted_password, confirmed_at is not null as confirmed,
       coalesce(banned_until > now(), false) as closed,
       coalesce(extract(epoch from now() - confirmation_sent_at), 1e9)::float8 as seconds_since_email
     from auth.users where email = lower($1)`,
    [String(email ?? "")],
  );
  return rows[0] ?? null;
}

/** Returns a response for a known email address that looks like the response for a new address. */
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

function emailRateLimitError(seconds: number): Response {
  const message = `For security purposes, you can only request this after ${seconds} seconds.`;
  return authError(429, "over_email_send_rate_limit", message);
}
