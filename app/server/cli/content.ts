/** What the programs beside the site take from content/data. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { projectRoot } from "../../../supabase/contract/data-dir.ts";
import { readSettings } from "../../lib/http/env.server.ts";
import type { EmailSender } from "../../models/emails.ts";
import { StorageTariff } from "../../models/free-storage.ts";

const Company = z.object({ name: z.string(), offices: z.array(z.object({ phone: z.string(), email: z.string() })) });

/** The company of company.yaml at its first office, on the site of APP_ORIGIN. */
export function readEmailSender(): EmailSender {
  const { name, offices } = Company.parse(readData("company"));
  return { name, email: "", phone: "", ...offices[0], origin: readSettings().origin };
}

/** The tariff of storage.yaml. */
export function readStorageTariff(): StorageTariff {
  return StorageTariff.parse(readData("storage"));
}

function readData(name: string): unknown {
  return parse(readFileSync(path.join(projectRoot, "content/data", `${name}.yaml`), "utf8"));
}
