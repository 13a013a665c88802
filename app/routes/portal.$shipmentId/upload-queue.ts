/** Stores the chosen file of each document. Unlike component state, module state survives a new login. */
import { useSyncExternalStore } from "react";
import { showToast } from "~/components/ui/toast-state";
import { fileChangedError, isReadable } from "~/lib/browser/connection";
import { largeFileBytes } from "~/lib/forms/file-size";
import type { Toast } from "~/lib/http/toast";
import { getFileProblem, isLargePhoto } from "~/models/document";
import { sendUploadRequest, type UploadOutcome } from "./upload-request";

export type Upload = {
  original: File;
  /** Null if the file is not a large photo, or if shrinking saves too few bytes. */
  shrunkPhoto: File | null;
  isShrinking: boolean;
  sendsOriginal: boolean;
  /** Null while the file is not being sent. */
  sentBytes: number | null;
  isConnectionLost: boolean;
  /** The reason why the file was rejected or cannot be sent. */
  problem: string | null;
  /** True if sending the same file again may succeed. */
  canRetry: boolean;
};

const uploads = new Map<string, Upload>();
const listeners = new Set<() => void>();
const shrinkJobs = new Map<string, Promise<void>>();
const abortControllers = new Map<string, AbortController>();
/** Resolves to null if the browser cannot load the module within 30 s. */
let resumableUpload: Promise<typeof import("./resumable-upload") | null> | undefined;
async function loadResumableUpload({ size }: File) {
  if (size <= largeFileBytes) return null;
  resumableUpload ??= Promise.race([
    import("./resumable-upload").catch(() => null),
    new Promise<null>((resolve) => setTimeout(resolve, 30_000, null)),
  ]);
  const module = await resumableUpload;
  if (!module) resumableUpload = undefined;
  return module;
}

/** Contains at most three uploads, because the server accepts three parallel uploads per account. */
const activeRequests = new Set<Promise<UploadOutcome>>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notifyListeners(): void {
  for (const listener of listeners) listener();
}

function updateUpload(id: string, part: Partial<Upload>): void {
  const upload = uploads.get(id);
  if (!upload) return;
  uploads.set(id, { ...upload, ...part });
  notifyListeners();
}

export function useUpload(id: string): Upload | null {
  return useSyncExternalStore(
    subscribe,
    () => uploads.get(id) ?? null,
    () => null,
  );
}

/** Returns the problem of each document's chosen file. Null means no problem. Documents without a file have no entry. */
export function useUploadProblems(ids: string[]): ReadonlyMap<string, string | null> {
  const readProblems = () =>
    JSON.stringify(ids.flatMap((id) => (uploads.has(id) ? [[id, uploads.get(id)?.problem]] : [])));
  const entries = useSyncExternalStore(subscribe, readProblems, () => "[]");
  return new Map(JSON.parse(entries) as [string, string | null][]);
}

export function useIsSending(): boolean {
  return useSyncExternalStore(subscribe, isSending, () => false);
}

export function isSending(): boolean {
  return abortControllers.size > 0;
}

export function getFileToSend({ original, shrunkPhoto, sendsOriginal }: Upload): File {
  return sendsOriginal || !shrunkPhoto ? original : shrunkPhoto;
}

/** Stores the chosen file, and starts to shrink a large photo. For other files, shows a problem immediately. */
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

export function setSendsOriginal(id: string, sendsOriginal: boolean): void {
  updateUpload(id, { sendsOriginal, problem: null });
  checkFile(id);
}

async function shrinkOriginal(id: string, photo: File): Promise<void> {
  // The browser sends the original if the module does not load or the photo is unreadable.
  const shrunkPhoto = await import("./photo-size").then(({ shrinkPhoto }) => shrinkPhoto(photo)).catch(() => null);
  if (uploads.get(id)?.original !== photo) return;
  updateUpload(id, { shrunkPhoto, isShrinking: false });
  checkFile(id);
}

