/**
 * The files a person has chosen, by the id of their document. Module state, not component state: a file survives a new
 * login after the session ended, and an upload survives the revalidation after another one.
 */
import { useSyncExternalStore } from "react";
import { showToast } from "~/components/ui/toast-state";
import { onSignOut } from "~/lib/browser/sign-out";
import { largeFileBytes } from "~/lib/forms/file-size";
import type { Toast } from "~/lib/http/toast";
import { getFileProblem, isLargePhoto } from "~/models/document";
import { sendUploadRequest, type UploadOutcome } from "./upload-request";

export type Upload = {
  /** The file as it was chosen. */
  original: File;
  /** The photo made smaller; null when that did not save enough. */
  shrunkPhoto: File | null;
  isShrinking: boolean;
  /** Whether the person wants the photo sent as it was chosen. */
  sendsOriginal: boolean;
  /** Bytes sent so far; null while it is not on its way. */
  sentBytes: number | null;
  /** Whether the line is gone, and it goes on once that is back. */
  isConnectionLost: boolean;
  /** Why the file was refused or cannot be sent. */
  problem: string | null;
  /** Whether sending the same file again may succeed. */
  canRetry: boolean;
};

const uploads = new Map<string, Upload>();
const listeners = new Set<() => void>();
/** Work in progress by document: the shrinking of its photo, and the controller that cancels its upload. */
const shrinkJobs = new Map<string, Promise<void>>();
const abortControllers = new Map<string, AbortController>();
/** What lets a large file go on where its line broke; null where that does not come, or not within 30 s. */
let resumableUpload: Promise<typeof import("./resumable-upload") | null> | undefined;
async function loadResumableUpload({ size }: File) {
  if (size <= largeFileBytes) return null;
  resumableUpload ??= Promise.race([
    import("./resumable-upload").catch(() => null),
    new Promise<null>((late) => setTimeout(late, 30_000, null)),
  ]);
  const come = await resumableUpload;
  if (!come) resumableUpload = undefined;
  return come;
}

/** Requests in progress. The server takes three files of one account at once: a fourth waits here. */
const activeRequests = new Set<Promise<UploadOutcome>>();

