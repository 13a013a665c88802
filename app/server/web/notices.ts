/** Sends notices beside the site, and tidies up, in every process of it. */
import { log } from "../../lib/log.server.ts";
import { companyBackend } from "../../lib/supabase.server.ts";
import { sendDueNotices } from "../../models/notice.server.ts";
import { forgetPastLinks } from "../../models/retention.server.ts";
import { pastParts, removeParts } from "../../models/upload-parts.server.ts";
import { letterhead } from "../staff/content.ts";

/** Between two looks for what is due, in milliseconds. Mails wait ten minutes anyway. */
const pause = 30_000;
/** Between two deletions of links and parts of files past their time, in milliseconds; they open nothing before. */
const tidying = 3_600_000;

/**
 * Looks for due notices now and again, and for links and parts of files past their time, until the function that it returns is called and has
 * waited for the mail under way.
 */
export function sendNotices(): () => Promise<void> {
  let isStopped = false;
  let underWay = Promise.resolve();
  let tidied = 0;
  const look = async () => {
    await unlessFailed("notices wait", () => sendDueNotices(companyBackend(), letterhead(), () => isStopped));
    if (!isStopped && Date.now() - tidied > tidying) {
      const links = await unlessFailed("past links stay", () => forgetPastLinks(companyBackend()));
      const parts = await unlessFailed("past parts stay", async () =>
        removeParts(companyBackend(), await pastParts(companyBackend())),
      );
      if (links && parts) tidied = Date.now();
    }
    if (!isStopped) timer = setTimeout(begin, pause).unref();
  };
  const begin = () => {
    underWay = look();
  };
  let timer = setTimeout(begin, pause).unref();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await underWay;
  };
}

/** Whether it was done; the log says why not. None keeps the others from being done. */
async function unlessFailed(event: string, act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    log("warn", event, { message: (error as Error).message });
    return false;
  }
}
