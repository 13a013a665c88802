import { useEffect } from "react";
import { onSignOutInOtherTab } from "~/lib/browser/sign-out";
import { removeDraftsExcept } from "./draft";

/** Least time between two session checks of a page that becomes visible again, in milliseconds. */
const checkInterval = 30_000;

/**
 * Leaves a portal page when its session is over: when another tab signs out, and when the page becomes visible again or
 * returns from the back/forward cache and the session has ended. Loads a new document, so that no data stays in memory.
 * Also removes the drafts of anybody but `person`, an account's id; "" when it is unknown.
 */
export function useSessionWatch(person: string): void {
  useEffect(() => {
    if (person) removeDraftsExcept(person);
  }, [person]);
  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    let asked = Date.now();
    const seen = async () => {
      if (document.visibilityState !== "visible" || Date.now() - asked < checkInterval) return;
      asked = Date.now();
      // Without an answer the page stays.
      if (await isSessionOver().catch(() => false)) location.reload();
    };
    const restored = async ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return;
      document.body.hidden = true;
      asked = Date.now();
      if (await isSessionOver().catch(() => true)) location.reload();
      else document.body.hidden = false;
    };
    document.addEventListener("visibilitychange", seen, { signal });
    addEventListener("pageshow", restored, { signal });
    const stop = onSignOutInOtherTab(() => {
      document.body.hidden = true;
      location.replace("/login");
    });
    return () => {
      ending.abort();
      stop();
    };
  }, []);
}

/** Whether the portal (or the desk) redirects to the login. Reloading then follows that redirect, which leads back here. */
async function isSessionOver(): Promise<boolean> {
  const [, area] = location.pathname.split("/");
  const answer = await fetch(`/${area}/session`, { redirect: "manual", cache: "no-store" });
  return answer.type === "opaqueredirect";
}
