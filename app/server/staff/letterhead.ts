/** Who writes the mails of the commands. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { projectRoot } from "../../../supabase/local/data-dir.ts";
import { readSettings } from "../../lib/env.server.ts";
import type { Letterhead } from "../../models/letter.ts";

const Company = z.object({ name: z.string(), offices: z.array(z.object({ phone: z.string(), email: z.string() })) });

/** The company of content/data/company.yaml at its first office, on the site of APP_ORIGIN. */
export function letterhead(): Letterhead {
  const file = path.join(projectRoot, "content/data/company.yaml");
  const { name, offices } = Company.parse(parse(readFileSync(file, "utf8")));
  return { name, email: "", phone: "", ...offices[0], origin: readSettings().origin };
}
