import { randomBytes } from "node:crypto";
import { Writable } from "node:stream";
import { LRUCache } from "lru-cache";
import { renderToPipeableStream } from "react-dom/server";
import { type EntryContext, type HandleErrorFunction, isRouteErrorResponse, ServerRouter } from "react-router";
import { contentSecurityPolicy, renderedHeader } from "./lib/http/headers.server";
import { log } from "./lib/http/log.server";

const renderTimeoutMs = 10_000;

type RenderedPage = { html: string; nonce: string | undefined };

/** The server reuses a rendered portal page as long as the URL and the loader data are the same. */
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
  const cached = source ? renderedPages.get(source) : undefined;
  const { html, nonce } = cached ?? (await renderPage(request, context));
  const showsFiles = context.staticHandlerContext.matches.some(({ route }) =>
    Boolean((context.routeModules[route.id]?.handle as { showsFiles?: boolean } | undefined)?.showsFiles),
  );
  if (nonce) headers.set("Content-Security-Policy", contentSecurityPolicy(nonce, showsFiles));
  if (source && nonce) {
    if (!cached) renderedPages.set(source, { html, nonce });
    headers.set(renderedHeader, nonce);
  }
  return new Response(html, { status, headers });
}

/** Returns the cache key of a portal page, or null for other pages, errors and form results. */
function getPageSource({ url }: Request, { staticHandlerContext }: EntryContext): string | null {
  const { loaderData, actionData, errors } = staticHandlerContext;
  const isPortalPage = /^\/portal(\/|$)/.test(new URL(url).pathname);
  return errors || actionData || !isPortalPage ? null : JSON.stringify([url, loaderData]);
}

function renderPage(request: Request, context: EntryContext): Promise<RenderedPage> {
  // In development, pages have no nonce, because Vite injects styles and inline scripts without a nonce.
  const nonce = import.meta.env.PROD ? randomBytes(16).toString("base64") : undefined;
  return new Promise((resolve, reject) => {
    const { pipe, abort } = renderToPipeableStream(<ServerRouter context={context} url={request.url} nonce={nonce} />, {
      nonce,
      // React needs an inline script to move later chunks into place. A single chunk also works without JavaScript.
      progressiveChunkSize: Number.POSITIVE_INFINITY,
      onAllReady() {
        clearTimeout(timer);
        const chunks: Buffer[] = [];
        pipe(
          new Writable({
            write(chunk, _encoding, done) {
              chunks.push(chunk);
              done();
            },
            final(done) {
              resolve({ html: Buffer.concat(chunks).toString(), nonce });
              done();
            },
          }),
        );
      },
      onShellError: reject,
    });
    const timer = setTimeout(abort, renderTimeoutMs);
  });
}

export const handleError: HandleErrorFunction = (error, { request }) => {
  if (request.signal.aborted || isRouteErrorResponse(error)) return;
  const { name, message, stack } =
    error instanceof Error ? error : { name: "Error", message: String(error), stack: "" };
  log("error", "page failed", { method: request.method, error: name, message, stack });
};
