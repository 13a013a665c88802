import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import proxyAddress from "proxy-addr";

/** The web server overwrites X-Client-Address in every request, so that visitors cannot forge the header. */
export const ipAddressHeader = "X-Client-Address";

export const isLoopbackHost = (hostname: string) => ["localhost", "127.0.0.1", "[::1]"].includes(hostname);

export type IsTrustedProxy = (address: string, hop: number) => boolean;
export const compileTrustedProxies: (proxies: string[]) => IsTrustedProxy = proxyAddress.compile;

/**
 * Returns the rightmost IP address in X-Forwarded-For that does not belong to a trusted proxy. If an entry contains no
 * IP address, returns the address of the proxy that added the entry.
 */
export function getIpAddress(
  { headers, socket }: IncomingMessage,
  isTrusted: IsTrustedProxy,
  reportInvalid: (entry: string) => void,
): string {
  const entries = String(headers["x-forwarded-for"] ?? "").split(",");
  let address = socket.remoteAddress ?? "unknown";
  for (let hop = 0; isTrusted(address, hop); hop += 1) {
    const entry = entries.pop()?.trim();
    if (!entry) break;
    const forwarded = parseForwardedAddress(entry);
    if (!forwarded) {
      reportInvalid(entry);
      break;
    }
    address = forwarded;
  }
  return address;
}

function parseForwardedAddress(entry: string): string | null {
  const node = (/(?:^|;)\s*for=([^;]*)/i.exec(entry)?.[1] ?? entry).replaceAll('"', "").trim();
  const [, address = node] = /^\[(.+)\](?::\d+)?$|^([^:]+):\d+$/.exec(node)?.filter(Boolean) ?? [];
  return isIP(address) ? address : null;
}

export function readIpAddress(request: Request): string {
  return request.headers.get(ipAddressHeader) ?? "unknown";
}

/** Returns an IPv4 address unchanged. For IPv6, returns the /64 prefix, usually the network of one visitor. */
export function getNetwork(address: string): string {
  return getIpPrefix(address, 64) ?? address;
}

/** Returns null for IPv4. For IPv6, returns the /48 prefix, usually the largest network of one internet customer. */
export function getSitePrefix(address: string): string | null {
  return getIpPrefix(address, 48);
}

function getIpPrefix(address: string, bits: 48 | 64): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return bits === 64 ? parsed.toString() : null;
  const parts = parsed.parts.slice(0, bits / 16).map((part) => part.toString(16));
  return `${parts.join(":")}::/${bits}`;
}
