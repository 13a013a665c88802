import { useEffect, useState } from "react";

/** Runs the callback after the load event, so that the page loads first. Returns a function to cancel the callback. */
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
