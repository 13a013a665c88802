/**
 * Sends a large file, and resumes the upload after a lost connection. Browsers load this module on demand. An import of
 * a page's module would make the bundler put that module into a separate file.
 */
import type { sendUploadRequest, UploadOutcome } from "./upload-request";

type ReportProgress = (sentBytes: number, isConnectionLost: boolean) => void;

const stallTimeoutMs = 30_000;
const minRetryDelayMs = 1000;
const maxRetryDelayMs = 8000;
/** Requests shrink to this size if the server receives nothing. Some proxies forward only complete requests. */
const minRequestBytes = 256 * 1024;

const chunkMediaType = "application/octet-stream";

/**
 * Retries until the file is stored or rejected, the session ends, the file is unreadable or the signal is aborted.
 * Returns null if the browser has no `crypto.subtle`, which needs HTTPS.
 */
export async function sendInChunks(
  address: string,
  document: string,
  file: File,
  signal: AbortSignal,
  reportProgress: ReportProgress,
  send: typeof sendUploadRequest,
): Promise<UploadOutcome | null> {
  if (!crypto.subtle) return null;
  const content = await readBytes(file);
  if (!content) return { kind: "lost" };
  const sha256 = toHex(await crypto.subtle.digest("SHA-256", content));
  const description = { document, name: file.name, size: String(file.size), sha256 };
  let retryDelayMs = minRetryDelayMs;
  let requestSize = file.size;
  let storedBytes = 0;
  let requestBytes = 0;
  const request = (part: Blob | null, more: Record<string, string> = {}) =>
    // An empty chunk asks the server to store the file. The timeout of this request is in upload-request.ts.
    abortOnStall(signal, part?.size !== 0, (requestSignal, restartTimer) =>
      send(
        address,
        part,
        requestSignal,
        (bytes) => {
          requestBytes = bytes;
          reportProgress(storedBytes + requestBytes, false);
          restartTimer(requestBytes < (part?.size ?? 0));
        },
        new URLSearchParams({ ...description, ...more }).toString(),
      ),
    );
  for (;;) {
    let outcome = await request(null);
    if (outcome.kind === "incomplete" && outcome.storedBytes > storedBytes) retryDelayMs = minRetryDelayMs;
    else if (outcome.kind === "incomplete" && requestBytes > minRequestBytes)
      requestSize = Math.max(minRequestBytes, Math.ceil(requestBytes / 2));
    while (outcome.kind === "incomplete") {
      storedBytes = outcome.storedBytes;
      requestBytes = 0;
      reportProgress(storedBytes, false);
      const part = file.slice(storedBytes, storedBytes + requestSize, chunkMediaType);
      // A request without `from` asks the server to store the complete file.
      outcome = await request(part, storedBytes === file.size ? {} : { from: String(storedBytes) });
      if (outcome.kind === "incomplete" && outcome.storedBytes <= storedBytes) outcome = { kind: "lost" };
    }
    if (outcome.kind !== "lost" || signal.aborted) return outcome;
    if (!(await readBytes(file.slice(storedBytes, storedBytes + 1)))) return outcome;
    reportProgress(storedBytes + requestBytes, true);
    await waitForConnection(retryDelayMs, signal);
    retryDelayMs = Math.min(2 * retryDelayMs, maxRetryDelayMs);
  }
}

/** Aborts the request when the browser goes offline. If `isTimed` is true, also aborts after 30 s without progress. */
async function abortOnStall(
  signal: AbortSignal,
  isTimed: boolean,
  run: (requestSignal: AbortSignal, restartTimer: (isTimed: boolean) => void) => Promise<UploadOutcome>,
): Promise<UploadOutcome> {
  if (signal.aborted) return { kind: "lost" };
  const controller = new AbortController();
  const listeners = new AbortController();
  const abort = () => controller.abort();
  let timer = 0;
  const restartTimer = (isTimed: boolean) => {
    clearTimeout(timer);
    if (isTimed) timer = window.setTimeout(abort, stallTimeoutMs);
  };
  signal.addEventListener("abort", abort, { signal: listeners.signal });
  addEventListener("offline", abort, { signal: listeners.signal });
  restartTimer(isTimed);
  const outcome = await run(controller.signal, restartTimer);
  clearTimeout(timer);
  listeners.abort();
  return outcome;
}

/** Waits until the delay (in milliseconds) has passed, the browser is online again or the signal is aborted. */
function waitForConnection(delay: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const listeners = new AbortController();
    const end = () => {
      listeners.abort();
      resolve();
    };
    setTimeout(end, delay);
    signal.addEventListener("abort", end, { signal: listeners.signal });
    addEventListener("online", end, { signal: listeners.signal });
  });
}

function readBytes(file: Blob): Promise<ArrayBuffer | null> {
  return file.arrayBuffer().catch(() => null);
}

function toHex(hash: ArrayBuffer): string {
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
