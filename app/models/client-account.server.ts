/** Accounts of clients as the company keeps them: closed, and opened again. */
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { runStaffAction } from "./staff-action.server.ts";

/** Closes a client's account: signed out everywhere at once, and nobody signs in to it. */
export function closeAccount(backend: AppSupabaseClient, account: string, reason: string, actor_name?: string) {
  return runStaffAction(backend, "close_account", { account_id: account, reason, actor_name });
}

/** Opens a closed account again. */
export function reopenAccount(backend: AppSupabaseClient, account: string, reason: string, actor_name?: string) {
  return runStaffAction(backend, "reopen_account", { account_id: account, reason, actor_name });
}
