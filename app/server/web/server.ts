/** The site behind node:http: files and pages for everybody from memory, every other address to the app. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { pathToFileURL } from "node:url";
import { constants } from "node:zlib";
import { createRequestListener, sendResponse } from "@remix-run/node-fetch-server";
import compression from "compression";
import { LRUCache } from "lru-cache";
import { createRequestHandler, RouterContextProvider, type ServerBuild } from "react-router";
import { addressHeader, clientAddress, trusting } from "../../lib/client-address.server.ts";
import { env } from "../../lib/env.server.ts";
import { renderedHeader, securityHeaders } from "../../lib/headers.server.ts";
import { log, requestIdHeader } from "../../lib/log.server.ts";
import { findSamples } from "../samples.ts";
import { clientBuild, serverBuild } from "../start/build.ts";
import { guardBody } from "./body.ts";
import { type FinishedPage, finishPage } from "./critical-css.ts";
import { answerHealth } from "./health.ts";
import { answerStored, type Encoded, encoded, quickBrotli } from "./kept-answer.ts";
import { answerMalformed, isWellFormed } from "./malformed.ts";
import { createPages, isAnonymous, varies } from "./page-cache.ts";
import { readFiles } from "./static-files.ts";

/** Logged at the start: limits that count by address cannot work then. */
const addressesUnknown =
  "APP_ORIGIN is https and TRUSTED_PROXIES is not set, so every visitor seems to have the proxy's address: limits of " +
  "one address are off. Set TRUSTED_PROXIES to where the proxy is.";

/** Logged at the start of a site on https, whose content has sample values yet. */
const samplesShown =
  "The content has sample values yet, such as a telephone that nobody answers, and visitors read them. " +
  "`npm run content` lists them.";

/** A page for one request, and it in the encodings that were asked for. */
type Page = FinishedPage & Encoded;
/** An answer of the app; of a page without its body. */
type Answer = { response: Response; page?: Page };

