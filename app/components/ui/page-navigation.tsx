import { useEffect, useRef } from "react";
import { useLocation, useNavigation, useNavigationType } from "react-router";

// `clickedLink` is the CSS selector of the last clicked link on the current page. `clickedLinks` contains the
// selectors of earlier pages, by location key.
let clickedLink = "";
const clickedLinks = new Map<string, string>();

/** Focuses `main` of a new page, or the target of the URL's hash. After Back, focuses the last clicked link. */
export function useNavigationFocus(): void {
  const { pathname, hash, key } = useLocation();
  const kind = useNavigationType();
  const lastLocation = useRef({ pathname, key });
  useEffect(() => {
    const rememberLink = (event: MouseEvent) => {
      const link = (event.target as Element).closest("a[href]");
      // The header, `main` and the footer may each contain a link to the same URL.
      const part = link?.closest("header,main,footer")?.localName;
      if (part) clickedLink = `${part} a[href="${CSS.escape(link.getAttribute("href") ?? "")}"]`;
    };
    const revealFocus = ({ key }: KeyboardEvent) => {
      const { activeElement: focused } = document;
      if (key === "Tab" && focused?.matches(":is(main, footer) :not(dialog *)")) scrollToNearest(focused);
    };
    document.addEventListener("click", rememberLink, true);
    document.addEventListener("keyup", revealFocus);
    return () => {
      document.removeEventListener("click", rememberLink, true);
      document.removeEventListener("keyup", revealFocus);
    };
  }, []);
  useEffect(() => {
    const previous = lastLocation.current;
    lastLocation.current = { pathname, key };
    if (previous.key === key) return;
    clickedLinks.set(previous.key, clickedLink);
    if (previous.pathname === pathname || document.querySelector("dialog:modal")) return;
    const selector = kind === "POP" ? clickedLinks.get(key) : "";
    const target = hash
      ? document.getElementById(hash.slice(1))
      : (selector && document.querySelector<HTMLElement>(selector)) || document.getElementById("main");
    target?.focus({ preventScroll: true });
  }, [pathname, hash, key, kind]);
}

export function focusInView(element: HTMLElement): void {
  element.focus();
  scrollToNearest(element);
}

/** Firefox does not scroll to a focused element that is partly visible or covered by the sticky header. */
function scrollToNearest(element: Element): void {
  element.scrollIntoView({ block: "nearest" });
}

export function NavigationProgress() {
  const { state } = useNavigation();
  return state === "idle" ? null : <div aria-hidden className="loading" />;
}
