/** Pages that are the same for everybody, rendered once and then answered from memory. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { addressHeader } from "../lib/client-address.server.ts";
import { isLite } from "../lib/lite.server.ts";
import { requestIdHeader } from "../lib/log.server.ts";
import { bestBrotli, encode, type Stored } from "./stored.ts";

/** How many bytes of pages are kept, in every encoding together. */
const maxBytes = 48 * 1024 * 1024;
/** Addresses longer than this are nobody's page. */
const maxAddress = 512;

/** The request headers by which a page may differ, besides its address. */
export const varies = "Cookie, Save-Data, ECT, Sec-Fetch-Site";

export type Pages = {
  /** The kept page for a request; rendered when it is asked for first. A Response when it is one nobody may keep. */
  answer: (request: IncomingMessage) => Promise<Stored | Response>;
};

/** Whether a request may be answered with what everybody gets: it reads a page, and brings none of our cookies. */
export function isAnonymous(request: IncomingMessage): boolean {
  const { method, headers, url = "" } = request;
  return (
    (method === "GET" || method === "HEAD") &&
    url.length <= maxAddress &&
    !/(?:^|;\s*)(?:__Host-)?(?:session|flash|theme|cookieSettings|shared|reminded)\b/.test(headers.cookie ?? "")
  );
}

/** Keeps what `render` answers to anonymous requests. Two requests for a page that is not kept yet render it once. */
export function createPages(render: (request: Request) => Promise<Response>, origin: string): Pages {
  const kept = new LRUCache<string, Stored>({
    maxSize: maxBytes,
    sizeCalculation: ({ bodies }) => Object.values(bodies).reduce((sum, body) => sum + body.length, 1),
  });
  const underway = new Map<string, Promise<Stored | Response>>();

  return {
    async answer(incoming) {
      const request = anonymous(incoming, origin);
      const key = [request.url, isLite(request), request.headers.get("Sec-Fetch-Site")].join(" ");
      const known = kept.get(key);
      if (known) return known;
      const running = underway.get(key);
      if (running) {
        const shared = await running;
        // A Response is read once: who waited renders for itself.
        return shared instanceof Response ? render(request) : shared;
      }
      const rendering = keep(await render(request), request);
      underway.set(key, rendering);
      try {
        const page = await rendering;
        if (!(page instanceof Response)) kept.set(key, page);
        return page;
      } finally {
        underway.delete(key);
      }
    },
  };
}

/** The request of nobody in particular: its address, and the headers by which pages differ. */
function anonymous({ url = "/", headers }: IncomingMessage, origin: string): Request {
  const kept = new Headers();
  for (const name of ["save-data", "ect", "cookie", requestIdHeader.toLowerCase(), addressHeader.toLowerCase()]) {
    const value = headers[name];
    if (typeof value === "string") kept.set(name, value);
  }
  // Of where a navigation comes from, only whether it comes from a page of ours.
  if (headers["sec-fetch-site"] === "same-origin") kept.set("Sec-Fetch-Site", "same-origin");
  return new Request(origin + url, { headers: kept });
}

/** The bytes of an answer that everybody may get, or the answer itself. */
async function keep(response: Response, request: Request): Promise<Stored | Response> {
  const control = response.headers.get("Cache-Control") ?? "";
  if (response.status !== 200 || response.headers.has("Set-Cookie") || /no-store|private/.test(control))
    return response;
  const body = Buffer.from(await response.arrayBuffer());
  const headers = Object.fromEntries([...response.headers].map(([name, value]) => [name, value]));
  // Only a browser keeps it, and asks each time whether it is still the same.
  const cacheControl = control || "no-cache";
  return {
    headers: { ...headers, "cache-control": cacheControl, Vary: varies },
    etag: createHash("sha256").update(body).digest("base64url").slice(0, 22),
    // The best quality takes a tenth of a second: not for addresses that anybody can make up.
    bodies: await encode(body, new URL(request.url).search ? 6 : bestBrotli),
  };
}
