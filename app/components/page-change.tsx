/** What a change of page means to the keyboard, to a screen reader, and to who waits for it. */
import { useEffect, useRef } from "react";
import { useLocation, useNavigation, useNavigationType } from "react-router";

// The link pressed last on the page in view, and by the key of each page left, to come back to it.
let pressed = "";
const left = new Map<string, string>();

/** On a new page reading begins at its content; Back returns to the link that was pressed. */
export function usePageChange(): void {
  const { pathname, hash, key } = useLocation();
  const kind = useNavigationType();
  const here = useRef({ pathname, key });
  useEffect(() => {
    const note = (event: MouseEvent) => {
      const link = (event.target as Element).closest("a[href]");
      if (link) pressed = `a[href="${CSS.escape(link.getAttribute("href") ?? "")}"]`;
    };
    const step = ({ key }: KeyboardEvent) => {
      const { activeElement: at } = document;
      if (key === "Tab" && at?.matches(":is(main, footer) :not(dialog *)")) keepInView(at);
    };
    document.addEventListener("click", note, true);
    document.addEventListener("keyup", step);
    return () => {
      document.removeEventListener("click", note, true);
      document.removeEventListener("keyup", step);
    };
  }, []);
  useEffect(() => {
    const before = here.current;
    here.current = { pathname, key };
    if (before.key === key) return;
    left.set(before.key, pressed);
    if (before.pathname === pathname || hash || document.querySelector("dialog:modal")) return;
    const selector = kind === "POP" ? left.get(key) : "";
    const target = (selector && document.querySelector<HTMLElement>(selector)) || document.getElementById("main");
    target?.focus({ preventScroll: true });
  }, [pathname, hash, key, kind]);
}

/** Gives something the focus, and brings it clear of the bar above and of the chat below. */
export function focusInView(element: HTMLElement): void {
  element.focus();
  keepInView(element);
}

/** Firefox leaves what gets the focus where it is when any of it is in the window, under the bar too. */
function keepInView(element: Element): void {
  element.scrollIntoView({ block: "nearest" });
}

/** A line along the top of the window while the next page is on its way; it waits a moment before it shows. */
export function Pending() {
  const { state } = useNavigation();
  return state === "idle" ? null : <div aria-hidden className="loading" />;
}
