/** The company's endpoints of GoTrue that this product uses and @supabase/lite lacks. */
import { randomUUID } from "node:crypto";
import { shownFactors } from "./assurance.ts";
import { failure } from "./auth.ts";
import type { Database } from "./database.ts";
import { findFactor, remove } from "./factors.ts";
import { transaction } from "./migrate.ts";

type Handler = (request: Request) => Promise<Response>;
type Rules = { next: Handler; db: Database; secretKey: string };

/** Wraps the handler: what lies under /auth/v1/admin/users/ is answered here, to the secret key alone. */
export function withAdmin(rules: Rules): Handler {
  return async (request) => {
    const { pathname } = new URL(request.url);
    return pathname.startsWith("/auth/v1/admin/users/") ? adminEndpoint(rules, request, pathname) : rules.next(request);
  };
}

/** The company's endpoints: remove an account; list and remove the factors of one. */
async function adminEndpoint(rules: Rules, request: Request, pathname: string): Promise<Response> {
  if (request.headers.get("apikey") !== rules.secretKey) return failure(403, "not_admin", "User not allowed");
  const [, account] = /^\/auth\/v1\/admin\/users\/([0-9a-f-]{36})$/.exec(pathname) ?? [];
  if (account && request.method === "DELETE") return deleteUser(rules.db, account);
  const [, userId = "", factorId = ""] =
    /^\/auth\/v1\/admin\/users\/([0-9a-f-]{36})\/factors(?:\/([0-9a-f-]{36}))?$/.exec(pathname) ?? [];
  if (!userId) return failure(404, "not_found", "Not found");
  if (request.method === "GET" && !factorId) return Response.json(await shownFactors(rules.db, userId));
  const factor = factorId ? await findFactor(rules.db, userId, factorId) : null;
  if (request.method !== "DELETE" || !factor) return failure(404, "mfa_factor_not_found", "Factor not found");
  await remove(rules.db, factor.id);
  await logAct(rules.db, "factor_deleted", { user_id: userId, factor_id: factor.id });
  return Response.json({ id: factor.id });
}

/** Removes an account with its sessions. The log keeps its entries, and gets one about this, as GoTrue's does. */
async function deleteUser(db: Database, id: string): Promise<Response> {
  return transaction(db, async () => {
    const { rows } = await db.query<{ email: string }>("delete from auth.users where id = $1 returning email", [id]);
    if (!rows[0]) return failure(404, "user_not_found", "User not found");
    await db.query("delete from auth.refresh_tokens where user_id::text = $1", [id]);
    await logAct(db, "user_deleted", { user_email: rows[0].email, user_id: id, user_phone: "" });
    return Response.json({});
  });
}

/** An act of the company's in the log, as GoTrue writes it. */
async function logAct(db: Database, action: string, traits: object): Promise<void> {
  const payload = {
    action,
    actor_id: "00000000-0000-0000-0000-000000000000",
    actor_username: "service_role",
    traits,
  };
  await db.query("insert into auth.audit_log_entries (id, payload) values ($1, $2)", [
    randomUUID(),
    JSON.stringify(payload),
  ]);
}
