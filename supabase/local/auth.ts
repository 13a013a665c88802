/** What hosted auth (GoTrue) does at sign-up and sign-in and @supabase/lite does not; read from GoTrue's source. */
import { createHash, randomInt, randomUUID } from "node:crypto";
import process from "node:process";
import bcrypt from "bcryptjs";
import type { Database } from "./database.ts";
import type { Mailer } from "./mail.ts";
import { transaction } from "./migrate.ts";

type Handler = (request: Request) => Promise<Response>;
type Rules = {
  next: Handler;
  db: Database;
  mailer: Mailer;
  /** Address of the `before_user_created` hook, `pg-functions://postgres/<schema>/<function>`, or null. */
  beforeUserCreated: string | null;
  otpLength: number;
  /** How long a person waits before the same mail goes out again. */
  resendAfterSeconds: number;
};
type Account = { id: string; email: string; confirmed: boolean; encrypted_password: string | null; mailed_ago: number };
type Credentials = { email?: unknown; password?: unknown; data?: Record<string, unknown> };

// bcryptjs is another name here for @node-rs/bcrypt, the library's own import included (package.json, overrides): native,
// and off this thread.
const hashes = new Map<number, Promise<string>>();

/** A hash of a random password, of the cost the library uses: comparing with it takes as long as with a real one. */
function nobodysHash(): Promise<string> {
  // The library's own variable.
  const cost = Number(process.env.LITE_AUTH_BCRYPT_COST || 10);
  const hash = hashes.get(cost) ?? bcrypt.hash(randomUUID(), cost);
  hashes.set(cost, hash);
  return hash;
}

/** Wraps the library's handler. Answers and error codes are those of GoTrue. */
export function withGoTrueRules(rules: Rules): Handler {
  // The first to need it must not wait longer than those with an account.
  void nobodysHash();
  return async (request) => {
    const url = new URL(request.url);
    const route = `${request.method} ${url.pathname}`;
    if (route === "POST /auth/v1/signup") return signUp(rules, request);
    if (route === "POST /auth/v1/resend") return resend(rules, request);
    if (route === "POST /auth/v1/token" && url.searchParams.get("grant_type") === "password") {
      return signIn(rules, request);
    }
    return rules.next(request);
  };
}

/**
 * Sign-up in one transaction with its mail: a mail that cannot be handed over leaves no account. A known address gets
 * the answer of a new one: confirmed, an invented user; unconfirmed, the confirmation again.
 */
async function signUp(rules: Rules, request: Request): Promise<Response> {
  const input = await credentials(request);
  const account = await findAccount(rules.db, input.email);

  if (!account) {
    const refusal = await callHook(rules, input);
    if (refusal) return refusal;
    try {
      return await transaction(rules.db, async () => {
        const response = await rules.next(request);
        if (!response.ok) throw response;
        return response;
      });
    } catch (failure) {
      if (failure instanceof Response) return failure;
      throw failure;
    }
  }

  // The library checks the input before it looks for the address, so its only refusal left is "known".
  const response = await rules.next(request);
  if ((await errorCode(response)) !== "over_email_send_rate_limit") return response;
  await bcrypt.compare(String(input.password), await nobodysHash());
  if (!account.confirmed) {
    const wait = await sendConfirmationAgain(rules, account);
    if (wait > 0) return tooSoon(wait);
  }
  return Response.json(inventedUser(account.email, input.data ?? {}));
}

/** Another confirmation mail for an unconfirmed account; the same empty answer for everybody else. */
async function resend(rules: Rules, request: Request): Promise<Response> {
  const input = (await request
    .clone()
    .json()
    .catch(() => ({}))) as { type?: unknown; email?: unknown };
  if (input.type !== "signup") return failure(400, "validation_failed", "Only a sign-up has a mail that is sent again");
  const account = await findAccount(rules.db, input.email);
  if (!account || account.confirmed) return rules.next(request);
  const wait = await sendConfirmationAgain(rules, account);
  return wait > 0 ? tooSoon(wait) : Response.json({});
}

