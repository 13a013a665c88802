/** Accounts of clients as the company keeps them: closed, and opened again. */
import type { Backend } from "../lib/supabase.server.ts";
import { act } from "./desk-act.server.ts";

/** Closes a client's account: signed out everywhere at once, and nobody signs in to it. */
export function closeAccount(backend: Backend, account: string, reason: string, by_name?: string) {
  return act(backend, "close_account", { account, reason, by_name });
}

/** Opens a closed account again. */
export function openAccount(backend: Backend, account: string, reason: string, by_name?: string) {
  return act(backend, "open_account", { account, reason, by_name });
}
