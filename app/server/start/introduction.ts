/** What a start prints for a newcomer. Only read once the backend is on its way: it imports what most of the site needs. */
import path from "node:path";
import type { Settings } from "../../lib/env.server.ts";
import { companyBackend } from "../../lib/supabase.server.ts";
import { anUnusedClientId } from "../../models/client-id.server.ts";
import { demo, stockDemo } from "./demo.ts";

/** Tells how to get in, having made sure that there is something to see. Throws when the backend does not answer. */
export async function introduce(settings: Settings): Promise<void> {
  if (!settings.databaseUrl) await stockDemo();
  const clientId = await anUnusedClientId(companyBackend());
  const mails = settings.smtpUrl ? "the server of SMTP_URL" : path.join(settings.dataDir, "outbox");
  console.log(`
  The site is at    ${settings.origin}
  ${settings.databaseUrl ? "Database          the server of DATABASE_URL" : `Demo client       ${demo.email}, password ${demo.password}`}
  Unused client ID  ${clientId}
  Mails go to       ${mails}
`);
}
