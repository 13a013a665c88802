/** start.ts imports this file while the backend starts, because the import loads most of the site and takes time. */
import path from "node:path";
import type { Settings } from "../../lib/http/env.server.ts";
import { serviceRoleClient } from "../../lib/supabase/client.server.ts";
import { ensureUnusedClientId } from "../../models/client-id.server.ts";
import { demoClient, fillDemo } from "./demo.ts";

export async function printWelcome(settings: Settings): Promise<void> {
  const company = serviceRoleClient();
  const lead = settings.databaseUrl ? null : await fillDemo(company, settings.dataDir);
  const clientId = await ensureUnusedClientId(company);
  const emailTarget = settings.smtpUrl ? "the email server in SMTP_URL" : path.join(settings.dataDir, "outbox");
  const accountLines = settings.databaseUrl
    ? ["Database          the server in DATABASE_URL"]
    : [`Demo client       ${demoClient.email}, password ${demoClient.password}`];
  if (lead) {
    accountLines.push(`Demo lead         ${lead.email}, password ${lead.password}`);
    accountLines.push("  2FA code        npm run --silent staff -- demo-code");
  }
  console.log(`
  The site is at    ${settings.origin}
  ${accountLines.join("\n  ")}
  Unused Client ID  ${clientId}
  Emails go to      ${emailTarget}
`);
}
