/** Staff commands and background jobs read content/data here, because models/content.server.ts needs Vite. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { projectRoot } from "../../../supabase/contract/data-dir.ts";
import { readSettings } from "../../lib/http/env.server.ts";
import type { EmailSender } from "../../models/emails.ts";
import { StorageTariff } from "../../models/free-storage.ts";
import { type Stage, Stages } from "../../models/shipment-fields.server.ts";

const Company = z.object({ name: z.string(), offices: z.array(z.object({ phone: z.string(), email: z.string() })) });

export function readEmailSender(): EmailSender {
  const { name, offices } = Company.parse(readData("company"));
  return { name, email: "", phone: "", ...offices[0], origin: readSettings().origin };
}

export function readStages(): Stage[] {
  return Stages.parse(readData("stages"));
}

export function readStorageTariff(): StorageTariff {
  return StorageTariff.parse(readData("storage"));
}

function readData(name: string): unknown {
  return parse(readFileSync(path.join(projectRoot, "content/data", `${name}.yaml`), "utf8"));
}
