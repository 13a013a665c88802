/** Actions of the company for tests, on the backend of a running site. */
import { companyBackend } from "../../app/lib/supabase.server.ts";
import { issueClientIds } from "../../app/models/client-id.server.ts";
import { runningAccess } from "../../app/server/embedded.ts";

/** The company's handle. Throws when no backend runs on the data directory. */
export function companyOf(dataDir: string) {
  const access = runningAccess(dataDir);
  if (!access) throw new Error(`No backend runs on ${dataDir}`);
  return companyBackend(access);
}

/** An unused client ID. */
export async function newClientId(dataDir: string): Promise<string> {
  const [clientId = ""] = await issueClientIds(companyOf(dataDir), 1);
  return clientId;
}
