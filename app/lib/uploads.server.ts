/** Files on their way in this process, to us and from us: how many at once, and how much memory they may take. */
import type { RouterContextProvider } from "react-router";
import { addressOf, networkOf } from "./client-address.server.ts";
import { env } from "./env.server.ts";
import { limitsOf } from "./limits.server.ts";
import { log } from "./log.server.ts";
import type { Refusal } from "./refusal.server.ts";

/** Room for one file. Releasing it twice does no harm. */
export type Place = { release: () => void };

/** Files on their way by account or network. */
const counts = new Map<string, number>();
/**
 * Bytes reserved: for all uploads, for those without an account (at most half, which no single address can fill), and for
 * what is sent.
 */
const reserved = { uploads: 0, visitors: 0, downloads: 0 };

/** When to try again: a small file has arrived by then. In seconds. */
const wait = 60;

/**
 * Reserves room for the upload of a request, counted for its account or else its network; or says why there is none.
 * Reserves the Content-Length before the body is read, or the `size` that is put together from parts. The caller has to
 * release it in every case.
 */
export function takePlace(
  request: Request,
  context: Readonly<RouterContextProvider>,
  account: string | undefined,
  size?: number,
): Place | Refusal {
  const { addressesTold, limits } = env();
  const { uploadsPerClient, uploadsPerAddress, uploadBytes, fileBytes, formBytes } = limits;
  const owner = account ? `account ${account}` : `network ${networkOf(addressOf(request))}`;
  const most = fileBytes + formBytes;
  const bytes = Math.min(size ?? Number(request.headers.get("Content-Length") ?? most), most);
  // Where all visitors seem to come from one address, a few uploads would lock out the others.
  const perAddress = addressesTold ? uploadsPerAddress : Number.POSITIVE_INFINITY;
  if ((counts.get(owner) ?? 0) >= (account ? uploadsPerClient : perAddress)) {
    const whose = account ? "Your other files are still on their way." : "Too many files come from your network.";
    return noRoom(context, account ? "uploads of one client" : "uploads of one address", whose, 429);
  }
  const isFull = reserved.uploads + bytes > uploadBytes || (!account && reserved.visitors + bytes > uploadBytes / 2);
  if (isFull) return noRoom(context, "uploads", "Too many files are on their way to us.", 503);
  return placeOf(owner, bytes, account ? ["uploads"] : ["uploads", "visitors"]);
}

/** Stored files that one account is sent at once: a clerk opens several beside each other. */
const sentAtOnce = 6;

/**
 * Reserves room to send a stored file, which is in memory until its reader has all of it; or says why there is none. The
 * caller has to release it in every case.
 */
export function takePlaceToSend(context: Readonly<RouterContextProvider>, account: string): Place | Refusal {
  const { uploadBytes, fileBytes } = env().limits;
  const owner = `reader ${account}`;
  if ((counts.get(owner) ?? 0) >= sentAtOnce)
    return noRoom(context, "downloads of one client", "Your other files are still on their way to you.", 429);
  if (reserved.downloads + fileBytes > uploadBytes)
    return noRoom(context, "downloads", "We are sending too many files just now.", 503);
  return placeOf(owner, fileBytes, ["downloads"]);
}

function noRoom(context: Readonly<RouterContextProvider>, limit: string, words: string, status: 429 | 503): Refusal {
  log("warn", "limit", { limit, wait });
  if (status === 429) limitsOf(context).wait = wait;
  return { reason: `${words} Try again in a minute.`, status };
}

function placeOf(owner: string, bytes: number, rooms: (keyof typeof reserved)[]): Place {
  counts.set(owner, (counts.get(owner) ?? 0) + 1);
  for (const room of rooms) reserved[room] += bytes;
  let isReleased = false;
  return {
    release() {
      if (isReleased) return;
      isReleased = true;
      const left = (counts.get(owner) ?? 1) - 1;
      if (left > 0) counts.set(owner, left);
      else counts.delete(owner);
      for (const room of rooms) reserved[room] -= bytes;
    },
  };
}
