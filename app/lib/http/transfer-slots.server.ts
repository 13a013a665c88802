/** Files on their way in this process, to us and from us: how many at once, and how much memory they may take. */
import type { RouterContextProvider } from "react-router";
import { env } from "./env.server.ts";
import { getNetwork, readIpAddress } from "./ip-address.server.ts";
import { log } from "./log.server.ts";
import { getRateLimiter } from "./rate-limiter.server.ts";
import type { UserError } from "./user-error.server.ts";

/** Room for one file. Releasing it twice does no harm. */
export type TransferSlot = { release: () => void };

/** Files on their way by account or network. */
const slotCounts = new Map<string, number>();
/**
 * Bytes reserved: for all uploads, for those without an account (at most half, which no single address can fill), and for
 * what is sent.
 */
const reservedBytes = { uploads: 0, visitors: 0, downloads: 0 };

/** When to try again: a small file has arrived by then. In seconds. */
const retrySeconds = 60;

/**
 * Reserves room for the upload of a request, counted for its account or else its network; or says why there is none.
 * Reserves the Content-Length before the body is read, or the `size` that is put together from parts. The caller has to
 * release it in every case.
 */
export function acquireUploadSlot(
  request: Request,
  context: Readonly<RouterContextProvider>,
  account: string | undefined,
  size?: number,
): TransferSlot | UserError {
  const { hasVisitorIps: addressesTold, limits } = env();
  const { uploadsPerClient, uploadsPerAddress, uploadBytes, fileBytes, formBytes } = limits;
  const owner = account ? `account ${account}` : `network ${getNetwork(readIpAddress(request))}`;
  const most = fileBytes + formBytes;
  const bytes = Math.min(size ?? Number(request.headers.get("Content-Length") ?? most), most);
  // Where all visitors seem to come from one address, a few uploads would lock out the others.
  const perAddress = addressesTold ? uploadsPerAddress : Number.POSITIVE_INFINITY;
  if ((slotCounts.get(owner) ?? 0) >= (account ? uploadsPerClient : perAddress)) {
    const whose = account ? "Your other files are still on their way." : "Too many files come from your network.";
    return noSlotError(context, account ? "uploads of one client" : "uploads of one address", whose, 429);
  }
  const isFull =
    reservedBytes.uploads + bytes > uploadBytes || (!account && reservedBytes.visitors + bytes > uploadBytes / 2);
  if (isFull) return noSlotError(context, "uploads", "Too many files are on their way to us.", 503);
  return createSlot(owner, bytes, account ? ["uploads"] : ["uploads", "visitors"]);
}

/** Stored files that one account is sent at once: a clerk opens several beside each other. */
const maxParallelDownloads = 6;

/**
 * Reserves room to send a stored file, which is in memory until its reader has all of it; or says why there is none. The
 * caller has to release it in every case.
 */
export function acquireDownloadSlot(
  context: Readonly<RouterContextProvider>,
  account: string,
): TransferSlot | UserError {
  const { uploadBytes, fileBytes } = env().limits;
  const owner = `reader ${account}`;
  if ((slotCounts.get(owner) ?? 0) >= maxParallelDownloads)
    return noSlotError(context, "downloads of one client", "Your other files are still on their way to you.", 429);
  if (reservedBytes.downloads + fileBytes > uploadBytes)
    return noSlotError(context, "downloads", "We are sending too many files just now.", 503);
  return createSlot(owner, fileBytes, ["downloads"]);
}

function noSlotError(
  context: Readonly<RouterContextProvider>,
  limit: string,
  words: string,
  status: 429 | 503,
): UserError {
  log("warn", "limit", { limit, wait: retrySeconds });
  if (status === 429) getRateLimiter(context).retryAfter = retrySeconds;
  return { reason: `${words} Try again in a minute.`, status };
}

function createSlot(owner: string, bytes: number, rooms: (keyof typeof reservedBytes)[]): TransferSlot {
  slotCounts.set(owner, (slotCounts.get(owner) ?? 0) + 1);
  for (const room of rooms) reservedBytes[room] += bytes;
  let isReleased = false;
  return {
    release() {
      if (isReleased) return;
      isReleased = true;
      const left = (slotCounts.get(owner) ?? 1) - 1;
      if (left > 0) slotCounts.set(owner, left);
      else slotCounts.delete(owner);
      for (const room of rooms) reservedBytes[room] -= bytes;
    },
  };
}
