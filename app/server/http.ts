/** The site behind node:http: files and pages for everybody from memory, every other address to the app. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pathToFileURL } from "node:url";
import { constants } from "node:zlib";
import { createRequestListener, sendResponse } from "@remix-run/node-fetch-server";
import compression from "compression";
import { createRequestHandler, RouterContextProvider, type ServerBuild } from "react-router";
import { env } from "../lib/env.server.ts";
import { securityHeaders } from "../lib/headers.server.ts";
import { clientBuild, serverBuild } from "./build.ts";
import { readFiles } from "./files.ts";
import { finishPage } from "./page.ts";
import { createPages, isAnonymous, varies } from "./pages.ts";
import { answerStored } from "./stored.ts";

/** Long enough for 10 MiB from a phone on EDGE, 120 kbit/s up, in milliseconds. */
const slowestUpload = 15 * 60_000;
/** How much of a refused upload is read to its end, so that the browser gets to see the answer; then it is cut. */
const drainLimit = 64 * 1024 * 1024;

type Step = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** A server for the built site, not listening yet. */
export async function createSite(): Promise<Server> {
  const build = (await import(pathToFileURL(serverBuild).href)) as ServerBuild;
  const origin = new URL(env().origin);
  const headers = securityHeaders();
  const files = readFiles(clientBuild, headers);

  const handle = createRequestHandler(build, "production");
  const render = async (request: Request): Promise<Response> => {
    const response = await handle(request, new RouterContextProvider());
    for (const [name, value] of Object.entries(headers)) {
      if (!response.headers.has(name)) response.headers.set(name, value);
    }
    return response.headers.get("Content-Type")?.startsWith("text/html") ? finish(request, response) : response;
  };
  const finish = async (request: Request, response: Response): Promise<Response> => {
    const rendered = { html: await response.text(), policy: response.headers.get("Content-Security-Policy") ?? "" };
    const page = await finishPage(rendered, files, request.headers.get("Sec-Fetch-Site") === "same-origin");
    response.headers.set("Content-Security-Policy", page.policy);
    response.headers.set("Accept-CH", "ECT");
    response.headers.append("Vary", varies);
    return new Response(page.html, response);
  };
  const app = createRequestListener(render, {
    host: origin.host,
    protocol: origin.protocol,
    onError: (error) => lastResort(error, headers),
  });
  const pages = createPages(render, origin.origin);
  // Its types speak of Express; it takes what node:http gives.
  const compress = compression({ brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } } }) as unknown as Step;

  return createServer({ requestTimeout: slowestUpload, headersTimeout: 30_000 }, async (request, response) => {
    response.once("finish", () => drain(request, response));
    const file = files.get((request.url ?? "").split("?", 1)[0] ?? "");
    if (file && (request.method === "GET" || request.method === "HEAD")) return answerStored(request, response, file);
    if (!isAnonymous(request)) return compress(request, response, () => app(request, response));
    const page = await pages.answer(request).catch((error: unknown) => lastResort(error, headers));
    if (!(page instanceof Response)) return answerStored(request, response, page);
    compress(request, response, () => sendResponse(response, page));
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
function lastResort(error: unknown, headers: Record<string, string>): Response {
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  console.error(JSON.stringify({ level: "error", error: name, message }));
  return new Response("Something went wrong. Try again in a minute.", { status: 500, headers });
}
