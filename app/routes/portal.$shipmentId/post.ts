/** Sends a form with a file by XMLHttpRequest: `fetch` reports no upload progress. */
import type { Toast } from "~/lib/flash";

/**
 * The outcome: the file is stored; it was refused; the session is over and the person has to go to `login`; or no
 * answer of ours came.
 */
export type Answer =
  | { kind: "stored"; toast: Toast }
  | { kind: "refused"; toast: Toast; status: number }
  | { kind: "ended"; login: string }
  | { kind: "lost" };

/** Time without progress after which the connection counts as lost, in milliseconds; storing a file takes less. */
const standstill = 90_000;

/**
 * Posts a form to an address that answers `{ toast }`. `onSent` hears the bytes sent so far, the form's own included.
 * Once the signal is aborted the answer is "lost".
 */
export function post(
  address: string,
  form: FormData,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
): Promise<Answer> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    let timer = 0;
    const wait = () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => request.abort(), standstill);
    };
    const end = (answer: Answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    request.upload.addEventListener("progress", ({ loaded }) => {
      wait();
      onSent(loaded);
    });
    request.addEventListener("load", () => end(answerOf(request)));
    for (const event of ["error", "abort"]) request.addEventListener(event, () => end({ kind: "lost" }));
    signal.addEventListener("abort", () => request.abort());
    request.open("POST", address);
    request.setRequestHeader("Accept", "application/json");
    wait();
    request.send(form);
  });
}

function answerOf({ responseURL, responseText, status }: XMLHttpRequest): Answer {
  const { pathname } = new URL(responseURL);
  // XMLHttpRequest follows redirects: without a session it ends at /login or /login/verify.
  if (pathname.startsWith("/login")) return { kind: "ended", login: pathname };
  try {
    const { toast } = JSON.parse(responseText) as { toast: Toast };
    if (toast.title) return status === 200 ? { kind: "stored", toast } : { kind: "refused", toast, status };
  } catch {
    // Not our JSON: a proxy answered in our place.
  }
  return { kind: "lost" };
}
