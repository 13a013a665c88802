import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { pathToFileURL } from "node:url";
import { constants } from "node:zlib";
import { createRequestListener, sendResponse } from "@remix-run/node-fetch-server";
import compression from "compression";
import { LRUCache } from "lru-cache";
import { createRequestHandler, RouterContextProvider, type ServerBuild } from "react-router";
import { dayInEastAfrica } from "../../lib/dates.ts";
import { env } from "../../lib/http/env.server.ts";
import { assetHeaders, renderedHeader, securityHeaders } from "../../lib/http/headers.server.ts";
import { compileTrustedProxies, getIpAddress, ipAddressHeader } from "../../lib/http/ip-address.server.ts";
import { createRequestId, log, requestIdHeader } from "../../lib/http/log.server.ts";
import { findFiguresToCheck, findSamples } from "../content-report.ts";
import { clientBuildFolder, serverBuildFile } from "../start/build.ts";
import {
  type CompressedPage,
  createCompressedResponse,
  pageWindowBits,
  quickBrotli,
  sendCachedResponse,
} from "./cached-response.ts";
import { type FinishedPage, finishPage } from "./critical-css.ts";
import { isStopping, respondToHealthCheck } from "./health.ts";
import { createHostCheck } from "./host-name.ts";
import { handleMalformedRequests, hasValidHost, isWellFormed } from "./malformed-requests.ts";
import { createPageCache, getPageUrl, isAnonymous, varyHeader } from "./page-cache.ts";
import { guardBody } from "./request-body.ts";
import { guardReader } from "./slow-readers.ts";
import { readStaticFiles } from "./static-files.ts";

const hiddenIpsWarning =
  "APP_ORIGIN is https, but TRUSTED_PROXIES is empty. Rate limits per IP address are off, because " +
  "the site sees the proxy's IP address instead of the visitor's. Set TRUSTED_PROXIES to the IP address of the proxy.";

const invalidAddressWarning =
  "The header X-Forwarded-For of a trusted proxy has an entry that is not an IP address. All visitors behind " +
  "this proxy share the rate limits of one address, because the site sees only the proxy's IP address. Configure the proxy to send only IP addresses in this header.";

const sampleValuesWarning =
  "The site still shows sample values, such as a sample phone number. To list the sample values, run `npm run content`.";

const figuresToCheckWarning =
  "Some rates or rules on the site are overdue for a check. To list these rates and rules, run `npm run content`.";

/** Caddy reuses an idle connection for two minutes. If the site closed the connection earlier, a form could be lost. */
const proxyIdleMs = 120_000;

type FinishedCompressedPage = FinishedPage & CompressedPage;
type AppResponse = { response: Response; page?: FinishedCompressedPage };

type NodeMiddleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

