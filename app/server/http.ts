/** The site behind node:http: built files first, every other address to the app. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createRequestListener } from "@remix-run/node-fetch-server";
import compression from "compression";
import { createRequestHandler, RouterContextProvider, type ServerBuild } from "react-router";
import serveStatic from "serve-static";
import { addressHeader, clientAddress, trusting } from "../lib/client-address.server.ts";
import { env } from "../lib/env.server.ts";
import { securityHeaders } from "../lib/headers.server.ts";
import { log, requestIdHeader } from "../lib/log.server.ts";
import { clientBuild, serverBuild } from "./build.ts";
import { answerHealth } from "./health.ts";
import { answerMalformed, isWellFormed } from "./malformed.ts";

/** How much of a refused upload is read to its end, so that the browser gets to see the answer; then it is cut. */
const drainLimit = 64 * 1024 * 1024;

type Step = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** A server for the built site, not listening yet. */
export async function createSite(): Promise<Server> {
  const build = (await import(pathToFileURL(serverBuild).href)) as ServerBuild;
  const { origin: siteOrigin, deadlines, trustedProxies } = env();
  const origin = new URL(siteOrigin);
  const headers = Object.entries(securityHeaders());
  const isTrusted = trusting(trustedProxies);

  const handle = createRequestHandler(build, "production");
  const app = createRequestListener((request) => handle(request, new RouterContextProvider()), {
    host: origin.host,
    protocol: origin.protocol,
    onError: lastResort,
  });
  const files = serveStatic(clientBuild, {
    index: false,
    redirect: false,
    setHeaders: (response, file) => {
      const hashed = file.startsWith(path.join(clientBuild, "assets"));
      response.setHeader("Cache-Control", hashed ? "public, max-age=31536000, immutable" : "public, max-age=3600");
    },
  });

  // Its types speak of Express; it takes what node:http gives.
  const compress = compression() as unknown as Step;

  const server = createServer(
    // A request without a Host is answered by isWellFormed, with the site's headers.
    {
      requestTimeout: deadlines.request,
      headersTimeout: deadlines.headers,
      connectionsCheckingInterval: 5000,
      requireHostHeader: false,
    },
    (request, response) => {
      for (const [name, value] of headers) response.setHeader(name, value);
      response.setHeader(requestIdHeader, introduce(request, clientAddress(request, isTrusted)));
      if (!server.listening) response.setHeader("Connection", "close");
      if (!isWellFormed(request, response)) return;
      response.once("finish", () => drain(request, response));
      if (answerHealth(request, response)) return;
      compress(request, response, () => {
        // A file that cannot be read is left to the app, which answers 404.
        files(request, response, () => app(request, response));
      });
    },
  );
  server.setTimeout(deadlines.silence);
  answerMalformed(server, headers);
  return server;
}

/** Writes what the server knows of a request into its headers for the app. Returns the request's new id. */
function introduce(request: IncomingMessage, address: string): string {
  const id = randomUUID();
  request.headers[requestIdHeader.toLowerCase()] = id;
  request.headers[addressHeader.toLowerCase()] = address;
  return id;
}

/** Reads on after an answer that did not wait for the whole body. */
function drain(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  request.removeAllListeners("data");
  let drained = 0;
  request.on("data", (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > drainLimit) response.socket?.destroy();
  });
  request.resume();
}

/** The answer when the app itself failed to give one. */
function lastResort(error: unknown): Response {
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  log("error", "no answer", { error: name, message });
  return new Response("Something went wrong. Try again in a minute.", {
    status: 500,
    headers: { "Cache-Control": "private, no-store" },
  });
}
