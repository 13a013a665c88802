import { useEffect, useState } from "react";

/**
 * Calls back once the page has loaded and the browser is idle, so that what is fetched then takes no bandwidth from the
 * page itself. Returns how to cancel.
 */
function runWhenIdle(callback: () => void): () => void {
  let off = () => {};
  const ask = () => {
    if ("requestIdleCallback" in window) {
      const handle = requestIdleCallback(callback, { timeout: 2000 });
      off = () => cancelIdleCallback(handle);
    } else {
      const handle = setTimeout(callback, 200);
      off = () => clearTimeout(handle);
    }
  };
  if (document.readyState === "complete") ask();
  else {
    addEventListener("load", ask, { once: true });
    off = () => removeEventListener("load", ask);
  }
  return () => off();
}

/**
 * The default export of a module that is imported when the browser is idle. Null before that, and for good if the
 * import fails: the page must work without it.
 */
export function useIdleImport<Part>(load: () => Promise<{ default: Part }>): Part | null {
  const [part, setPart] = useState<{ default: Part } | null>(null);
  useEffect(() => runWhenIdle(() => load().then(setPart, () => {})), []);
  return part?.default ?? null;
}
