import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { isLoopbackHost } from "../../lib/http/ip-address.server.ts";
import { log } from "../../lib/http/log.server.ts";

/** If a proxy overwrites the Host header, redirects never end. Browsers stop only after 16 or more redirects. */
const maxRedirects = 5;

/** Matches a public host name. Does not match an IP address or a single word, such as a container's name. */
const publicNamePattern = /\.[a-z][a-z0-9-]*\.?$/;

/** In both functions of the result, `address` is the visitor's IP address. */
export function createHostCheck(origin: string) {
  const { host: ownHost, hostname: ownName } = new URL(origin);
  const isLocal = isLoopbackHost(ownName);
  /** The number of redirects of each IP address since its last request with the site's own host name. */
  const redirects = new LRUCache<string, number>({ max: 1000, ttl: 60 * 60 * 1000 });
  const loggedNames = new LRUCache<string, true>({ max: 100 });

  return {
    /** Returns the request's host name, or null if the name is not public or is the site's own name. */
    getOtherName({ headers: { host = "" } }: IncomingMessage, address: string): string | null {
      const name = host.slice(0, 255).toLowerCase().replace(/:\d*$/, "");
      if (!isLocal && host !== ownHost && name !== ownName && publicNamePattern.test(name)) return name;
      if (redirects.size > 0) redirects.delete(address);
      return null;
    },
    /** Redirects to the same page at the site's own address. Returns false for a form or after too many redirects. */
    redirectFrom(name: string, { method, url }: IncomingMessage, response: ServerResponse, address: string): boolean {
      if (!loggedNames.has(name)) {
        loggedNames.set(name, true);
        log("warn", "other host name", {
          host: name,
          message: `A request had the host name ${name}, but forms work only at ${origin}. If your proxy replaces the Host header, configure the proxy to forward the visitor's Host header.`,
        });
      }
      const count = redirects.get(address) ?? 0;
      if ((method !== "GET" && method !== "HEAD") || count >= maxRedirects) return false;
      redirects.set(address, count + 1);
      response.writeHead(301, { Location: origin + url, "Cache-Control": "private, no-store" }).end();
      return true;
    },
  };
}
