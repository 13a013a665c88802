/** The address a request comes from, for limits and log lines. */
import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import proxyAddress from "proxy-addr";

/** The server writes the address here for the app, over whatever a request brings under this name. */
export const ipAddressHeader = "X-Client-Address";

/** Whether an address belongs to a proxy of ours. Built from addresses and CIDR ranges; throws when one is neither. */
export type IsTrustedProxy = (address: string, hop: number) => boolean;
export const compileTrustedProxies: (proxies: string[]) => IsTrustedProxy = proxyAddress.compile;

/**
 * The address of the client of a connection. X-Forwarded-For counts as far as trusted proxies wrote it: from the right,
 * the first address that is none of theirs.
 */
export function getIpAddress(incoming: IncomingMessage, isTrusted: IsTrustedProxy): string {
  const isForwarded = incoming.headers["x-forwarded-for"] !== undefined;
  // A connection that is closed has no address any more.
  return (isForwarded ? proxyAddress(incoming, isTrusted) : incoming.socket.remoteAddress) ?? "unknown";
}

/** The address that the server wrote into a request. */
export function readIpAddress(request: Request): string {
  return request.headers.get(ipAddressHeader) ?? "unknown";
}

/** The network of one visitor: an IPv4 address, or the /64 of an IPv6 connection. */
export function getNetwork(address: string): string {
  return getIpPrefix(address, 64) ?? address;
}

/** The most that a provider's customer may have: the /48 of an IPv6 address, 65,536 /64s. Null for IPv4. */
export function getSitePrefix(address: string): string | null {
  return getIpPrefix(address, 48);
}

/** An IPv4 address as it is, or the first bits of an IPv6 address; null when it is neither. */
function getIpPrefix(address: string, bits: 48 | 64): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return bits === 64 ? parsed.toString() : null;
  const parts = parsed.parts.slice(0, bits / 16).map((part) => part.toString(16));
  return `${parts.join(":")}::/${bits}`;
}
