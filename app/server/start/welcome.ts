/** What a start prints for a newcomer. Imported only once the backend is starting: it imports most of the site. */
import path from "node:path";
import type { Settings } from "../../lib/http/env.server.ts";
import { serviceRoleClient } from "../../lib/supabase/client.server.ts";
import { ensureUnusedClientId } from "../../models/client-id.server.ts";
import { demoClient, fillDemo } from "./demo.ts";

/** Fills the demo in, then prints how to sign in. Throws when the backend does not answer. */
export async function printWelcome(settings: Settings): Promise<void> {
  const company = serviceRoleClient();
  const lead = settings.databaseUrl ? null : await fillDemo(company, settings.dataDir);
  const clientId = await ensureUnusedClientId(company);
  const mails = settings.smtpUrl ? "the server of SMTP_URL" : path.join(settings.dataDir, "outbox");
  const people = settings.databaseUrl
    ? ["Database          the server of DATABASE_URL"]
    : [`Demo client       ${demoClient.email}, password ${demoClient.password}`];
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