/**
 * Sign-in takes the same time for an unknown address, and says that an address is unconfirmed only to somebody who
 * knows its password.
 */
async function signIn(rules: Rules, request: Request): Promise<Response> {
  const { email, password } = await credentials(request);
  const response = await rules.next(request);
  const code = await errorCode(response);
  if (code !== "invalid_credentials" && code !== "email_not_confirmed") return response;

  const account = await findAccount(rules.db, email);
  const compared = code === "invalid_credentials" && account !== null;
  if (compared) return response;
  const known = await bcrypt.compare(String(password ?? ""), account?.encrypted_password ?? (await nobodysHash()));
  if (code === "email_not_confirmed" && known) return response;
  return failure(400, "invalid_credentials", "Invalid login credentials");
}

/** Asks the hook whether the user may be created. Returns its refusal, or null. */
async function callHook(rules: Rules, input: Credentials): Promise<Response | null> {
  if (!rules.beforeUserCreated) return null;
  const [, schema, name] = /^pg-functions:\/\/postgres\/(\w+)\/(\w+)$/.exec(rules.beforeUserCreated) ?? [];
  if (!schema || !name) throw new Error(`Not the address of a hook: ${rules.beforeUserCreated}`);
  const now = new Date().toISOString();
  const event = {
    metadata: { uuid: randomUUID(), time: now, name: "before-user-created" },
    user: {
      ...inventedUser(String(input.email ?? "").toLowerCase(), input.data ?? {}),
      confirmation_sent_at: undefined,
    },
  };
  const { rows } = await rules.db.query<{ verdict: { error?: { http_code?: number; message?: string } } }>(
    `select "${schema}"."${name}"($1::jsonb) as verdict`,
    [JSON.stringify(event)],
  );
  const error = rows[0]?.verdict.error;
  return error ? failure(error.http_code ?? 500, "unknown", error.message ?? "") : null;
}

/** Sends the confirmation of an unconfirmed account with a new token. Returns the seconds to wait when it is too soon. */
async function sendConfirmationAgain(rules: Rules, account: Account): Promise<number> {
  const wait = Math.ceil(rules.resendAfterSeconds - account.mailed_ago);
  if (wait > 0) return wait;
  const otp = Array.from({ length: rules.otpLength }, () => randomInt(10)).join("");
  const tokenHash = createHash("sha256")
    .update(account.email + otp)
    .digest("hex");
  await transaction(rules.db, async () => {
    await rules.db.query(
      "update auth.users set confirmation_token = $1, confirmation_sent_at = now(), updated_at = now() where id = $2",
      [tokenHash, account.id],
    );
    await rules.mailer.sendConfirmation(account.email, tokenHash, otp);
  });
  return 0;
}

async function findAccount(db: Database, email: unknown): Promise<Account | null> {
  const { rows } = await db.query<Account>(
    `select id, email, encrypted_password, confirmed_at is not null as confirmed,
       coalesce(extract(epoch from now() - confirmation_sent_at), 1e9)::float8 as mailed_ago
     from auth.users where email = lower($1)`,
    [String(email ?? "")],
  );
  return rows[0] ?? null;
}

async function credentials(request: Request): Promise<Credentials> {
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => null);
  return body && typeof body === "object" ? body : {};
}

/** What GoTrue answers for an address that has an account, so that it looks like one that had none. */
function inventedUser(email: string, data: Record<string, unknown>) {
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

async function errorCode(response: Response): Promise<string | null> {
  if (response.ok) return null;
  const body = (await response
    .clone()
    .json()
    .catch(() => null)) as { error_code?: string } | null;
  return body?.error_code ?? null;
}

/** A refusal in GoTrue's form. */
export function failure(status: number, code: string, message: string): Response {
  return Response.json(
    { code: status, error_code: code, msg: message },
    { status, headers: { "X-Sb-Error-Code": code } },
  );
}

function tooSoon(seconds: number): Response {
  return failure(
    429,
    "over_email_send_rate_limit",
    `For security purposes, you can only request this after ${seconds} seconds.`,
  );
}
