import { useEffect, useState } from "react";

/** Waits for the load event, so that later downloads take no bandwidth from the page. Returns a function that cancels. */
function runWhenIdle(callback: () => void): () => void {
  let cancel = () => {};
  const schedule = () => {
    if ("requestIdleCallback" in window) {
      const handle = requestIdleCallback(callback, { timeout: 2000 });
      cancel = () => cancelIdleCallback(handle);
    } else {
      const handle = setTimeout(callback, 200);
      cancel = () => clearTimeout(handle);
    }
  };
  if (document.readyState === "complete") schedule();
  else {
    addEventListener("load", schedule, { once: true });
    cancel = () => removeEventListener("load", schedule);
  }
  return () => cancel();
}

export function useIdleImport<Part>(load: () => Promise<{ default: Part }>): Part | null {
  const [loaded, setLoaded] = useState<{ default: Part } | null>(null);
  useEffect(() => runWhenIdle(() => load().then(setLoaded, () => {})), []);
  return loaded?.default ?? null;
}
