/** Processes that send what is due, as the site's do, and say how much memory they use. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { text } from "node:stream/consumers";
import type { BackendAccess } from "../../app/lib/http/env.server.ts";
import { createSiteEnvironment } from "./environment.ts";
import { root } from "./site-process.ts";
import { disableNagle } from "./smtp-server.ts";

export type SenderReport = {
  count: number;
  /** Bytes in use after a collection, at the first mail of each `every` and at the last look. */
  heap: number[];
};

/** A process that sends every due notice by `smtpUrl` and ends. Throws what it printed when it fails. */
export async function runSenderProcess(
  { url, publishableKey, secretKey }: BackendAccess,
  more: { SMTP_URL: string; SESSION_SECRET: string; DATA_DIR: string },
  every = 1000,
): Promise<SenderReport> {
  const backend = { SUPABASE_URL: url, SUPABASE_PUBLISHABLE_KEY: publishableKey, SUPABASE_SECRET_KEY: secretKey };
  const child = spawn(process.execPath, ["--expose-gc", "--import", "tsx", import.meta.filename, String(every)], {
    cwd: root,
    env: createSiteEnvironment({ ...backend, ...more }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  const said = printed.split("\n").find((line) => line.startsWith('{"count"'));
  if (!said) throw new Error(`A sender failed:\n${printed}\n${errors}`);
  return JSON.parse(said);
}

if (process.argv[1] === import.meta.filename) {
  const { sendDueShipmentEmails: sendDueNotices } = await import("../../app/models/shipment-emails.server.ts");
  const { serviceRoleClient: companyBackend } = await import("../../app/lib/supabase/client.server.ts");
  const { readEmailSender: letterhead } = await import("../../app/server/cli/content.ts");
  disableNagle();
  const every = Number(process.argv[2]);
  const heap: number[] = [];
  let asked = 0;
  const measure = () => {
    globalThis.gc?.();
    heap.push(process.memoryUsage().heapUsed);
  };
  // What it asks before each mail.
  const isStopped = () => {
    if (asked++ % every === 0) measure();
    return false;
  };
  const company = companyBackend();
  let count = 0;
  // As the site looks again and again.
  for (let none = 0; none < 2; ) {
    const sent = await sendDueNotices(company, letterhead(), isStopped);
    count += sent;
    none = sent === 0 ? none + 1 : 0;
  }
  measure();
  console.log(JSON.stringify({ count, heap }));
}