type Step = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** A server for the built site, not listening yet. */
export async function createSite(): Promise<Server> {
  const build = (await import(pathToFileURL(serverBuild).href)) as ServerBuild;
  const { origin: siteOrigin, deadlines, trustedProxies, addressesTold } = env();
  if (!addressesTold) log("warn", "addresses unknown", { message: addressesUnknown });
  const origin = new URL(siteOrigin);
  const samples = origin.protocol === "https:" ? findSamples().length : 0;
  if (samples > 0) log("warn", "samples", { values: samples, message: samplesShown });
  const headers = Object.entries(securityHeaders());
  const everyAnswer = headers.flat();
  const isTrusted = trusting(trustedProxies);
  const files = readFiles(clientBuild);
  const finishedPages = new LRUCache<string, Page>({
    maxSize: 8 * 1024 * 1024,
    // With the page in two encodings.
    sizeCalculation: ({ html }) => 3 * html.length,
    ttl: 5 * 60 * 1000,
  });

  const handle = createRequestHandler(build, "production");
  const render = async (request: Request): Promise<Answer> => {
    const response = await handle(request, new RouterContextProvider());
    // Some errors the router answers itself, without the middleware that sets this header.
    if (response.status >= 400) response.headers.set("Cache-Control", "private, no-store");
    if (!isPage(response)) return { response };
    const page = await finish(request, response);
    response.headers.set("Content-Security-Policy", page.policy);
    response.headers.set("Accept-CH", "ECT");
    response.headers.append("Vary", varies);
    return { response, page };
  };
  const finish = async (request: Request, response: Response): Promise<Page> => {
    const policy = response.headers.get("Content-Security-Policy") ?? "";
    const hasStyles = request.headers.get("Sec-Fetch-Site") === "same-origin";
    const rendered = response.headers.get(renderedHeader);
    response.headers.delete(renderedHeader);
    // The answer to a HEAD has nothing of the page in it.
    const key = rendered && request.method === "GET" ? `${hasStyles} ${rendered}` : null;
    const known = key && finishedPages.get(key);
    if (known) return known;
    const page = { ...(await finishPage({ html: await response.text(), policy }, files, hasStyles)), bodies: {} };
    if (key) finishedPages.set(key, page);
    return page;
  };
  const renderWhole = async (request: Request) => {
    const { response, page } = await render(request);
    return page ? new Response(page.html, response) : response;
  };
  const renderAlone = async (request: Request) => {
    const { response, page } = await render(request);
    return page ? encoded(page, response, request.headers.get("Accept-Encoding")) : response;
  };
  const app = createRequestListener(renderAlone, { host: origin.host, protocol: origin.protocol, onError: lastResort });
  const pages = createPages(renderWhole, origin.origin);
  // Its types are Express's, but it works with the objects of node:http.
  const compress = compression({
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: quickBrotli } },
  }) as unknown as Step;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const file = request.method === "GET" || request.method === "HEAD" ? files.get(path) : undefined;
    if (file) return answerStored(request, response, file);
    const alone = () => compress(request, response, () => app(request, response));
    if (!isAnonymous(request)) return alone();
    const found = await pages.answer(request).catch((error) => ({ page: lastResort(error), shared: false }));
    if (!found) return alone();
    const { page, shared } = found;
    if (page instanceof Response) {
      const encoding = String(request.headers["accept-encoding"] ?? "");
      const error = isPage(page) ? await encoded({ html: await page.text(), bodies: {} }, page, encoding) : page;
      compress(request, response, () => void sendResponse(response, error));
    } else answerStored(request, response, page);
    // The app has logged the request for which it rendered the page.
    if (shared) logKept(request, page instanceof Response ? page.status : response.statusCode, path);
  };

  /** Answers what is kept and needs nothing of the request but its address; false for every other request. */
  const answerAtOnce = (request: IncomingMessage, response: ServerResponse): boolean => {
    const { method, url = "", headers: asked, httpVersion } = request;
    const isRead = method === "GET" || method === "HEAD";
    const hasBody = asked["content-length"] !== undefined || asked["transfer-encoding"] !== undefined;
    if (!isRead || hasBody || (!asked.host && httpVersion === "1.1")) return false;
    const file = files.get(url);
    const stored = file ?? pages.known(request);
    if (!stored) return false;
    const own = [requestIdHeader, idOf(request)];
    if (!server.listening) own.push("Connection", "close");
    answerStored(request, response, stored, [...everyAnswer, ...own]);
    if (!file) logKept(request, response.statusCode, url.split("?", 1)[0] ?? "");
    return true;
  };

  const server = createServer(
    // A request without a Host is answered by isWellFormed, with the site's headers.
    {
      requestTimeout: deadlines.request,
      headersTimeout: deadlines.headers,
      connectionsCheckingInterval: 1000,
      requireHostHeader: false,
    },
    (request, response) => {
      introduce(request, clientAddress(request, isTrusted));
      if (answerAtOnce(request, response)) return;
      for (const [name, value] of headers) response.setHeader(name, value);
      response.setHeader(requestIdHeader, idOf(request));
      if (!server.listening) response.setHeader("Connection", "close");
      if (!isWellFormed(request, response)) return;
      guardBody(request, response, (code) => {
        server.emit("clientError", Object.assign(new Error(code), { code }), request.socket);
      });
      if (answerHealth(request, response)) return;
      void answer(request, response);
    },
  );
  server.setTimeout(deadlines.silence);
  answerMalformed(server, headers);
  return server;
}

/** Writes a new id and the client's address into the request's headers, for the app. */
function introduce(request: IncomingMessage, address: string): void {
  request.headers[idKey] = randomUUID();
  request.headers[addressKey] = address;
}

const idKey = requestIdHeader.toLowerCase();
const addressKey = addressHeader.toLowerCase();
const idOf = (request: IncomingMessage) => String(request.headers[idKey]);

/** The line of a request that was answered with a kept page. */
function logKept(request: IncomingMessage, status: number, route: string): void {
  log("info", "request", {
    requestId: idOf(request),
    address: String(request.headers[addressKey]),
    method: request.method,
    route,
    status,
    kept: true,
  });
}

function isPage({ headers }: Response): boolean {
  return headers.get("Content-Type")?.startsWith("text/html") ?? false;
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
