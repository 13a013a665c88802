import { useEffect } from "react";
import { claimTab, leaveOtherAccount, onAccountCheck } from "~/lib/browser/account";

const minCheckIntervalMs = 30_000;

/** Hides the page if the account signs out in another tab. Reloads the page if the session has ended. */
export function useSessionWatch(accountHash: string): void {
  useEffect(() => {
    if (!accountHash) return;
    claimTab(accountHash);
    leaveOtherAccount();
  }, [accountHash]);
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
      else document.body.hidden = leaveOtherAccount();
    };
    document.addEventListener("visibilitychange", handleVisibilityChange, { signal });
    addEventListener("pageshow", handlePageShow, { signal });
    onAccountCheck(() => leaveOtherAccount(), signal);
    return () => controller.abort();
  }, []);
}

/** After the end of the session, the server redirects /portal/session and /desk/session to the login page. */
async function isSessionOver(): Promise<boolean> {
  const [, area] = location.pathname.split("/");
  const response = await fetch(`/${area}/session`, { redirect: "manual", cache: "no-store" });
  return response.type === "opaqueredirect";
}
