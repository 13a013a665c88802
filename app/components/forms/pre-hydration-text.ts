import { useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";

const subscribeToNothing = () => () => {};

/** Restores text that was typed into a textarea before hydration, because React's hydration resets textareas. */
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
