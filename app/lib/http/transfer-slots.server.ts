import type { RouterContextProvider } from "react-router";
import { env } from "./env.server.ts";
import { getNetwork, readIpAddress } from "./ip-address.server.ts";
import { log } from "./log.server.ts";
import { transferChannel } from "./metrics.server.ts";
import { getRateLimiter } from "./rate-limiter.server.ts";
import type { UserError } from "./user-error.server.ts";

export type TransferSlot = { release: () => void };

/** Each pool limits the memory for the uploads or downloads of one group of people. */
type Pool = "uploads of clients" | "uploads of visitors" | "downloads of clients" | "downloads of staff";
/** `owner` is an account or a network. */
type SlotRequest = { pool: Pool; owner: string; maxSlots: number; tooManyMessage: string; bytes: number };
type WaitingRequest = SlotRequest & { grant: (slot: TransferSlot | null) => void };

const slotCounts = new Map<string, number>();
const reservedBytes = new Map<Pool, number>();
const waitingRequests = new Map<Pool, WaitingRequest[]>();

const maxWaitMs = 15_000;
const maxWaitingPerPool = 50;
const retrySeconds = 60;

/** Reserves memory for `bytes`, by default the Content-Length of the request. The caller must release the slot. */
export function acquireUploadSlot(
  request: Request,
  context: Readonly<RouterContextProvider>,
  account: string | undefined,
  bytes = Number(request.headers.get("Content-Length") ?? Number.POSITIVE_INFINITY),
  signal = request.signal,
): Promise<TransferSlot | UserError> {
  const { hasVisitorIps, limits } = env();
  const { uploadsPerClient, uploadsPerAddress, fileBytes, formBytes } = limits;
  // If all visitors seem to have one IP address, a limit per IP address would lock out most visitors.
  const perAddress = hasVisitorIps ? uploadsPerAddress : Number.POSITIVE_INFINITY;
  return acquireSlot(signal, context, {
    pool: account ? "uploads of clients" : "uploads of visitors",
    owner: account ? `uploads ${account}` : `uploads ${getNetwork(readIpAddress(request))}`,
    maxSlots: account ? uploadsPerClient : perAddress,
    tooManyMessage: account
      ? "Your other files are still uploading."
      : "Too many files are uploading from your network.",
    bytes: Math.min(bytes, fileBytes + formBytes),
  });
}

const maxParallelDownloads = 6;
/** During a download, one piece of the file is in memory, and for a moment also the next piece. */
export const filePieceBytes = 1024 * 1024;
const downloadBytes = 2 * filePieceBytes;

export type Download = {
  name: string;
  mediaType: string;
  size?: number;
  content: AsyncIterable<Uint8Array>;
  isView?: boolean;
};
export type DownloadOwner = {
  account: string;
  group: "clients" | "staff";
  isDataExport?: boolean;
  isWholeFile?: boolean;
};

export function acquireDownloadSlot(
  { signal }: Request,
  context: Readonly<RouterContextProvider>,
  { account, group, isDataExport = false, isWholeFile = false }: DownloadOwner,
): Promise<TransferSlot | UserError> {
  const { fileBytes, formBytes } = env().limits;
  return acquireSlot(signal, context, {
    pool: `downloads of ${group}`,
    owner: `${isDataExport ? "data export" : "downloads"} ${account}`,
    maxSlots: isDataExport ? 1 : maxParallelDownloads,
    tooManyMessage: isDataExport ? "Your data is already downloading." : "Your other files are still downloading.",
    bytes: isWholeFile ? fileBytes : Math.min(downloadBytes, fileBytes + formBytes),
  });
}

async function acquireSlot(signal: AbortSignal, context: Readonly<RouterContextProvider>, request: SlotRequest) {
  const { owner, pool, maxSlots, tooManyMessage } = request;
  const waiting = getQueue(pool).filter((other) => other.owner === owner).length;
  if (countSlots(owner) + waiting >= maxSlots) {
    getRateLimiter(context).retryAfter = retrySeconds;
    return noSlotError(`${pool} by one sender`, tooManyMessage, 429);
  }
  const slot = await waitForSlot(request, signal);
  const action = pool.startsWith("uploads") ? "uploading" : "downloading";
  return slot ?? noSlotError(pool, `Too many files are ${action} at the moment.`, 503);
}

function waitForSlot(request: SlotRequest, signal: AbortSignal): Promise<TransferSlot | null> {
  const { pool } = request;
  const queue = getQueue(pool);
  if (signal.aborted || queue.length >= maxWaitingPerPool) return Promise.resolve(null);
  return new Promise((resolve) => {
    const stop = () => {
      queue.splice(queue.indexOf(waiting), 1);
      waiting.grant(null);
      grantSlots(pool);
    };
    const timer = setTimeout(stop, maxWaitMs);
    const waiting: WaitingRequest = {
      ...request,
      grant(slot) {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        resolve(slot);
      },
    };
    signal.addEventListener("abort", stop);
    queue.push(waiting);
    grantSlots(pool);
  });
}

function getQueue(pool: Pool): WaitingRequest[] {
  const queue = waitingRequests.get(pool) ?? [];
  waitingRequests.set(pool, queue);
  return queue;
}

function grantSlots(pool: Pool): void {
  const queue = getQueue(pool);
  while (queue.length > 0) {
    const next = queue.reduce((best, other) => (countSlots(other.owner) < countSlots(best.owner) ? other : best));
    if (!hasSpace(next)) return;
    queue.splice(queue.indexOf(next), 1);
    next.grant(createSlot(next));
  }
}

/** Half of the memory is reserved for owners without a running transfer, so that a few owners cannot block others. */
function hasSpace({ pool, owner, bytes }: SlotRequest): boolean {
  const poolBytes = env().limits.uploadBytes / 2;
  return (reservedBytes.get(pool) ?? 0) + bytes <= (countSlots(owner) > 0 ? poolBytes / 2 : poolBytes);
}

const countSlots = (owner: string) => slotCounts.get(owner) ?? 0;

function noSlotError(limit: string, message: string, status: 429 | 503): UserError {
  log("warn", "limit", { limit, wait: retrySeconds });
  return { reason: `${message} Try again in a minute.`, status };
}

function createSlot({ pool, owner, bytes }: SlotRequest): TransferSlot {
  const kind = pool.startsWith("uploads") ? "uploads" : "downloads";
  const count = (change: 1 | -1) => {
    slotCounts.set(owner, countSlots(owner) + change);
    if (countSlots(owner) === 0) slotCounts.delete(owner);
    reservedBytes.set(pool, (reservedBytes.get(pool) ?? 0) + change * bytes);
    transferChannel.publish({ kind, change });
  };
  count(1);
  let isReleased = false;
  return {
    release() {
      if (isReleased) return;
      isReleased = true;
      count(-1);
      grantSlots(pool);
    },
  };
}
