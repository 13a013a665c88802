/** Staff commands and background jobs read content/data here, because models/content.server.ts needs Vite. */
import { z } from "zod";
import { readSettings } from "../../lib/http/env.server.ts";
import { readContentFile } from "../../models/content-file.server.ts";
import type { EmailSender } from "../../models/emails.ts";
import { type Stage, Stages } from "../../models/shipment-fields.server.ts";

const Company = z.object({ name: z.string(), offices: z.array(z.object({ phone: z.string(), email: z.string() })) });

export function readEmailSender(): EmailSender {
  const { name, offices } = readContentFile("company", Company);
  return { name, email: "", phone: "", ...offices[0], origin: readSettings().origin };
}

export function readStages(): Stage[] {
  return readContentFile("stages", Stages);
}
