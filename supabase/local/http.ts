import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** 2 MiB more than the largest document, for the multipart boundaries of an upload. */
const maxBodyBytes = 12 * 1024 * 1024;

/** Creates an HTTP server. Responds with 413 to bodies over 12 MiB. Aborts a request if the sender disconnects. */
export function serve(handler: (request: Request) => Promise<Response>): Server {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const sender = new AbortController();
      outgoing.once("close", () => {
        if (!outgoing.writableFinished) sender.abort();
      });
      const request = await toRequest(incoming, sender.signal);
      if (!request) {
        outgoing.writeHead(413, { connection: "close" }).end();
        return;
      }
      await sendResponse(await handler(request), outgoing);
    } catch (error) {
      console.error("request failed", error);
      if (!outgoing.headersSent) outgoing.writeHead(500, { "content-type": "application/json" });
      outgoing.end('{"message":"Internal server error"}');
    }
  });
  // Longer than the keep-alive timeout of the site's HTTP client (undici), which must not use a closing connection.
  server.keepAliveTimeout = 65_000;
  return server;
}

async function toRequest(incoming: IncomingMessage, signal: AbortSignal): Promise<Request | null> {
  if (Number(incoming.headers["content-length"] ?? 0) > maxBodyBytes) return null;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const item of Array.isArray(value) ? value : [value ?? ""]) headers.append(name, item);
  }
  const method = incoming.method ?? "GET";
  const hasBody = method !== "GET" && method !== "HEAD";
  if (hasBody) headers.set("content-length", String(size));
  return new Request(new URL(incoming.url ?? "/", "http://backend.local"), {
    method,
    headers,
    signal,
    body: hasBody ? new Uint8Array(Buffer.concat(chunks)) : undefined,
  });
}

async function sendResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  const headers = Object.fromEntries(response.headers);
  // A HEAD response states the length of the body that it omits.
  if (body.length > 0 || !headers["content-length"]) headers["content-length"] = String(body.length);
  if (response.status === 204 || response.status === 304) delete headers["content-length"];
  outgoing.writeHead(response.status, headers).end(body);
}

export async function addContentLength(request: Request): Promise<Request> {
  if (!request.body || request.headers.has("content-length")) return request;
  const body = await request.arrayBuffer();
  const headers = new Headers(request.headers);
  headers.set("content-length", String(body.byteLength));
  return new Request(request, { headers, body });
}
