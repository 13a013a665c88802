import { useLayoutEffect, useRef, useState } from "react";
import { useIsHydrated } from "../ui/hydration";

/** Restores text that was typed into a textarea before hydration, because React's hydration resets textareas. */
export function usePreHydrationText(id: string) {
  const isHydrated = useIsHydrated();
  const field = useRef<HTMLTextAreaElement>(null);
  const [typedText] = useState(() => (isHydrated ? null : readTextarea(id)));
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
