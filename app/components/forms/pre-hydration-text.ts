import { useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";

const subscribeToNothing = () => () => {};

/**
 * For the `ref` of the textarea with this id. On hydration React resets a textarea, unlike other fields, to the text of
 * the server's HTML; this keeps what a person typed before that.
 */
export function usePreHydrationText(id: string) {
  const isHydrating = useSyncExternalStore(
    subscribeToNothing,
    () => false,
    () => true,
  );
  const field = useRef<HTMLTextAreaElement>(null);
  const [typed] = useState(() => (isHydrating ? readTextarea(id) : null));
  useLayoutEffect(() => {
    if (field.current && typed !== null) field.current.value = typed;
  }, [typed]);
  return field;
}

function readTextarea(id: string): string | null {
  if (typeof document === "undefined") return null;
  const field = document.getElementById(id);
  return field instanceof HTMLTextAreaElement ? field.value : null;
}
