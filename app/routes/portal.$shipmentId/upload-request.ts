/** Sends a file by XMLHttpRequest: `fetch` reports no upload progress. */
import type { Toast } from "~/lib/http/toast";

/**
 * The outcome: the file is stored; so many bytes of it are there; it was refused; the session is over and the person has
 * to go to `login`; or no answer of ours came.
 */
export type UploadOutcome =
  | { kind: "there"; there: number }
  | { kind: "stored"; toast: Toast }
  | { kind: "refused"; toast: Toast; status: number }
  | { kind: "ended"; login: string }
  | { kind: "lost" };

/** Time without progress after which the connection counts as lost, in milliseconds; storing a file takes less. */
const stallTimeout = 90_000;

/**
 * Posts a form, or part of a file that the header `about` tells of, to an address that answers `{ toast }` or `{ there }`;
 * asks it when there is nothing to post. `onSent` hears the bytes sent so far, a form's own included. Once the signal is
 * aborted nothing is sent, and the answer is "lost".
 */
export function sendUploadRequest(
  address: string,
  body: FormData | Blob | null,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
  about?: string,
): Promise<UploadOutcome> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ kind: "lost" });
    const request = new XMLHttpRequest();
    let timer = 0;
    const wait = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => request.abort(), stallTimeout);
    };
    const end = (answer: UploadOutcome) => {
      clearTimeout(timer);
      resolve(answer);
    };
    request.upload.addEventListener("progress", ({ loaded }) => {
      wait();
      onSent(loaded);
    });
    request.addEventListener("load", () => end(readOutcome(request)));
    for (const event of ["error", "abort"]) request.addEventListener(event, () => end({ kind: "lost" }));
    signal.addEventListener("abort", () => request.abort());
    request.open(body ? "POST" : "GET", address);
    request.setRequestHeader("Accept", "application/json");
    if (about) request.setRequestHeader("Upload", about);
    wait();
    request.send(body);
  });
}

function readOutcome({ responseURL, responseText, status }: XMLHttpRequest): UploadOutcome {
  const { pathname } = new URL(responseURL);
  // XMLHttpRequest follows redirects: without a session it ends at /login or /login/verify.
  if (pathname.startsWith("/login")) return { kind: "ended", login: pathname };
  try {
    const { toast, there } = JSON.parse(responseText) as { toast: Toast; there?: number };
    if (there !== undefined) return { kind: "there", there };
    if (toast.title) return status === 200 ? { kind: "stored", toast } : { kind: "refused", toast, status };
  } catch {
    // Not our JSON: a proxy answered in our place.
  }
  return { kind: "lost" };
}
