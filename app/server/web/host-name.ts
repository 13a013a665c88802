import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { log } from "../../lib/http/log.server.ts";
import { isLoopbackHost } from "../../lib/http/request-guard.server.ts";

/** A proxy may overwrite Host, and would then repeat a redirect without end. Browsers follow 16 redirects or more. */
const maxRedirects = 5;

/** Matches a name of the public internet, but no IP address and no name of one word, as in a container network. */
const publicNamePattern = /\.[a-z][a-z0-9-]*\.?$/;

type HostCheck = {
  isOtherHost: (request: IncomingMessage) => boolean;
  /** Redirects a request for a page under another host name to the same page at the site's own address. */
  redirectToOwnHost: (request: IncomingMessage, response: ServerResponse, address: string) => boolean;
};

export function createHostCheck(origin: string): HostCheck {
  const { host: ownHost, hostname: ownName } = new URL(origin);
  const isLocal = isLoopbackHost(ownName);
  /** Counts the redirects per IP address since its last request with the site's own host name. */
  const redirects = new LRUCache<string, number>({ max: 1000, ttl: 60 * 60 * 1000 });
  const loggedNames = new LRUCache<string, true>({ max: 100 });

  const getOtherName = ({ headers: { host } }: IncomingMessage): string | null => {
    if (isLocal || !host || host === ownHost) return null;
    const name = host.slice(0, 255).toLowerCase().replace(/:\d*$/, "");
    return name !== ownName && publicNamePattern.test(name) ? name : null;
  };
  return {
    isOtherHost: (request) => getOtherName(request) !== null,
    redirectToOwnHost(request, response, address) {
      const name = getOtherName(request);
      if (name === null) {
        if (redirects.size > 0) redirects.delete(address);
        return false;
      }
      if (!loggedNames.has(name)) {
        loggedNames.set(name, true);
        log("warn", "other host name", {
          host: name,
          message: `Forms work only at ${origin}. If the proxy uses the name ${name} for the site, configure the proxy to forward the Host header.`,
        });
      }
      const count = redirects.get(address) ?? 0;
      if ((request.method !== "GET" && request.method !== "HEAD") || count >= maxRedirects) return false;
      redirects.set(address, count + 1);
      response.writeHead(301, { Location: origin + request.url, "Cache-Control": "private, no-store" }).end();
      return true;
    },
  };
}
