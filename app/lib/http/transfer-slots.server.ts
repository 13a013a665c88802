import type { RouterContextProvider } from "react-router";
import { env } from "./env.server.ts";
import { getNetwork, readIpAddress } from "./ip-address.server.ts";
import { log } from "./log.server.ts";
import { transferChannel } from "./metrics.server.ts";
import { getRateLimiter } from "./rate-limiter.server.ts";
import type { UserError } from "./user-error.server.ts";

export type TransferSlot = { release: () => void };

const slotCounts = new Map<string, number>();
/** Uploads of visitors without an account count in both `uploads` and `visitors`. */
const reservedBytes = { uploads: 0, visitors: 0, downloads: 0 };

const retrySeconds = 60;

/** Reserves memory for the Content-Length, or the `size` of a resumable upload. The caller must release the slot. */
export function acquireUploadSlot(
  request: Request,
  context: Readonly<RouterContextProvider>,
  account: string | undefined,
  size?: number,
): TransferSlot | UserError {
  const { hasVisitorIps, limits } = env();
  const { uploadsPerClient, uploadsPerAddress, uploadBytes, fileBytes, formBytes } = limits;
  const owner = account ? `account ${account}` : `network ${getNetwork(readIpAddress(request))}`;
  const maxBytes = fileBytes + formBytes;
  const bytes = Math.min(size ?? Number(request.headers.get("Content-Length") ?? maxBytes), maxBytes);
  // If all visitors seem to have one IP address, a limit per IP address would lock out most visitors.
  const perAddress = hasVisitorIps ? uploadsPerAddress : Number.POSITIVE_INFINITY;
  if ((slotCounts.get(owner) ?? 0) >= (account ? uploadsPerClient : perAddress)) {
    const message = account
      ? "Your other files are still uploading."
      : "Too many files are uploading from your network.";
    return noSlotError(context, account ? "uploads of one client" : "uploads of one IP address", message, 429);
  }
  const isFull =
    reservedBytes.uploads + bytes > uploadBytes || (!account && reservedBytes.visitors + bytes > uploadBytes / 2);
  if (isFull) return noSlotError(context, "uploads", "Too many files are uploading at the moment.", 503);
  return createSlot(owner, bytes, account ? ["uploads"] : ["uploads", "visitors"]);
}

const maxParallelDownloads = 6;

export function acquireDownloadSlot(
  context: Readonly<RouterContextProvider>,
  account: string,
): TransferSlot | UserError {
  const { uploadBytes, fileBytes } = env().limits;
  const owner = `reader ${account}`;
  if ((slotCounts.get(owner) ?? 0) >= maxParallelDownloads)
    return noSlotError(context, "downloads of one client", "Your other files are still downloading.", 429);
  if (reservedBytes.downloads + fileBytes > uploadBytes)
    return noSlotError(context, "downloads", "Too many files are downloading at the moment.", 503);
  return createSlot(owner, fileBytes, ["downloads"]);
}

function noSlotError(
  context: Readonly<RouterContextProvider>,
  limit: string,
  message: string,
  status: 429 | 503,
): UserError {
  log("warn", "limit", { limit, wait: retrySeconds });
  if (status === 429) getRateLimiter(context).retryAfter = retrySeconds;
  return { reason: `${message} Try again in a minute.`, status };
}

function createSlot(owner: string, bytes: number, pools: (keyof typeof reservedBytes)[]): TransferSlot {
  slotCounts.set(owner, (slotCounts.get(owner) ?? 0) + 1);
  for (const pool of pools) reservedBytes[pool] += bytes;
  const kind = pools.includes("downloads") ? "downloads" : "uploads";
  transferChannel.publish({ kind, change: 1 });
  let isReleased = false;
  return {
    release() {
      if (isReleased) return;
      isReleased = true;
      const remaining = (slotCounts.get(owner) ?? 1) - 1;
      if (remaining > 0) slotCounts.set(owner, remaining);
      else slotCounts.delete(owner);
      for (const pool of pools) reservedBytes[pool] -= bytes;
      transferChannel.publish({ kind, change: -1 });
    },
  };
}
