/** Sends a file with XMLHttpRequest, because `fetch` reports no upload progress. */
import { leaveOtherAccount } from "~/lib/browser/account";
import type { Toast } from "~/lib/http/toast";

/** "incomplete": the server has part of the file. "ended": the session has ended. "lost": the site did not respond. */
export type UploadOutcome =
  | { kind: "incomplete"; storedBytes: number }
  | { kind: "stored"; toast: Toast }
  | { kind: "rejected"; toast: Toast; status: number }
  | { kind: "ended"; login: string }
  | { kind: "lost" };

/** The maximum time without progress. This time is longer than the server needs to store a complete file. */
const stallTimeoutMs = 90_000;

/** Sends a GET request if `body` is null. `onSent` receives the number of sent bytes, including form boundaries. */
export function sendUploadRequest(
  address: string,
  body: FormData | Blob | null,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
  uploadHeader?: string,
): Promise<UploadOutcome> {
  return new Promise((resolve) => {
    if (signal.aborted || leaveOtherAccount("/login")) return resolve({ kind: "lost" });
    const request = new XMLHttpRequest();
    let timer = 0;
    const restartTimer = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => request.abort(), stallTimeoutMs);
    };
    const end = (outcome: UploadOutcome) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    request.upload.addEventListener("progress", ({ loaded }) => {
      restartTimer();
      onSent(loaded);
    });
    request.addEventListener("load", () => end(readOutcome(request)));
    for (const event of ["error", "abort"]) request.addEventListener(event, () => end({ kind: "lost" }));
    signal.addEventListener("abort", () => request.abort());
    request.open(body ? "POST" : "GET", address);
    request.setRequestHeader("Accept", "application/json");
    if (uploadHeader) request.setRequestHeader("Upload", uploadHeader);
    restartTimer();
    request.send(body);
  });
}

const tooManyCookiesToast: Toast = {
  title: "Upload failed",
  description: "Delete this site's cookies in your browser's settings. Then log in and upload the file again.",
  variant: "destructive",
};

function readOutcome({ responseURL, responseText, status }: XMLHttpRequest): UploadOutcome {
  const { pathname } = new URL(responseURL);
  // XMLHttpRequest follows the redirect to /login or /login/verify.
  if (pathname.startsWith("/login")) return { kind: "ended", login: pathname };
  if (status === 431) return { kind: "rejected", status, toast: tooManyCookiesToast };
  try {
    const { toast, storedBytes } = JSON.parse(responseText) as { toast: Toast; storedBytes?: number };
    if (storedBytes !== undefined) return { kind: "incomplete", storedBytes };
    if (toast.title) return status === 200 ? { kind: "stored", toast } : { kind: "rejected", toast, status };
  } catch {
    // A response that is not JSON comes from a proxy, not from the site.
  }
  return { kind: "lost" };
}
