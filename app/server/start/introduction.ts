/** What a start prints for a newcomer. Imported only once the backend is starting: it imports most of the site. */
import path from "node:path";
import type { Settings } from "../../lib/env.server.ts";
import { companyBackend } from "../../lib/supabase.server.ts";
import { anUnusedClientId } from "../../models/client-id.server.ts";
import { demo, fillDemo } from "./demo.ts";

/** Fills the demo in, then prints how to sign in. Throws when the backend does not answer. */
export async function introduce(settings: Settings): Promise<void> {
  const company = companyBackend();
  const lead = settings.databaseUrl ? null : await fillDemo(company, settings.dataDir);
  const clientId = await anUnusedClientId(company);
  const mails = settings.smtpUrl ? "the server of SMTP_URL" : path.join(settings.dataDir, "outbox");
  const people = settings.databaseUrl
    ? ["Database          the server of DATABASE_URL"]
    : [`Demo client       ${demo.email}, password ${demo.password}`];
  if (lead) {
    people.push(`Demo lead         ${lead.email}, password ${lead.password}`);
    people.push("  its code        npm run --silent staff -- demo-code");
  }
  console.log(`
  The site is at    ${settings.origin}
  ${people.join("\n  ")}
  Unused client ID  ${clientId}
  Mails go to       ${mails}
`);
}
