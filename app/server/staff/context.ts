/** What every staff command needs: the company's handle, who runs it, and the line about what was done. */
import { readSettings, type Settings } from "../../lib/env.server.ts";
import { type Backend, companyBackend } from "../../lib/supabase.server.ts";
import { type Act, recordAct } from "../../models/act.server.ts";
import type { Tell } from "../../models/retention.server.ts";
import { runningAccess } from "../embedded.ts";
import { note } from "./printed.ts";

/** Who runs the command: --by, or the operating system's user. */
export type By = () => string;

/** The company's handle on the backend of SUPABASE_URL, or on the embedded one that runs on DATA_DIR. */
export function company(): Backend {
  const settings = readSettings();
  const access = settings.backend ?? runningAccess(settings.dataDir);
  if (!access) throw new Error(`No backend is running on ${settings.dataDir}: start the site with npm start first.`);
  return companyBackend(access);
}

/** Where the embedded backend keeps its data. Throws when the backend is a hosted one, which has backups of its own. */
export function embeddedPlace(): Settings {
  const settings = readSettings();
  if (settings.backend) throw new Error("SUPABASE_URL is set: the backups of that backend are its host's.");
  return settings;
}

/** Prints a deletion on standard error and writes it into the log. */
export async function done(backend: Backend, by: string, act: Act): Promise<void> {
  note(by, act);
  try {
    await recordAct(backend, by, act);
  } catch (error) {
    throw new Error(`This was done, but the log did not take it: ${(error as Error).message}`, { cause: error });
  }
}

/** A callback that logs each deletion under this act. */
export function deletion(backend: Backend, by: string, act: string): Tell {
  return (fields) =>
    done(backend, by, "files" in fields || "parts" in fields ? { act, after: fields } : { act, ...fields });
}
