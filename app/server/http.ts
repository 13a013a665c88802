/** The site behind node:http: built files first, every other address to the app. */
import { createServer, type Server } from "node:http";
import { pathToFileURL } from "node:url";
import { createRequestListener } from "@react-router/node";
import type { ServerBuild } from "react-router";
import { RouterContextProvider } from "react-router";
import sirv from "sirv";
import { env } from "../lib/env.server.ts";
import { securityHeaders } from "../lib/headers.server.ts";
import { clientBuild, serverBuild } from "./build.ts";

/** Long enough for 10 MiB from a phone on EDGE, 120 kbit/s up, in milliseconds. */
const slowestUpload = 15 * 60_000;

/** A server for the built site, not listening yet. */
export async function createSite(): Promise<Server> {
  const build = (await import(pathToFileURL(serverBuild).href)) as ServerBuild;
  const app = createRequestListener({
    build: { ...build, allowedActionOrigins: [new URL(env().origin).host] },
    getLoadContext: () => new RouterContextProvider(),
    mode: "production",
  });
  const headers = Object.entries(securityHeaders());
  const files = sirv(clientBuild, {
    etag: true,
    setHeaders: (response, file) => {
      const hashed = file.startsWith("/assets/");
      response.setHeader("Cache-Control", hashed ? "public, max-age=31536000, immutable" : "public, max-age=3600");
    },
  });
  const server = createServer({ requestTimeout: slowestUpload, headersTimeout: 30_000 }, (request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    files(request, response, () => app(request, response));
  });
  return server;
}
