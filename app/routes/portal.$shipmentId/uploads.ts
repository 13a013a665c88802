/**
 * The files a person has chosen, by the id of their document. Module state, not component state: a file survives a new
 * login after the session ended, and an upload survives the revalidation after another one.
 */
import { useSyncExternalStore } from "react";
import { showToast } from "~/components/flash";
import { largeFile } from "~/lib/file-size";
import type { Toast } from "~/lib/flash";
import { atSignOut } from "~/lib/signed-out";
import { fileProblem, isLargePhoto } from "~/models/document";
import { type Answer, post } from "./post";

export type Upload = {
  /** The file as it was chosen. */
  chosen: File;
  /** The photo made smaller; null when that did not save enough. */
  smaller: File | null;
  isShrinking: boolean;
  /** Whether the person wants the photo sent as it was chosen. */
  asChosen: boolean;
  /** Bytes sent so far; null while it is not on its way. */
  sent: number | null;
  /** Whether the line is gone, and it goes on once that is back. */
  isWaiting: boolean;
  /** Why the file was refused or cannot be sent. */
  problem: string | null;
  /** Whether sending the same file again may succeed. */
  canRetry: boolean;
};

const uploads = new Map<string, Upload>();
const listeners = new Set<() => void>();
/** Work in progress by document: the shrinking of its photo, and the controller that cancels its upload. */
const shrinks = new Map<string, Promise<void>>();
const cancels = new Map<string, AbortController>();
/** What lets a large file go on where its line broke; null where that does not come, or not within 30 s. */
let parts: Promise<typeof import("./parts") | null> | undefined;
async function partsFor({ size }: File) {
  if (size <= largeFile) return null;
  parts ??= Promise.race([
    import("./parts").catch(() => null),
    new Promise<null>((late) => setTimeout(late, 30_000, null)),
  ]);
  const come = await parts;
  if (!come) parts = undefined;
  return come;
}

/** Requests in progress. The server takes three files of one account at once: a fourth waits here. */
const posts = new Set<Promise<Answer>>();

atSignOut(() => {
  for (const id of uploads.keys()) forget(id);
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function changed(): void {
  for (const listener of listeners) listener();
}

/** Changes an upload, if it still exists. */
function change(id: string, part: Partial<Upload>): void {
  const upload = uploads.get(id);
  if (!upload) return;
  uploads.set(id, { ...upload, ...part });
  changed();
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
  return cancels.size > 0;
}

/** The file that is sent. */
export function fileOf({ chosen, smaller, asChosen }: Upload): File {
  return asChosen || !smaller ? chosen : smaller;
}

/** Takes the file chosen for a document; a large photo is made smaller meanwhile. Says at once what cannot be sent. */
export function choose(id: string, chosen: File): void {
  if (uploads.get(id)?.chosen === chosen) return;
  forget(id);
  const isShrinking = isLargePhoto(chosen);
  const none = { smaller: null, asChosen: false, sent: null, isWaiting: false, problem: null, canRetry: false };
  uploads.set(id, { chosen, isShrinking, ...none });
  changed();
  if (isShrinking) shrinks.set(id, shrink(id, chosen));
  else judge(id);
}

/** Sends the photo as it was chosen, or made smaller. */
export function chooseOriginal(id: string, asChosen: boolean): void {
  change(id, { asChosen, problem: null });
  judge(id);
}

async function shrink(id: string, photo: File): Promise<void> {
  // If the module does not load, or the browser cannot read the photo, it is sent as it is.
  const smaller = await import("./shrink").then(({ shrunk }) => shrunk(photo)).catch(() => null);
  if (uploads.get(id)?.chosen !== photo) return;
  change(id, { smaller, isShrinking: false });
  judge(id);
}

/** Whether a file can be sent as far as the browser can tell; the person hears why not. */
function judge(id: string): boolean {
  const upload = uploads.get(id);
  const problem = upload ? fileProblem(fileOf(upload)) : null;
  // While there is a line.
  if (upload) void partsFor(fileOf(upload));
  if (problem) showProblem(id, { title: "Upload failed", description: problem, variant: "destructive" }, false);
  return !problem;
}

function showProblem(id: string, toast: Toast, canRetry: boolean): void {
  change(id, { sent: null, problem: toast.description ?? toast.title, canRetry });
  showToast(toast);
}

/** Sends the file of a document to an address. Null if already being sent, cancelled, or unfit to send. */
export async function send(id: string, address: string): Promise<Answer | null> {
  if (cancels.has(id)) return null;
  const cancel = new AbortController();
  cancels.set(id, cancel);
  change(id, { sent: 0, isWaiting: false, problem: null });
  const answer = await run(id, address, cancel.signal);
  if (cancels.get(id) === cancel) cancels.delete(id);
  changed();
  if (cancel.signal.aborted) return null;
  if (answer?.kind === "lost") {
    const description = "The connection was lost. Your file is still here. Try again.";
    showProblem(id, { title: "Upload failed", description, variant: "destructive" }, true);
  }
  if (answer?.kind === "refused") showProblem(id, answer.toast, answer.status >= 429);
  if (answer?.kind === "ended") {
    change(id, { sent: null, problem: "You were signed out before this file was taken.", canRetry: true });
  }
  return answer;
}

async function run(id: string, address: string, signal: AbortSignal): Promise<Answer | null> {
  await shrinks.get(id);
  while (posts.size > 2) await Promise.race(posts);
  const upload = uploads.get(id);
  if (!upload || signal.aborted || !judge(id)) return null;
  const sent = sendFile(id, fileOf(upload), address, signal);
  posts.add(sent);
  void sent.then(() => posts.delete(sent));
  return sent;
}

async function sendFile(id: string, file: File, address: string, signal: AbortSignal): Promise<Answer> {
  // The row of a cancelled upload may show another one.
  const tell = (bytes: number, isWaiting = false) => {
    if (!signal.aborted) change(id, { sent: Math.min(bytes, file.size), isWaiting });
  };
  const answer = await (await partsFor(file))?.sendInParts(`${address}/parts`, id, file, signal, tell, post);
  if (answer) return answer;
  const form = new FormData();
  form.append("document", id);
  form.append("file", file);
  return post(address, form, signal, tell);
}

/** Stops sending; the file is kept. */
export function cancel(id: string): void {
  cancels.get(id)?.abort();
  cancels.delete(id);
  change(id, { sent: null });
}

/** Stops everything that is on its way. */
export function cancelAll(): void {
  for (const id of [...cancels.keys()]) cancel(id);
}

/** Drops the file of a document, and stops sending it. */
export function forget(id: string): void {
  cancel(id);
  shrinks.delete(id);
  if (uploads.delete(id)) changed();
}
