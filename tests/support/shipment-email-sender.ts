/** Starts processes that send due shipment updates and report their memory use. */
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
  /** Bytes in use after a garbage collection, measured after every `every` emails and at the end. */
  heap: number[];
};

/**
 * Starts a process that sends every due shipment update to `SMTP_URL` and exits. Throws an error with the process's
 * output if the process fails.
 */
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
  const report = printed.split("\n").find((line) => line.startsWith('{"count"'));
  if (!report) throw new Error(`A sender failed:\n${printed}\n${errors}`);
  return JSON.parse(report);
}

if (process.argv[1] === import.meta.filename) {
  const { sendDueShipmentEmails } = await import("../../app/models/email-delivery.server.ts");
  const { serviceRoleClient } = await import("../../app/lib/supabase/client.server.ts");
  const { readEmailSender, readStages } = await import("../../app/server/cli/content.ts");
  disableNagle();
  const every = Number(process.argv[2]);
  const heap: number[] = [];
  let checks = 0;
  const measure = () => {
    globalThis.gc?.();
    heap.push(process.memoryUsage().heapUsed);
  };
  // The sender calls this function before each email.
  const isStopped = () => {
    if (checks++ % every === 0) measure();
    return false;
  };
  const backend = serviceRoleClient();
  let count = 0;
  // Ends after two rounds without an email, because the other process may have claimed the remaining emails.
  for (let emptyRounds = 0; emptyRounds < 2; ) {
    const sent = await sendDueShipmentEmails(backend, readEmailSender(), readStages(), isStopped);
    count += sent;
    emptyRounds = sent === 0 ? emptyRounds + 1 : 0;
  }
  measure();
  console.log(JSON.stringify({ count, heap }));
}
