import { useEffect } from "react";
import { onSignOutInOtherTab } from "~/lib/browser/sign-out";
import { removeDraftsExcept } from "./draft";

const minCheckIntervalMs = 30_000;

/** Loads a new document after the session's end, so that no data stays in memory. `accountId` is empty if unknown. */
export function useSessionWatch(accountId: string): void {
  useEffect(() => {
    if (accountId) removeDraftsExcept(accountId);
  }, [accountId]);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let lastCheck = Date.now();
    const handleVisibilityChange = async () => {
      if (document.visibilityState !== "visible" || Date.now() - lastCheck < minCheckIntervalMs) return;
      lastCheck = Date.now();
      if (await isSessionOver().catch(() => false)) location.reload();
    };
    const handlePageShow = async ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return;
      document.body.hidden = true;
      lastCheck = Date.now();
      if (await isSessionOver().catch(() => true)) location.reload();
      else document.body.hidden = false;
    };
    document.addEventListener("visibilitychange", handleVisibilityChange, { signal });
    addEventListener("pageshow", handlePageShow, { signal });
    const unsubscribe = onSignOutInOtherTab(() => {
      document.body.hidden = true;
      location.replace("/login");
    });
    return () => {
      controller.abort();
      unsubscribe();
    };
  }, []);
}

/** After the session has ended, the server redirects to the login page. Reloading the page follows that redirect. */
async function isSessionOver(): Promise<boolean> {
  const [, area] = location.pathname.split("/");
  const response = await fetch(`/${area}/session`, { redirect: "manual", cache: "no-store" });
  return response.type === "opaqueredirect";
}
