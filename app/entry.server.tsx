import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { createReadableStreamFromReadable } from "@react-router/node";
import { renderToPipeableStream } from "react-dom/server";
import { type EntryContext, type HandleErrorFunction, isRouteErrorResponse, ServerRouter } from "react-router";
import { contentSecurityPolicy } from "./lib/headers.server";
import { log } from "./lib/log.server";

/** How long rendering one page may take, in milliseconds. */
const renderDeadline = 10_000;

export default function handleRequest(request: Request, status: number, headers: Headers, context: EntryContext) {
  // Vite's own client in development injects styles and inline scripts without a nonce.
  const nonce = import.meta.env.PROD ? randomBytes(16).toString("base64") : undefined;
  headers.set("Content-Type", "text/html; charset=utf-8");
  if (nonce) headers.set("Content-Security-Policy", contentSecurityPolicy(nonce));

  return new Promise<Response>((resolve, reject) => {
    const { pipe, abort } = renderToPipeableStream(<ServerRouter context={context} url={request.url} nonce={nonce} />, {
      nonce,
      // No part of the page comes after it, to be put in its place by a script.
      progressiveChunkSize: Number.POSITIVE_INFINITY,
      // Not onShellReady: the page is sent whole, without the inline scripts that streaming needs.
      onAllReady() {
        const body = new PassThrough();
        body.on("close", () => clearTimeout(timer));
        resolve(new Response(createReadableStreamFromReadable(body), { status, headers }));
        pipe(body);
      },
      onShellError: reject,
    });
    const timer = setTimeout(abort, renderDeadline);
  });
}

/** Logs errors, except responses that a page throws on purpose, such as a 404, and aborted requests. */
export const handleError: HandleErrorFunction = (error, { request }) => {
  if (request.signal.aborted || isRouteErrorResponse(error)) return;
  const { name, message, stack } =
    error instanceof Error ? error : { name: "Error", message: String(error), stack: "" };
  log("error", "page failed", { method: request.method, error: name, message, stack });
};