/** Returns true if the file can be sent. Otherwise shows why the file cannot be sent. */
function checkFile(id: string): boolean {
  const upload = uploads.get(id);
  const problem = upload ? getFileProblem(getFileToSend(upload)) : null;
  // Loads the module for large files before the upload, because the connection may be lost later.
  if (upload) void loadResumableUpload(getFileToSend(upload));
  if (problem) showProblem(id, { title: "Upload failed", description: problem, variant: "destructive" }, false);
  return !problem;
}

function showProblem(id: string, toast: Toast, canRetry: boolean): void {
  updateUpload(id, { sentBytes: null, problem: toast.description ?? toast.title, canRetry });
  showToast(toast);
}

/** Returns null if the upload is already running, was cancelled or did not start because of a problem with the file. */
export async function sendUpload(id: string, address: string): Promise<UploadOutcome | null> {
  if (abortControllers.has(id)) return null;
  const cancel = new AbortController();
  abortControllers.set(id, cancel);
  updateUpload(id, { sentBytes: 0, isConnectionLost: false, problem: null });
  const outcome = await sendWhenFree(id, address, cancel.signal);
  if (abortControllers.get(id) === cancel) abortControllers.delete(id);
  notifyListeners();
  if (cancel.signal.aborted) return null;
  if (outcome?.kind === "lost") {
    const description = "The connection was lost. Your file is still selected. Try again.";
    showProblem(id, { title: "Upload failed", description, variant: "destructive" }, true);
  }
  if (outcome?.kind === "rejected") showProblem(id, outcome.toast, outcome.status >= 429);
  if (outcome?.kind === "ended") {
    updateUpload(id, {
      sentBytes: null,
      problem: "You were signed out before the upload finished. Try again.",
      canRetry: true,
    });
  }
  return outcome;
}

async function sendWhenFree(id: string, address: string, signal: AbortSignal): Promise<UploadOutcome | null> {
  await shrinkJobs.get(id);
  while (activeRequests.size > 2) await Promise.race(activeRequests);
  const upload = uploads.get(id);
  if (!upload || signal.aborted || !checkFile(id)) return null;
  const request = sendUploadFile(id, getFileToSend(upload), address, signal);
  activeRequests.add(request);
  void request.then(() => activeRequests.delete(request));
  return request;
}

async function sendUploadFile(id: string, file: File, address: string, signal: AbortSignal): Promise<UploadOutcome> {
  const toast = { title: "Upload failed", description: fileChangedError, variant: "destructive" } as const;
  const fileChanged = { kind: "rejected", status: 400, toast } as const;
  if (!(await isReadable(file))) return fileChanged;
  // A cancelled upload reports no progress, because the document may already have a new upload.
  const reportProgress = (bytes: number, isConnectionLost = false) => {
    if (!signal.aborted) updateUpload(id, { sentBytes: Math.min(bytes, file.size), isConnectionLost });
  };
  let outcome = await (await loadResumableUpload(file))?.sendInChunks(
    `${address}/resumable-upload`,
    id,
    file,
    signal,
    reportProgress,
    sendUploadRequest,
  );
  if (!outcome) {
    const form = new FormData();
    form.append("document", id);
    form.append("file", file);
    outcome = await sendUploadRequest(address, form, signal, reportProgress);
  }
  return outcome.kind !== "lost" || (await isReadable(file)) ? outcome : fileChanged;
}

/** Stops the upload. The file stays chosen, so that the client can send the file again. */
export function cancelUpload(id: string): void {
  abortControllers.get(id)?.abort();
  abortControllers.delete(id);
  updateUpload(id, { sentBytes: null });
}

export function cancelAllUploads(): void {
  for (const id of [...abortControllers.keys()]) cancelUpload(id);
}

/** Stops the upload and discards the chosen file. */
export function removeUpload(id: string): void {
  cancelUpload(id);
  shrinkJobs.delete(id);
  if (uploads.delete(id)) notifyListeners();
}
