import { userInfo } from "node:os";
import process from "node:process";
import { InvalidArgumentError } from "commander";
import type { z } from "zod";
import { readSettings, type Settings } from "../../lib/http/env.server.ts";
import { type AppSupabaseClient, serviceRoleClient } from "../../lib/supabase/client.server.ts";
import { type NewAuditEntry, recordAuditEntry } from "../../models/audit-log.server.ts";
import type { ReportDeletion } from "../../models/retention.server.ts";
import { getRunningAccess } from "../embedded-backend.ts";
import { printAction } from "./output.ts";

export type GetActorName = () => string;

export function getServiceRole(): AppSupabaseClient {
  const settings = readSettings();
  const access = settings.backend ?? getRunningAccess(settings.dataDir);
  if (!access)
    throw new Error(`No backend is running with the data in ${settings.dataDir}. Start the site with npm start first.`);
  return serviceRoleClient(access);
}

export function requireEmbeddedSettings(): Settings {
  const settings = readSettings();
  if (settings.backend)
    throw new Error(
      "SUPABASE_URL is set. This command works only with the embedded backend. For a backup, use Supabase's own backups.",
    );
  return settings;
}

export async function recordDeletion(supabase: AppSupabaseClient, by: string, entry: NewAuditEntry): Promise<void> {
  printAction(by, entry);
  try {
    await recordAuditEntry(supabase, by, entry);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`The data was deleted. The entry in the activity log could not be saved: ${message}`, {
      cause: error,
    });
  }
}

export function createDeletionReporter(supabase: AppSupabaseClient, by: string, action: string): ReportDeletion {
  return (fields) => {
    const entry = "files" in fields || "parts" in fields ? { action, after: fields } : { action, ...fields };
    return recordDeletion(supabase, by, entry);
  };
}

export function createParser<Value>(schema: z.ZodType<Value>) {
  return (text: string): Value => {
    const value = schema.safeParse(text);
    if (!value.success) throw new InvalidArgumentError(value.error.issues[0]?.message ?? "");
    return value.data;
  };
}

export function getOsUser(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container, the user ID may have no name.
    return `user ${process.getuid?.()}`;
  }
}