onSignOut(() => {
  for (const id of uploads.keys()) removeUpload(id);
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notifyListeners(): void {
  for (const listener of listeners) listener();
}

/** Changes an upload, if it still exists. */
function updateUpload(id: string, part: Partial<Upload>): void {
  const upload = uploads.get(id);
  if (!upload) return;
  uploads.set(id, { ...upload, ...part });
  notifyListeners();
}

/** The file chosen for a document, or null. */
export function useUpload(id: string): Upload | null {
  return useSyncExternalStore(
    subscribe,
    () => uploads.get(id) ?? null,
    () => null,
  );
}

/** Whether any file is on its way. */
export function useIsSending(): boolean {
  return useSyncExternalStore(subscribe, isSending, () => false);
}

export function isSending(): boolean {
  return abortControllers.size > 0;
}

/** The file that is sent. */
export function getFileToSend({ original, shrunkPhoto, sendsOriginal }: Upload): File {
  return sendsOriginal || !shrunkPhoto ? original : shrunkPhoto;
}

/** Takes the file chosen for a document; a large photo is made smaller meanwhile. Says at once what cannot be sent. */
export function chooseFile(id: string, chosen: File): void {
  if (uploads.get(id)?.original === chosen) return;
  removeUpload(id);
  const isShrinking = isLargePhoto(chosen);
  uploads.set(id, {
    original: chosen,
    isShrinking,
    shrunkPhoto: null,
    sendsOriginal: false,
    sentBytes: null,
    isConnectionLost: false,
    problem: null,
    canRetry: false,
  });
  notifyListeners();
  if (isShrinking) shrinkJobs.set(id, shrinkOriginal(id, chosen));
  else checkFile(id);
}

/** Sends the photo as it was chosen, or made smaller. */
export function setSendsOriginal(id: string, asChosen: boolean): void {
  updateUpload(id, { sendsOriginal: asChosen, problem: null });
  checkFile(id);
}

async function shrinkOriginal(id: string, photo: File): Promise<void> {
  // If the module does not load, or the browser cannot read the photo, it is sent as it is.
  const smaller = await import("./photo-size").then(({ shrinkPhoto: shrunk }) => shrunk(photo)).catch(() => null);
  if (uploads.get(id)?.original !== photo) return;
  updateUpload(id, { shrunkPhoto: smaller, isShrinking: false });
  checkFile(id);
}

/** Whether a file can be sent as far as the browser can tell; the person hears why not. */
function checkFile(id: string): boolean {
  const upload = uploads.get(id);
  const problem = upload ? getFileProblem(getFileToSend(upload)) : null;
  // While there is a line.
  if (upload) void loadResumableUpload(getFileToSend(upload));
  if (problem) showProblem(id, { title: "Upload failed", description: problem, variant: "destructive" }, false);
  return !problem;
}

function showProblem(id: string, toast: Toast, canRetry: boolean): void {
  updateUpload(id, { sentBytes: null, problem: toast.description ?? toast.title, canRetry });
  showToast(toast);
}

/** Sends the file of a document to an address. Null if already being sent, cancelled, or unfit to send. */
export async function sendUpload(id: string, address: string): Promise<UploadOutcome | null> {
  if (abortControllers.has(id)) return null;
  const cancel = new AbortController();
  abortControllers.set(id, cancel);
  updateUpload(id, { sentBytes: 0, isConnectionLost: false, problem: null });
  const answer = await sendWhenFree(id, address, cancel.signal);
  if (abortControllers.get(id) === cancel) abortControllers.delete(id);
  notifyListeners();
  if (cancel.signal.aborted) return null;
  if (answer?.kind === "lost") {
    const description = "The connection was lost. Your file is still here. Try again.";
    showProblem(id, { title: "Upload failed", description, variant: "destructive" }, true);
  }
  if (answer?.kind === "refused") showProblem(id, answer.toast, answer.status >= 429);
  if (answer?.kind === "ended") {
    updateUpload(id, { sentBytes: null, problem: "You were signed out before this file was taken.", canRetry: true });
  }
  return answer;
}

async function sendWhenFree(id: string, address: string, signal: AbortSignal): Promise<UploadOutcome | null> {
  await shrinkJobs.get(id);
  while (activeRequests.size > 2) await Promise.race(activeRequests);
  const upload = uploads.get(id);
  if (!upload || signal.aborted || !checkFile(id)) return null;
  const sent = sendUploadFile(id, getFileToSend(upload), address, signal);
  activeRequests.add(sent);
  void sent.then(() => activeRequests.delete(sent));
  return sent;
}

async function sendUploadFile(id: string, file: File, address: string, signal: AbortSignal): Promise<UploadOutcome> {
  // The row of a cancelled upload may show another one.
  const tell = (bytes: number, isWaiting = false) => {
    if (!signal.aborted) updateUpload(id, { sentBytes: Math.min(bytes, file.size), isConnectionLost: isWaiting });
  };
  const answer = await (await loadResumableUpload(file))?.sendInChunks(
    `${address}/resumable-upload`,
    id,
    file,
    signal,
    tell,
    sendUploadRequest,
  );
  if (answer) return answer;
  const form = new FormData();
  form.append("document", id);
  form.append("file", file);
  return sendUploadRequest(address, form, signal, tell);
}

/** Stops sending; the file is kept. */
export function cancelUpload(id: string): void {
  abortControllers.get(id)?.abort();
  abortControllers.delete(id);
  updateUpload(id, { sentBytes: null });
}

/** Stops everything that is on its way. */
export function cancelAllUploads(): void {
  for (const id of [...abortControllers.keys()]) cancelUpload(id);
}

/** Drops the file of a document, and stops sending it. */
export function removeUpload(id: string): void {
  cancelUpload(id);
  shrinkJobs.delete(id);
  if (uploads.delete(id)) notifyListeners();
}
