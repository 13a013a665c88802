/** The code of the moment for the demo's lead, and for nobody else. */
import type { Settings } from "../../lib/http/env.server.ts";
import { createTotp, readDemoLead } from "../start/demo-lead.ts";

/** Six digits. Throws where there is no demo: the site has people of its own. */
export function getDemoTotp({ dataDir, databaseUrl }: Settings): string {
  const lead = databaseUrl ? null : readDemoLead(dataDir);
  if (!lead)
    throw new Error(`There is no demo lead in ${dataDir}: start the site once, or set DATA_DIR to where it runs.`);
  return createTotp(lead);
}
