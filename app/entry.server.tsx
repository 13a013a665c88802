import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { createReadableStreamFromReadable, readableStreamToString } from "@react-router/node";
import { LRUCache } from "lru-cache";
import { renderToPipeableStream } from "react-dom/server";
import { type EntryContext, type HandleErrorFunction, isRouteErrorResponse, ServerRouter } from "react-router";
import { contentSecurityPolicy, renderedHeader } from "./lib/http/headers.server";
import { log } from "./lib/http/log.server";

/** How long rendering one page may take, in milliseconds. */
const renderTimeoutMs = 10_000;

/** A page as React wrote it, and the nonce of its scripts: one and the same for every answer that is this page. */
type RenderedPage = { html: string; nonce: string | undefined };

/** What clients saw in the last minutes, by all that it was made of: a page that has not changed is not rendered again. */
const renderedPages = new LRUCache<string, RenderedPage>({
  maxSize: 12 * 1024 * 1024,
  sizeCalculation: ({ html }, source) => 2 * (html.length + source.length),
  ttl: 5 * 60 * 1000,
});

export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  context: EntryContext,
): Promise<Response> {
  headers.set("Content-Type", "text/html; charset=utf-8");
  const source = getPageSource(request, context);
  const known = source ? renderedPages.get(source) : undefined;
  const { html, nonce } = known ?? (await renderPage(request, context));
  if (nonce) headers.set("Content-Security-Policy", contentSecurityPolicy(nonce));
  if (source && nonce) {
    // A known one keeps its time, and is rendered anew after it.
    if (!known) renderedPages.set(source, { html, nonce });
    headers.set(renderedHeader, nonce);
  }
  return new Response(html, { status, headers });
}

/**
 * All that a page of the portal is made of: its address, and what its loaders answered, who looks and how among it. Null for
 * other pages (those for everybody the server keeps, and at the desk few come twice), and for those that JSON does not tell
 * whole: errors, and answers to forms.
 */
function getPageSource({ url }: Request, { staticHandlerContext }: EntryContext): string | null {
  const { loaderData, actionData, errors } = staticHandlerContext;
  const isOfPortal = /^\/portal(\/|$)/.test(new URL(url).pathname);
  return errors || actionData || !isOfPortal ? null : JSON.stringify([url, loaderData]);
}

function renderPage(request: Request, context: EntryContext): Promise<RenderedPage> {
  // Vite's own client in development injects styles and inline scripts without a nonce.
  const nonce = import.meta.env.PROD ? randomBytes(16).toString("base64") : undefined;
  return new Promise((resolve, reject) => {
    const { pipe, abort } = renderToPipeableStream(<ServerRouter context={context} url={request.url} nonce={nonce} />, {
      nonce,
      // No part of the page comes after it, to be put in its place by a script.
      progressiveChunkSize: Number.POSITIVE_INFINITY,
      // Not onShellReady: the page is sent whole, without the inline scripts that streaming needs.
      onAllReady() {
        const body = new PassThrough();
        body.on("close", () => clearTimeout(timer));
        pipe(body);
        resolve(readableStreamToString(createReadableStreamFromReadable(body)).then((html) => ({ html, nonce })));
      },
      onShellError: reject,
    });
    const timer = setTimeout(abort, renderTimeoutMs);
  });
}

/** Logs errors, except responses that a page throws on purpose, such as a 404, and aborted requests. */
export const handleError: HandleErrorFunction = (error, { request }) => {
  if (request.signal.aborted || isRouteErrorResponse(error)) return;
  const { name, message, stack } =
    error instanceof Error ? error : { name: "Error", message: String(error), stack: "" };
  log("error", "page failed", { method: request.method, error: name, message, stack });
};
