/** What a start prints for a newcomer. Imported only once the backend is starting: it imports most of the site. */
import path from "node:path";
import type { Settings } from "../../lib/env.server.ts";
import { companyBackend } from "../../lib/supabase.server.ts";
import { anUnusedClientId } from "../../models/client-id.server.ts";
import { demo, stockDemo } from "./demo.ts";

/** Uploads the demo's documents, then prints how to sign in. Throws when the backend does not answer. */
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
