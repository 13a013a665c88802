/** The address a request comes from, for limits and log lines. */
import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import proxyAddress from "proxy-addr";

/** The server writes the address here for the app, over whatever a request brings under this name. */
export const addressHeader = "X-Client-Address";

/** Whether an address belongs to a proxy of ours. Built from addresses and CIDR ranges; throws when one is neither. */
export type IsTrusted = (address: string, hop: number) => boolean;
export const trusting: (proxies: string[]) => IsTrusted = proxyAddress.compile;

/**
 * The address of the client of a connection. X-Forwarded-For counts as far as trusted proxies wrote it: from the right,
 * the first address that is none of theirs.
 */
export function clientAddress(incoming: IncomingMessage, isTrusted: IsTrusted): string {
  return proxyAddress(incoming, isTrusted) ?? "unknown";
}

/** The address that the server wrote into a request. */
export function addressOf(request: Request): string {
  return request.headers.get(addressHeader) ?? "unknown";
}

/** What one visitor holds: an IPv4 address, or the /64 that a single IPv6 line has. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}
