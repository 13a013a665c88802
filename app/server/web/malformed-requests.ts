import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ipAddressHeader } from "../../lib/http/ip-address.server.ts";
import { log, requestIdHeader } from "../../lib/http/log.server.ts";

const statusByErrorCode: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

const closingHeaders = { "Cache-Control": "private, no-store", Connection: "close", "Content-Length": "0" };

const oversizedHeadersPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Too many cookies</title>
<h1>Your browser sent too many cookies</h1>
<p>Delete the cookies of this site in your browser's settings. Then open the page again.</p>
<p>If the page still does not open, use another browser or a private window.</p>
</html>
`;
const htmlHeaders = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "default-src 'none'" };
const pagesByStatus: Record<number, string> = { 431: oversizedHeadersPage };
const allowHeader: [string, string] = ["Allow", "GET, HEAD, POST"];

/** The router runs its middleware only for these methods. */
const routedMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]);

/** Even the catch-all route does not match a path with an encoded line break. */
const encodedLineBreaks = /%0[ad]|%e2%80%a[89]/gi;

/**
 * Responds to requests that Node rejects. `responses` has the last response of each connection, except the responses of
 * `respondFromMemory` in server.ts.
 */
export function handleMalformedRequests(
  server: Server,
  headers: [string, string][],
  responses: WeakMap<Duplex, ServerResponse>,
): void {
  const close = (socket: Duplex, status: number, extraHeaders: [string, string][] = []) => {
    // Closes a connection with a response in progress, because a second response would corrupt the first.
    const current = responses.get(socket);
    const isResponding = current?.headersSent && !(current.writableFinished && current.req.complete);
    if (!socket.writable || isResponding) return socket.destroy();
    const page = pagesByStatus[status] ?? "";
    const pageHeaders = {
      ...closingHeaders,
      "Content-Length": String(Buffer.byteLength(page)),
      ...(page && htmlHeaders),
    };
    const lines = [...headers, ...extraHeaders, ...Object.entries(pageHeaders)];
    const headerText = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headerText}\r\n${page}`, () => socket.destroy());
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

/** False for two Host headers, because a proxy may have used the other header (RFC 9112, section 3.2). */
export function hasValidHost({ httpVersion, headers: { host }, rawHeaders }: IncomingMessage): boolean {
  if (host === undefined) return httpVersion === "1.0";
  const isHost = (text: string, index: number) => index % 2 === 0 && text.length === 4 && text.toLowerCase() === "host";
  return host !== "" && rawHeaders.filter(isHost).length === 1;
}

/**
 * Repairs a request for which the router would skip the middleware. If the request has another fault, sends an error
 * response and returns false.
 */
export function isWellFormed(request: IncomingMessage, response: ServerResponse): boolean {
  const target = request.url ?? "";
  if (/^https?:\/\//i.test(target) && URL.canParse(target)) {
    const { pathname, search } = new URL(target);
    request.url = pathname + search;
  }
  request.url = request.url?.replace(/^[^?]*/, (path) => path.replace(encodedLineBreaks, "%EF%BF%BD"));
  const { origin } = request.headers;
  if (origin !== undefined && !URL.canParse(origin)) request.headers.origin = "null";
  if (!hasValidHost(request) || !request.url?.startsWith("/")) endResponse(request, response, 400);
  else if (!routedMethods.has(request.method ?? "")) endResponse(request, response.setHeader(...allowHeader), 405);
  else return true;
  return false;
}

function endResponse({ method, headers }: IncomingMessage, response: ServerResponse, status: number): void {
  response.writeHead(status, closingHeaders).end();
  const [requestId, address] = [requestIdHeader, ipAddressHeader].map((name) => String(headers[name.toLowerCase()]));
  log("warn", "malformed request", { requestId, address, method, status });
}
