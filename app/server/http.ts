/** The site behind node:http: built files first, every other address to the app. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { createRequestListener } from "@remix-run/node-fetch-server";
import compression from "compression";
import { createRequestHandler, RouterContextProvider, type ServerBuild } from "react-router";
import serveStatic from "serve-static";
import { env } from "../lib/env.server.ts";
import { securityHeaders } from "../lib/headers.server.ts";
import { clientBuild, serverBuild } from "./build.ts";

/** Long enough for 10 MiB from a phone on EDGE, 120 kbit/s up, in milliseconds. */
const slowestUpload = 15 * 60_000;
/** How much of a refused upload is read to its end, so that the browser gets to see the answer; then it is cut. */
const drainLimit = 64 * 1024 * 1024;

type Step = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** A server for the built site, not listening yet. */
export async function createSite(): Promise<Server> {
  const build = (await import(pathToFileURL(serverBuild).href)) as ServerBuild;
  const origin = new URL(env().origin);
  const headers = Object.entries(securityHeaders());

  const handle = createRequestHandler(build, "production");
  const app = createRequestListener(
    async (request) => {
      const response = await handle(request, new RouterContextProvider());
      for (const [name, value] of headers) if (!response.headers.has(name)) response.headers.set(name, value);
      return response;
    },
    { host: origin.host, protocol: origin.protocol, onError: (error) => lastResort(error, headers) },
  );
  const files = serveStatic(clientBuild, {
    index: false,
    redirect: false,
    setHeaders: (response, file) => {
      const hashed = file.startsWith(path.join(clientBuild, "assets"));
      response.setHeader("Cache-Control", hashed ? "public, max-age=31536000, immutable" : "public, max-age=3600");
      for (const [name, value] of headers) response.setHeader(name, value);
    },
  });

  // Its types speak of Express; it takes what node:http gives.
  const compress = compression() as unknown as Step;

  return createServer({ requestTimeout: slowestUpload, headersTimeout: 30_000 }, (request, response) => {
    response.once("finish", () => drain(request, response));
    compress(request, response, () => {
      // A file that cannot be read is left to the app, which answers 404.
      files(request, response, () => app(request, response));
    });
  });
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
function lastResort(error: unknown, headers: [string, string][]): Response {
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  console.error(JSON.stringify({ level: "error", error: name, message }));
  return new Response("Something went wrong. Try again in a minute.", { status: 500, headers });
}
