import { useEffect } from "react";

/**
 * Moves the focus from row to row of a list with the keys j and k, or the arrows while a row has the focus. A row is a link
 * with `data-row`; Enter opens it, as it opens every link.
 */
export function useRowKeys(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { target, key } = event;
      if (!(target instanceof Element) || target.closest("input:not([type=checkbox]), textarea, select, dialog"))
        return;
      const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")].filter((row) => row.checkVisibility());
      const at = rows.indexOf(target as HTMLElement);
      const step = { j: 1, k: -1, ArrowDown: at >= 0 ? 1 : 0, ArrowUp: at >= 0 ? -1 : 0 }[key] ?? 0;
      const next = rows[at < 0 ? 0 : at + step];
      if (step === 0 || !next) return;
      event.preventDefault();
      next.focus();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
