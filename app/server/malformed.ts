/** Answers to what is no request for the app: with the site's headers, and closing the connection. */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { log } from "../lib/log.server.ts";

/** What Node's parser and timers call it, as a status; anything else is 400. */
const statusOf: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Puts answers of ours in the place of those that Node gives before a request reaches the app. */
export function answerMalformed(server: Server, headers: [string, string][]): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  server.on("request", (request, response) => answering.set(request.socket, response));
  const refuse = (socket: Duplex, status: number, more: [string, string][] = []) => {
    // An answer under way must not be mixed with another one.
    const current = answering.get(socket);
    if (!socket.writable || (current?.headersSent && !current.writableFinished)) return socket.destroy();
    const lines = [...headers, ...more, ["Connection", "close"], ["Content-Length", "0"]];
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n`, () => socket.destroy());
    log("warn", "malformed request", { status });
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET") socket.destroy();
    else refuse(socket, statusOf[error.code ?? ""] ?? 400);
  });
  server.on("connect", (_request, socket) => refuse(socket, 405, [["Allow", "GET, HEAD, POST"]]));
  server.on("checkExpectation", (_request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    end(response, 417);
  });
}

/**
 * Whether the app can take a request: a target that is a path of this site, a host, and a method that fetch knows.
 * Answers it otherwise. A target with scheme and host, as proxies send it, is cut to its path.
 */
export function isWellFormed(request: IncomingMessage, response: ServerResponse): boolean {
  const target = request.url ?? "";
  if (/^https?:\/\//i.test(target) && URL.canParse(target)) {
    const { pathname, search } = new URL(target);
    request.url = pathname + search;
  }
  const lacksHost = request.httpVersion === "1.1" && !request.headers.host;
  if (lacksHost || !request.url?.startsWith("/")) end(response, 400);
  else if (request.method === "TRACE") end(response.setHeader("Allow", "GET, HEAD, POST"), 405);
  else return true;
  return false;
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { Connection: "close", "Content-Length": "0" }).end();
  log("warn", "malformed request", { status });
}
