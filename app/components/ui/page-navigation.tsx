/** Focus after a navigation, for keyboards and screen readers, and the progress bar during it. */
import { useEffect, useRef } from "react";
import { useLocation, useNavigation, useNavigationType } from "react-router";

// Selectors of the link pressed last: on the page in view, and on each page left, by its location key.
let clickedLink = "";
const clickedLinks = new Map<string, string>();

/**
 * Moves the focus to the content of a new page, or to the field that its address names; Back moves it to the link that was
 * pressed there.
 */
export function useNavigationFocus(): void {
  const { pathname, hash, key } = useLocation();
  const kind = useNavigationType();
  const here = useRef({ pathname, key });
  useEffect(() => {
    const note = (event: MouseEvent) => {
      const link = (event.target as Element).closest("a[href]");
      // Links of the bar, the page and its foot may lead to one address.
      const part = link?.closest("header,main,footer")?.localName;
      if (part) clickedLink = `${part} a[href="${CSS.escape(link.getAttribute("href") ?? "")}"]`;
    };
    const step = ({ key }: KeyboardEvent) => {
      const { activeElement: at } = document;
      if (key === "Tab" && at?.matches(":is(main, footer) :not(dialog *)")) scrollToNearest(at);
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
    clickedLinks.set(before.key, clickedLink);
    if (before.pathname === pathname || document.querySelector("dialog:modal")) return;
    const selector = kind === "POP" ? clickedLinks.get(key) : "";
    const target = hash
      ? document.getElementById(hash.slice(1))
      : (selector && document.querySelector<HTMLElement>(selector)) || document.getElementById("main");
    target?.focus({ preventScroll: true });
  }, [pathname, hash, key, kind]);
}

/** Focuses an element and scrolls it clear of the bar. */
export function focusInView(element: HTMLElement): void {
  element.focus();
  scrollToNearest(element);
}

/** Needed in Firefox: it does not scroll to a focused element that is partly in the window, even under the bar. */
function scrollToNearest(element: Element): void {
  element.scrollIntoView({ block: "nearest" });
}

/** A progress bar along the top of the window while the next page loads; appears after a short delay. */
export function NavigationProgress() {
  const { state } = useNavigation();
  return state === "idle" ? null : <div aria-hidden className="loading" />;
}
