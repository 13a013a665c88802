/** Sends notices beside the site, in every process of it. */
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
    try {
      await sendDueNotices(companyBackend(), letterhead(), () => isStopped);
      if (Date.now() - tidied > tidying) {
        await forgetPastLinks(companyBackend());
        await removeParts(companyBackend(), await pastParts(companyBackend()));
        tidied = Date.now();
      }
    } catch (error) {
      log("warn", "notices wait", { message: (error as Error).message });
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
