/** Answers to requests that the app cannot take: with the site's headers, and closing the connection. */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ipAddressHeader } from "../../lib/http/ip-address.server.ts";
import { log, requestIdHeader } from "../../lib/http/log.server.ts";

/** The status for an error code of Node's parser and timers; any other code is 400. */
const statusByErrorCode: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Headers of every answer given here. */
const closingHeaders = { "Cache-Control": "private, no-store", Connection: "close", "Content-Length": "0" };
const allowHeader: [string, string] = ["Allow", "GET, HEAD, POST"];

/** The methods that the router passes to its middleware, which refuses most of them with a page. */
const routedMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

/** Percent-encoded line breaks: none of the router's patterns matches them, not even the catch-all. */
const encodedLineBreaks = /%0[ad]|%e2%80%a[89]/gi;

/** Replaces the answers that Node itself gives before a request reaches the app. */
export function handleMalformedRequests(server: Server, headers: [string, string][]): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  server.on("request", (request, response) => answering.set(request.socket, response));
  const close = (socket: Duplex, status: number, more: [string, string][] = []) => {
    // An answer that has begun must not be mixed with another, and no request gets two.
    const current = answering.get(socket);
    const isAnswered = current?.headersSent && !(current.writableFinished && current.req.complete);
    if (!socket.writable || isAnswered) return socket.destroy();
    const lines = [...headers, ...more, ...Object.entries(closingHeaders)];
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n`, () => socket.destroy());
    log("warn", "malformed request", { status });
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET") socket.destroy();
    else close(socket, statusByErrorCode[error.code ?? ""] ?? 400);
  });
  server.on("connect", (_request, socket) => close(socket, 405, [allowHeader]));
  server.on("checkExpectation", (request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    endResponse(request, response, 417);
  });
}

/**
 * Whether the app can take a request: a target that is a path of this site, a host, and a method that its router knows.
 * Answers it otherwise. Requests that the router would answer without middleware and log are rewritten so that it does
 * not: a target with scheme and host, as proxies send it, is cut to its path; a line break in a path becomes U+FFFD,
 * which no page has in its address; an Origin that is no URL becomes "null".
 */
export function isWellFormed(request: IncomingMessage, response: ServerResponse): boolean {
  const target = request.url ?? "";
  if (/^https?:\/\//i.test(target) && URL.canParse(target)) {
    const { pathname, search } = new URL(target);
    request.url = pathname + search;
  }
  request.url = request.url?.replace(/^[^?]*/, (path) => path.replace(encodedLineBreaks, "%EF%BF%BD"));
  const { origin, host } = request.headers;
  if (origin !== undefined && !URL.canParse(origin)) request.headers.origin = "null";
  if ((request.httpVersion === "1.1" && !host) || !request.url?.startsWith("/")) endResponse(request, response, 400);
  else if (!routedMethods.has(request.method ?? "")) endResponse(request, response.setHeader(...allowHeader), 405);
  else return true;
  return false;
}

function endResponse({ method, headers }: IncomingMessage, response: ServerResponse, status: number): void {
  response.writeHead(status, closingHeaders).end();
  const [requestId, address] = [requestIdHeader, ipAddressHeader].map((name) => String(headers[name.toLowerCase()]));
  log("warn", "malformed request", { requestId, address, method, status });
}
