import { useEffect } from "react";
import { onSignedOutElsewhere } from "~/lib/signed-out";
import { keepDraftsOf } from "./draft";

/** How often at most a page that comes back into sight asks for its session, in milliseconds. */
const pause = 30_000;

/**
 * Ends a page of the portal with its session: when another tab signs out, and when the page comes back, into sight or
 * out of the browser's memory, and the session is over. The document goes, and everything in it. What somebody else
 * typed before is gone for `person`, the id of an account, or "" when nobody knows.
 */
export function useSessionWatch(person: string): void {
  useEffect(() => {
    if (person) keepDraftsOf(person);
  }, [person]);
  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    let asked = Date.now();
    const seen = async () => {
      if (document.visibilityState !== "visible" || Date.now() - asked < pause) return;
      asked = Date.now();
      // Without an answer nobody knows: the page stays.
      if (await isOver().catch(() => false)) location.reload();
    };
    const restored = async ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return;
      document.body.hidden = true;
      asked = Date.now();
      if (await isOver().catch(() => true)) location.reload();
      else document.body.hidden = false;
    };
    document.addEventListener("visibilitychange", seen, { signal });
    addEventListener("pageshow", restored, { signal });
    const stop = onSignedOutElsewhere(() => {
      document.body.hidden = true;
      location.replace("/login");
    });
    return () => {
      ending.abort();
      stop();
    };
  }, []);
}

/** Whether the portal sends us to the login, which leads back here once the page is loaded anew. */
async function isOver(): Promise<boolean> {
  const answer = await fetch("/portal/session", { redirect: "manual", cache: "no-store" });
  return answer.type === "opaqueredirect";
}
