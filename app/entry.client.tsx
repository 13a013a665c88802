import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";
import { openTabStorage } from "./lib/browser/account";
import { tolerateForeignChanges } from "./lib/browser/foreign-changes";
import { retryModuleImport } from "./lib/browser/module-retry";
import { rememberFields } from "./lib/browser/typed-fields";

/**
 * False in older browsers, which show only the server's HTML. Without the media feature `scripting`, a browser hides
 * the buttons that need JavaScript, such as the button that pauses all animations.
 */
const canRun =
  "toSorted" in Array.prototype &&
  typeof HTMLDialogElement === "function" &&
  CSS.supports("selector(:modal)") &&
  matchMedia("(scripting: enabled)").matches;

if (canRun) hydrate();

function hydrate(): void {
  window.reloadRouteModule = retryModuleImport;
  openTabStorage();

  // The HTML of a page inlines only the CSS of this page (critical-css.ts). Other pages need the whole stylesheet.
  for (const sheet of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"][media="print"]')) {
    sheet.media = "all";
  }

  // Leaving a page before it has loaded aborts the response stream. React Router does not catch the AbortError.
  addEventListener("unhandledrejection", (event) => {
    if (event.reason instanceof DOMException && event.reason.name === "AbortError") event.preventDefault();
  });

  // Firefox does not end a view transition if the visitor leaves the page. After going back, React Router would hang.
  addEventListener("pagehide", () => {
    const transition = document.activeViewTransition;
    if (!transition) return;
    let isOver = false;
    transition.ready.catch(() => {});
    const markOver = () => {
      isOver = true;
    };
    transition.finished.then(markOver, markOver);
    addEventListener("pageshow", () => isOver || location.reload(), { once: true });
  });

  tolerateForeignChanges();
  const refillFields = rememberFields();
  startTransition(() => {
    hydrateRoot(
      document,
      <StrictMode>
        <HydratedRouter useTransitions={false} />
      </StrictMode>,
      {
        onRecoverableError(error) {
          refillFields();
          console.error(error);
        },
      },
    );
  });
}
