import { useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";

const subscribeToNothing = () => () => {};

/** Returns a ref for a textarea. React's hydration resets only textareas; this restores text typedText before hydration. */
export function usePreHydrationText(id: string) {
  const isHydrating = useSyncExternalStore(
    subscribeToNothing,
    () => false,
    () => true,
  );
  const field = useRef<HTMLTextAreaElement>(null);
  const [typedText] = useState(() => (isHydrating ? readTextarea(id) : null));
  useLayoutEffect(() => {
    if (field.current && typedText !== null) field.current.value = typedText;
  }, [typedText]);
  return field;
}

function readTextarea(id: string): string | null {
  if (typeof document === "undefined") return null;
  const field = document.getElementById(id);
  return field instanceof HTMLTextAreaElement ? field.value : null;
}
