import { randomBytes, randomUUID } from "node:crypto";
import type { SqlSession } from "../database/database.ts";
import { transaction } from "../database/migrations.ts";
import { recordAuthLogEntry, serviceRoleActor } from "./audit-log.ts";
import { authError } from "./errors.ts";
import { generateRecoveryLink } from "./generate-link.ts";
import { deleteFactor, findFactor } from "./mfa.ts";
import { type AuthOptions, listPublicFactors, readJsonBody } from "./sessions.ts";
import { hashPassword } from "./sign-up.ts";
import { findUserId, getUser, parseEmail } from "./users.ts";

type AdminUserParams = { email: unknown; password: unknown; email_confirm: unknown; user_metadata: unknown };

export async function handleAdminRequest(options: AuthOptions, request: Request, pathname: string): Promise<Response> {
  const { db } = options;
  if (request.headers.get("apikey") !== options.secretKey) return authError(403, "not_admin", "User not allowed");
  if (request.method === "POST" && pathname === "/auth/v1/admin/generate_link")
    return generateRecoveryLink(options, request);
  if (pathname === "/auth/v1/admin/users") return createUser(db, request);
  const [, account] = /^\/auth\/v1\/admin\/users\/([0-9a-f-]{36})$/.exec(pathname) ?? [];
  if (account && request.method === "DELETE") return deleteUser(db, account);
  if (account && request.method === "GET") return respondWithUser(db, account);
  if (account && request.method === "PUT") return updateUserEmail(db, account, request);
  const [, userId = "", factorId = ""] =
    /^\/auth\/v1\/admin\/users\/([0-9a-f-]{36})\/factors(?:\/([0-9a-f-]{36}))?$/.exec(pathname) ?? [];
  if (!userId) return authError(404, "not_found", "Not found");
  if (request.method === "GET" && !factorId) return Response.json(await listPublicFactors(db, userId));
  const factor = factorId ? await findFactor(db, userId, factorId) : null;
  if (request.method !== "DELETE" || !factor) return authError(404, "mfa_factor_not_found", "Factor not found");
  await deleteFactor(db, factor.id);
  await recordAuthLogEntry(db, serviceRoleActor, "factor_deleted", { user_id: userId, factor_id: factor.id });
  return Response.json({ id: factor.id });
}

async function readUserParams(request: Request, fields: (keyof AdminUserParams)[]) {
  const params = await readJsonBody<AdminUserParams>(request);
  const unknown = Object.keys(params).find((name) => !fields.some((field) => field === name));
  if (unknown) return authError(400, "validation_failed", `The embedded backend does not support the field ${unknown}`);
  const email = parseEmail(params.email);
  return email instanceof Response ? email : { ...params, email };
}

function emailExistsError(): Response {
  return authError(422, "email_exists", "A user with this email address has already been registered");
}

/** Creates an account, by default with a random password. Like Supabase Auth, does not call the sign-up hook. */
async function createUser(db: SqlSession, request: Request): Promise<Response> {
  const params = await readUserParams(request, ["email", "password", "email_confirm", "user_metadata"]);
  if (params instanceof Response) return params;
  const { email, user_metadata, email_confirm } = params;
  if (await findUserId(db, email)) return emailExistsError();
  const requestedPassword = typeof params.password === "string" ? params.password : "";
  const password = requestedPassword || randomBytes(48).toString("base64url");
  // Like Supabase Auth, rejects a password over 72 bytes, because bcrypt ignores all further bytes.
  if (Buffer.byteLength(password) > 72) return authError(500, "unexpected_failure", "Internal Server Error");
  const account = { email, passwordHash: await hashPassword(password), data: user_metadata ?? {} };
  try {
    return Response.json(await transaction(db, () => insertUser(db, account, email_confirm === true)));
  } catch (error) {
    console.error((error as Error).message);
    return authError(500, "unexpected_failure", "Database error creating new user");
  }
}

/** Inserts the account before confirming it, because different triggers check the insert and the confirmation. */
async function insertUser(
  db: SqlSession,
  { email, passwordHash, data }: { email: string; passwordHash: string; data: object },
  confirm: boolean,
) {
  const id = randomUUID();
  await db.query(
    `insert into auth.users (id, aud, role, email, encrypted_password, raw_app_meta_data, raw_user_meta_data)
     values ($1, 'authenticated', 'authenticated', $2, $3, $4, $5)`,
    [id, email, passwordHash, JSON.stringify({ provider: "email", providers: ["email"] }), JSON.stringify(data)],
  );
  await db.query(
    `insert into auth.identities (id, provider, provider_id, user_id, identity_data, last_sign_in_at)
     values ($1, 'email', $2, $3, $4, now())`,
    [randomUUID(), id, id, JSON.stringify({ sub: id, email, email_verified: false, phone_verified: false })],
  );
  const traits = { user_id: id, user_email: email, user_phone: "", provider: "email" };
  await recordAuthLogEntry(db, serviceRoleActor, "user_signedup", traits);
  if (confirm) {
    await db.query(
      `update auth.users set email_confirmed_at = now(), updated_at = now(),
         raw_user_meta_data = raw_user_meta_data || '{"email_verified": true}'
       where id = $1`,
      [id],
    );
  }
  // As in Supabase Auth, the response for a new account has no confirmed_at (the older name of email_confirmed_at).
  const { confirmed_at: _, ...publicUser } = await getUser(db, id);
  return publicUser;
}

async function respondWithUser(db: SqlSession, id: string): Promise<Response> {
  const user = await getUser(db, id);
  return user.id ? Response.json(user) : authError(404, "user_not_found", "User not found");
}

async function updateUserEmail(db: SqlSession, id: string, request: Request): Promise<Response> {
  const params = await readUserParams(request, ["email", "email_confirm"]);
  if (params instanceof Response) return params;
  const { email, email_confirm } = params;
  return transaction(db, async () => {
    const { rows } = await db.query<{ email: string }>("select email from auth.users where id = $1 for update", [id]);
    if (!rows[0]) return authError(404, "user_not_found", "User not found");
    const owner = await findUserId(db, email);
    if (owner && owner !== id) return emailExistsError();
    await db.query(
      `update auth.users set email = $2, updated_at = now(),
         email_confirmed_at = case when $3 then coalesce(email_confirmed_at, now()) else email_confirmed_at end
       where id = $1`,
      [id, email, email_confirm === true],
    );
    await db.query(
      `update auth.identities set identity_data = identity_data || jsonb_build_object('email', $2::text), updated_at = now()
       where user_id = $1 and provider = 'email'`,
      [id, email],
    );
    await recordAuthLogEntry(db, serviceRoleActor, "user_modified", { user_id: id, user_email: email, user_phone: "" });
    return Response.json(await getUser(db, id));
  });
}

async function deleteUser(db: SqlSession, id: string): Promise<Response> {
  return transaction(db, async () => {
    const { rows } = await db.query<{ email: string }>("delete from auth.users where id = $1 returning email", [id]);
    if (!rows[0]) return authError(404, "user_not_found", "User not found");
    await db.query("delete from auth.refresh_tokens where user_id::text = $1", [id]);
    const traits = { user_email: rows[0].email, user_id: id, user_phone: "" };
    await recordAuthLogEntry(db, serviceRoleActor, "user_deleted", traits);
    return Response.json({});
  });
}
