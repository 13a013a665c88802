import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { HydratedRouter } from "react-router/dom";

/**
 * What the framework and our own code need, and every browser has that has the rest of it. In others the page stays as
 * the server sent it, where everything works: half of the script would be worse than none.
 */
const canRun =
  "toSorted" in Array.prototype && typeof HTMLDialogElement === "function" && CSS.supports("selector(:modal)");

if (canRun) start();

function start(): void {
  // The page painted with the rules it uses; what script adds to it needs the others too (app/server/web/critical-css.ts).
  for (const sheet of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"][media="print"]')) {
    sheet.media = "all";
  }

  // A page that is left while it loads rejects the rest of its answer, which the framework leaves to nobody.
  addEventListener("unhandledrejection", (event) => {
    if (event.reason instanceof DOMException && event.reason.name === "AbortError") event.preventDefault();
  });

  // Firefox loses what a page was about to show that is left while it changes, and the router waits for it for ever.
  addEventListener("pagehide", () => {
    const change = document.activeViewTransition;
    if (!change) return;
    change.ready.catch(() => {});
    addEventListener("pageshow", () => location.reload(), { once: true });
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