export async function createSite(): Promise<Server> {
  const build = (await import(pathToFileURL(serverBuildFile).href)) as ServerBuild;
  const { origin: siteOrigin, deadlines, trustedProxies, hasVisitorIps } = env();
  if (!hasVisitorIps) log("warn", "visitor addresses unknown", { message: hiddenIpsWarning });
  const origin = new URL(siteOrigin);
  const samples = origin.protocol === "https:" ? findSamples().length : 0;
  if (samples > 0) log("warn", "sample values", { values: samples, message: sampleValuesWarning });
  const figures = findFiguresToCheck(dayInEastAfrica(new Date())).length;
  if (figures > 0) log("warn", "figures to check", { figures, message: figuresToCheckWarning });
  const headers = Object.entries(securityHeaders());
  const commonHeaders = headers.flat();
  const headersOfAssets = Object.entries(assetHeaders()).flat();
  const isTrusted = compileTrustedProxies(trustedProxies);
  const hosts = createHostCheck(origin.origin);
  const files = readStaticFiles(clientBuildFolder);
  const finishedPages = new LRUCache<string, FinishedCompressedPage>({
    maxSize: 8 * 1024 * 1024,
    sizeCalculation: ({ html }) => 3 * html.length,
    ttl: 5 * 60 * 1000,
  });

  const handleRequest = createRequestHandler(build, "production");
  const render = async (request: Request): Promise<AppResponse> => {
    const response = await handleRequest(request, new RouterContextProvider());
    // The router sends some errors without running the middleware that sets Cache-Control.
    if (response.status >= 400) response.headers.set("Cache-Control", "private, no-store");
    if (!isHtml(response)) return { response };
    const page = await finish(request, response);
    response.headers.set("Content-Security-Policy", page.policy);
    response.headers.set("Accept-CH", "ECT");
    response.headers.append("Vary", varyHeader);
    return { response, page };
  };
  const finish = async (request: Request, response: Response): Promise<FinishedCompressedPage> => {
    const policy = response.headers.get("Content-Security-Policy") ?? "";
    const hasStyles = request.headers.get("Sec-Fetch-Site") === "same-origin";
    const renderKey = response.headers.get(renderedHeader);
    response.headers.delete(renderedHeader);
    const key = renderKey && request.method === "GET" ? `${hasStyles} ${renderKey}` : null;
    const cachedPage = key && finishedPages.get(key);
    if (cachedPage) return cachedPage;
    const page = { ...(await finishPage({ html: await response.text(), policy }, files, hasStyles)), bodies: {} };
    if (key) finishedPages.set(key, page);
    return page;
  };
  const renderUncompressed = async (request: Request) => {
    const { response, page } = await render(request);
    return page ? new Response(page.html, response) : response;
  };
  const renderCompressed = async (request: Request) => {
    const { response, page } = await render(request);
    return page ? createCompressedResponse(page, response, request.headers.get("Accept-Encoding")) : response;
  };
  const app = createRequestListener(renderCompressed, {
    host: origin.host,
    protocol: origin.protocol,
    onError: createFailureResponse,
  });
  const pages = createPageCache(renderUncompressed, origin.origin);
  // The types of `compression` are for Express, but the package also works with node:http.
  const compress = compression({
    // Compression would delay the end of React Router's redirects, which have status 202 and a short body.
    filter: (request, response) => response.statusCode !== 202 && compression.filter(request, response),
    brotli: {
      params: { [constants.BROTLI_PARAM_QUALITY]: quickBrotli, [constants.BROTLI_PARAM_LGWIN]: pageWindowBits },
    },
  }) as unknown as NodeMiddleware;

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const file = request.method === "GET" || request.method === "HEAD" ? files.get(path) : undefined;
    if (file) return sendCachedResponse(request, response, file);
    request.url = getPageUrl(request);
    const respondFromApp = () => compress(request, response, () => app(request, response));
    if (!isAnonymous(request)) return respondFromApp();
    const result = await pages
      .getOrRender(request)
      .catch((error) => ({ page: createFailureResponse(error), shared: false }));
    if (!result) return respondFromApp();
    const { page, shared } = result;
    if (page instanceof Response) {
      const encoding = String(request.headers["accept-encoding"] ?? "");
      const error = isHtml(page)
        ? await createCompressedResponse({ html: await page.text(), bodies: {} }, page, encoding)
        : page;
      compress(request, response, () => void sendResponse(response, error));
    } else sendCachedResponse(request, response, page);
    // If this request caused the rendering (`shared` is false), the app has already logged the request.
    if (shared) logCachedResponse(request, page instanceof Response ? page.status : response.statusCode, path);
  };

  const respondFromMemory = (request: IncomingMessage, response: ServerResponse): boolean => {
    const { method, url = "", headers: requestHeaders } = request;
    const isRead = method === "GET" || method === "HEAD";
    const hasBody = requestHeaders["content-length"] !== undefined || requestHeaders["transfer-encoding"] !== undefined;
    if (!isRead || hasBody || !hasValidHost(request)) return false;
    const file = files.get(url);
    const stored = file ?? pages.getCached(request);
    if (!stored) return false;
    const ownHeaders = url.startsWith("/assets/")
      ? [...headersOfAssets]
      : [...commonHeaders, requestIdHeader, getRequestId(request)];
    if (isStopping()) ownHeaders.push("Connection", "close");
    sendCachedResponse(request, response, stored, ownHeaders);
    if (!file) logCachedResponse(request, response.statusCode, url.split("?", 1)[0] ?? "");
    return true;
  };

  const responses = new WeakMap<Duplex, ServerResponse>();
  const server = createServer(
    // `requireHostHeader` is off, because isWellFormed rejects requests without Host and sends the site's headers.
    {
      requestTimeout: deadlines.request,
      headersTimeout: deadlines.headers,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: trustedProxies.length > 0 ? proxyIdleMs + 5000 : undefined,
      requireHostHeader: false,
    },
    (request, response) => {
      request.headers[requestIdKey] = createRequestId();
      const address = getIpAddress(request, isTrusted, reportInvalidAddress);
      request.headers[ipAddressKey] = address;
      const otherHost = hosts.getOtherName(request, address);
      if (!otherHost && respondFromMemory(request, response)) return;
      responses.set(request.socket, response);
      for (const [name, value] of headers) response.setHeader(name, value);
      response.setHeader(requestIdHeader, getRequestId(request));
      if (isStopping()) response.setHeader("Connection", "close");
      if (!isWellFormed(request, response)) return;
      guardBody(request, response, (code) => {
        server.emit("clientError", Object.assign(new Error(code), { code }), request.socket);
      });
      guardReader(request, response);
      if (respondToHealthCheck(request, response)) return;
      if (otherHost && hosts.redirectFrom(otherHost, request, response, address)) return;
      void respond(request, response);
    },
  );
  server.setTimeout(deadlines.idle);
  handleMalformedRequests(server, headers, responses);
  return server;
}

let isInvalidAddressLogged = false;
function reportInvalidAddress(entry: string): void {
  if (isInvalidAddressLogged) return;
  isInvalidAddressLogged = true;
  log("warn", "invalid address", { entry: entry.slice(0, 100), message: invalidAddressWarning });
}

const requestIdKey = requestIdHeader.toLowerCase();
const ipAddressKey = ipAddressHeader.toLowerCase();
const getRequestId = (request: IncomingMessage) => String(request.headers[requestIdKey]);

function logCachedResponse(request: IncomingMessage, status: number, route: string): void {
  const address = String(request.headers[ipAddressKey]);
  const { method } = request;
  log("info", "request", { requestId: getRequestId(request), address, method, route, status, cached: true });
}

function isHtml({ headers }: Response): boolean {
  return headers.get("Content-Type")?.startsWith("text/html") ?? false;
}

function createFailureResponse(error: unknown): Response {
  const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
  log("error", "response failed", { error: name, message });
  return new Response("Something went wrong. Try again in a minute.", {
    status: 500,
    headers: { "Cache-Control": "private, no-store" },
  });
}
