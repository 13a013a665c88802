/** Sends notices beside the site, and tidies up, in every process of it. */
import { log } from "../../lib/http/log.server.ts";
import { serviceRoleClient } from "../../lib/supabase/client.server.ts";
import { deleteChunks, listDeletableChunks } from "../../models/resumable-upload.server.ts";
import { deleteExpiredLinks } from "../../models/retention.server.ts";
import { sendDueShipmentEmails } from "../../models/shipment-emails.server.ts";
import { readEmailSender } from "../cli/content.ts";

/** Between two looks for what is due, in milliseconds. Mails wait ten minutes anyway. */
const checkIntervalMs = 30_000;
/** Between two deletions of links and parts of files past their time, in milliseconds; they open nothing before. */
const cleanupIntervalMs = 3_600_000;

/**
 * Looks for due notices now and again, and for links and parts of files past their time, until the function that it returns is called and has
 * waited for the mail under way.
 */
export function startBackgroundJobs(): () => Promise<void> {
  let isStopped = false;
  let underWay = Promise.resolve();
  let tidied = 0;
  const look = async () => {
    await runJob("notices wait", () => sendDueShipmentEmails(serviceRoleClient(), readEmailSender(), () => isStopped));
    if (!isStopped && Date.now() - tidied > cleanupIntervalMs) {
      const links = await runJob("past links stay", () => deleteExpiredLinks(serviceRoleClient()));
      const parts = await runJob("past parts stay", async () =>
        deleteChunks(serviceRoleClient(), await listDeletableChunks(serviceRoleClient())),
      );
      if (links && parts) tidied = Date.now();
    }
    if (!isStopped) timer = setTimeout(begin, checkIntervalMs).unref();
  };
  const begin = () => {
    underWay = look();
  };
  let timer = setTimeout(begin, checkIntervalMs).unref();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await underWay;
  };
}

/** Whether it was done; the log says why not. None keeps the others from being done. */
async function runJob(event: string, act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    log("warn", event, { message: (error as Error).message });
    return false;
  }
}
