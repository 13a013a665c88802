import { log } from "../../lib/http/log.server.ts";
import { serviceRoleClient } from "../../lib/supabase/client.server.ts";
import { recordSentEmails, sendDueShipmentEmails } from "../../models/email-delivery.server.ts";
import { deleteChunks, listDeletableChunks } from "../../models/resumable-upload.server.ts";
import { deleteExpiredLinks } from "../../models/retention.server.ts";
import { readEmailSender, readStages } from "../cli/content.ts";

/** The interval is much shorter than the ten minutes between a shipment's update and its email. */
const checkIntervalMs = 30_000;
/** The site rejects expired links and chunks even before their deletion, so one cleanup per hour is enough. */
const cleanupIntervalMs = 3_600_000;

/** Starts the jobs. Returns a function that stops the jobs and waits for the current job. */
export function startBackgroundJobs(): () => Promise<void> {
  let isStopped = false;
  let currentRun = Promise.resolve();
  let lastCleanup = 0;
  const runDueJobs = async () => {
    await runJob("shipment emails not sent", () =>
      sendDueShipmentEmails(serviceRoleClient(), readEmailSender(), readStages(), () => isStopped),
    );
    if (!isStopped && Date.now() - lastCleanup > cleanupIntervalMs) {
      const linksDeleted = await runJob("expired links not deleted", () => deleteExpiredLinks(serviceRoleClient()));
      const chunksDeleted = await runJob("unfinished uploads not deleted", async () =>
        deleteChunks(serviceRoleClient(), await listDeletableChunks(serviceRoleClient())),
      );
      if (linksDeleted && chunksDeleted) lastCleanup = Date.now();
    }
    if (!isStopped) timer = setTimeout(startRun, checkIntervalMs).unref();
  };
  const startRun = () => {
    currentRun = runDueJobs();
  };
  let timer = setTimeout(startRun, checkIntervalMs).unref();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await currentRun;
    await runJob("shipment emails not recorded", () => recordSentEmails(serviceRoleClient()));
  };
}

async function runJob(event: string, job: () => Promise<unknown>): Promise<boolean> {
  try {
    await job();
    return true;
  } catch (error) {
    log("warn", event, { message: (error as Error).message });
    return false;
  }
}
