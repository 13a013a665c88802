import { randomUUID } from "node:crypto";
import type { SqlSession } from "../database/database.ts";

const logTypeByAction = {
  factor_deleted: "factor",
  user_deleted: "team",
  user_modified: "user",
  user_recovery_requested: "user",
  user_signedup: "team",
};
type AuthLogActor = { id: string; name: string; fullName?: unknown };

export const serviceRoleActor: AuthLogActor = { id: "00000000-0000-0000-0000-000000000000", name: "service_role" };

/** Writes an entry of auth.audit_log_entries as Supabase Auth does. @supabase/lite writes no entries. */
export async function recordAuthLogEntry(
  db: SqlSession,
  actor: AuthLogActor,
  action: keyof typeof logTypeByAction,
  traits?: Record<string, unknown>,
): Promise<void> {
  const payload = {
    action,
    actor_id: actor.id,
    actor_name: actor.fullName,
    actor_username: actor.name,
    actor_via_sso: false,
    log_type: logTypeByAction[action],
    traits,
  };
  await db.query("insert into auth.audit_log_entries (id, payload) values ($1, $2)", [
    randomUUID(),
    JSON.stringify(payload),
  ]);
}
