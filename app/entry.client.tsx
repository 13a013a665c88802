import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";
import { retryModuleImport } from "./lib/browser/module-retry";

/**
 * Newest features that React Router and our code need; a browser with these has the others too. Without them nothing
 * hydrates: the page works as the server sent it, and a script that fails half-way would be worse.
 */
const canRun =
  "toSorted" in Array.prototype && typeof HTMLDialogElement === "function" && CSS.supports("selector(:modal)");

if (canRun) hydrate();

function hydrate(): void {
  window.reloadRouteModule = retryModuleImport;

  // The HTML inlines only the CSS it uses; what script adds needs the whole stylesheet (server/web/critical-css.ts).
  for (const sheet of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"][media="print"]')) {
    sheet.media = "all";
  }

  // Leaving a page while it loads aborts its stream; React Router does not catch that AbortError.
  addEventListener("unhandledrejection", (event) => {
    if (event.reason instanceof DOMException && event.reason.name === "AbortError") event.preventDefault();
  });

  // Firefox never ends a view transition if the page is left during it; after Back the router would wait for ever.
  addEventListener("pagehide", () => {
    const change = document.activeViewTransition;
    if (!change) return;
    let isOver = false;
    change.ready.catch(() => {});
    const end = () => {
      isOver = true;
    };
    change.finished.then(end, end);
    addEventListener("pageshow", () => isOver || location.reload(), { once: true });
  });

  startTransition(() => {
    hydrateRoot(
      document,
      <StrictMode>
        <HydratedRouter useTransitions={false} />
      </StrictMode>,
    );
  });
}
