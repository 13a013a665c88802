/**
 * Sends a large file so that it goes on where its line broke. Loaded when such a file is chosen, so it takes what it needs
 * and imports no module of the page.
 */
import type { sendUploadRequest, UploadOutcome } from "./upload-request";

/** How far it is: bytes that have gone, and whether the line is gone. */
type ReportProgress = (sent: number, isWaiting: boolean) => void;

/** In milliseconds: how long nothing goes before the line counts as gone, the first pause before it is tried again, and the longest. */
const stallTimeout = 30_000;
const minRetryDelay = 1000;
const maxRetryDelay = 8000;
/** In bytes. What a proxy holds back until it has all of it arrives only in requests short enough for the line. */
const minChunkSize = 256 * 1024;

const chunkMediaType = "application/octet-stream";

/** What is said of a file that was moved, changed or deleted after it was chosen, or whose device is gone. */
const unreadableFileOutcome: UploadOutcome = {
  kind: "refused",
  status: 400,
  toast: {
    title: "Upload failed",
    description: "Your device no longer gives this file out. Choose it again.",
    variant: "destructive",
  },
};

/**
 * Sends the file of a document to an address that keeps what arrives: asks how much is there, sends the rest, and when the
 * line breaks waits and begins again with the question. Never answers "lost" before the signal is aborted; null where the
 * browser cannot do it.
 */
export async function sendInChunks(
  address: string,
  document: string,
  file: File,
  signal: AbortSignal,
  tell: ReportProgress,
  send: typeof sendUploadRequest,
): Promise<UploadOutcome | null> {
  // Not there where a page comes without https.
  if (!crypto.subtle) return null;
  const content = await readBytes(file);
  if (!content) return unreadableFileOutcome;
  const sha256 = toHex(await crypto.subtle.digest("SHA-256", content));
  const said = { document, name: file.name, size: String(file.size), sha256 };
  let pause = minRetryDelay;
  let most = file.size;
  let there = 0;
  let gone = 0;
  const ask = (part: Blob | null, more: Record<string, string> = {}) =>
    // Storing the file takes longer, and has its own limit.
    abortOnStall(signal, part?.size !== 0, (line, stands) =>
      send(
        address,
        part,
        line,
        (bytes) => {
          gone = bytes;
          tell(there + gone, false);
          stands(gone < (part?.size ?? 0));
        },
        new URLSearchParams({ ...said, ...more }).toString(),
      ),
    );
  for (;;) {
    let answer = await ask(null);
    if (answer.kind === "there" && answer.there > there) pause = minRetryDelay;
    else if (answer.kind === "there" && gone > minChunkSize) most = Math.max(minChunkSize, Math.ceil(gone / 2));
    while (answer.kind === "there") {
      there = answer.there;
      gone = 0;
      tell(there, false);
      // All there: a request without bytes asks for the file to be taken.
      const isWhole = there === file.size;
      answer = await ask(file.slice(there, there + most, chunkMediaType), isWhole ? {} : { from: String(there) });
      if (answer.kind === "there" && answer.there <= there) answer = { kind: "lost" };
    }
    if (answer.kind !== "lost" || signal.aborted) return answer;
    if (!(await readBytes(file.slice(there, there + 1)))) return unreadableFileOutcome;
    tell(there + gone, true);
    await waitForConnection(pause, signal);
    pause = Math.min(2 * pause, maxRetryDelay);
  }
}

/**
 * Does something that ends at once when the browser says that the line is gone, or, while it is `watched`, when it does not say
 * in time that it goes on, and whether it is watched still. Does nothing once the signal is aborted.
 */
async function abortOnStall(
  signal: AbortSignal,
  watched: boolean,
  act: (line: AbortSignal, stands: (watched: boolean) => void) => Promise<UploadOutcome>,
): Promise<UploadOutcome> {
  if (signal.aborted) return { kind: "lost" };
  const line = new AbortController();
  const end = () => line.abort();
  let timer = 0;
  signal.addEventListener("abort", end);
  addEventListener("offline", end);
  const stands = (watched: boolean) => {
    clearTimeout(timer);
    if (watched) timer = window.setTimeout(end, stallTimeout);
  };
  stands(watched);
  const answer = await act(line.signal, stands);
  clearTimeout(timer);
  signal.removeEventListener("abort", end);
  removeEventListener("offline", end);
  return answer;
}

/** Waits for a pause, or until the browser says that the line is back, or the signal is aborted. */
function waitForConnection(pause: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      removeEventListener("online", end);
      resolve();
    };
    const timer = setTimeout(end, pause);
    signal.addEventListener("abort", end);
    addEventListener("online", end);
  });
}

/** What a file has; null where it cannot be read (any more). */
function readBytes(file: Blob): Promise<ArrayBuffer | null> {
  return file.arrayBuffer().catch(() => null);
}

function toHex(hash: ArrayBuffer): string {
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
