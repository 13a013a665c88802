import { useEffect } from "react";

/** True if the key belongs to a field, a dialog or a shortcut of the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  const field = "input:not([type=checkbox]):not([type=radio]), textarea, select, dialog";
  return !(event.target instanceof Element) || event.target.closest(field) !== null;
}

/** The keys j (next), k (previous), Down and Up move the focus between links with the attribute `data-row`. */
export function useRowKeys(): void {
  useEffect(() => {
    const handleKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      const { target, key } = event;
      const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")].filter((row) => row.checkVisibility());
      const current = rows.indexOf(target as HTMLElement);
      const step = { j: 1, k: -1, ArrowDown: current >= 0 ? 1 : 0, ArrowUp: current >= 0 ? -1 : 0 }[key] ?? 0;
      const next = rows[current < 0 ? 0 : current + step];
      if (step === 0 || !next) return;
      event.preventDefault();
      next.focus();
    };
    addEventListener("keydown", handleKeyDown);
    return () => removeEventListener("keydown", handleKeyDown);
  }, []);
}
