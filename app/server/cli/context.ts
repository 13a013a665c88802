/** The backend and the actor of a staff command. */
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

/** Who runs the command: --by, or the operating system's user. */
export type GetActorName = () => string;

/** The company's handle on the backend of SUPABASE_URL, or on the embedded one that runs on DATA_DIR. */
export function getServiceRole(): AppSupabaseClient {
  const settings = readSettings();
  const access = settings.backend ?? getRunningAccess(settings.dataDir);
  if (!access) throw new Error(`No backend is running on ${settings.dataDir}: start the site with npm start first.`);
  return serviceRoleClient(access);
}

/** Where the embedded backend keeps its data. Throws when the backend is a hosted one, which has backups of its own. */
export function requireEmbeddedSettings(): Settings {
  const settings = readSettings();
  if (settings.backend) throw new Error("SUPABASE_URL is set: the backups of that backend are its host's.");
  return settings;
}

/** Prints a deletion on standard error and writes it into the log. */
export async function recordDeletion(backend: AppSupabaseClient, by: string, act: NewAuditEntry): Promise<void> {
  printAction(by, act);
  try {
    await recordAuditEntry(backend, by, act);
  } catch (error) {
    throw new Error(`This was done, but the log did not take it: ${(error as Error).message}`, { cause: error });
  }
}

/** A callback that logs each deletion under this act. */
export function createDeletionReporter(backend: AppSupabaseClient, by: string, act: string): ReportDeletion {
  return (fields) =>
    recordDeletion(
      backend,
      by,
      "files" in fields || "parts" in fields ? { action: act, after: fields } : { action: act, ...fields },
    );
}

/** Returns a parser for an argument of commander, with the messages of a Zod schema. */
export function createParser<Value>(schema: z.ZodType<Value>) {
  return (text: string): Value => {
    const value = schema.safeParse(text);
    if (!value.success) throw new InvalidArgumentError(value.error.issues[0]?.message ?? "");
    return value.data;
  };
}

/** Returns the user name of the operating system. In a container its number may have no name. */
export function getOsUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
