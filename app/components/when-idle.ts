import { useEffect, useState } from "react";

/**
 * Calls back once the page has loaded and the browser has nothing better to do: what comes then takes nothing from
 * the line while the page itself is on its way. Returns how to call it off.
 */
function whenIdle(callback: () => void): () => void {
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
 * What a module exports by default, once it has arrived; it is asked for when the browser is idle. Null before, and for
 * good when the line breaks: nothing of it may be needed.
 */
export function useWhenIdle<Part>(load: () => Promise<{ default: Part }>): Part | null {
  const [part, setPart] = useState<{ default: Part } | null>(null);
  useEffect(() => whenIdle(() => load().then(setPart, () => {})), []);
  return part?.default ?? null;
}
