import type { IncomingMessage } from "node:http";
import { expect, test, vi } from "vitest";
import { compileTrustedProxies, getIpAddress, getNetwork, getSitePrefix } from "./ip-address.server.ts";

const createIncoming = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  }) as unknown as IncomingMessage;

const visitor = "198.51.100.7";
test.each([
  [[], visitor, "1.2.3.4", visitor],
  [["10.0.0.0/8"], visitor, "10.1.1.1", visitor],
  [["10.0.0.0/8"], "10.1.1.1", visitor, visitor],
  // A visitor can forge the start of X-Forwarded-For. Each trusted proxy appends the IP address of its sender.
  [["10.0.0.1"], "10.0.0.1", `1.2.3.4, ${visitor}`, visitor],
  [["10.0.0.1", "10.0.0.2"], "10.0.0.1", `1.2.3.4, ${visitor}, 10.0.0.2`, visitor],
  [["10.0.0.1"], "10.0.0.1", undefined, "10.0.0.1"],
  [["10.0.0.1"], "::ffff:10.0.0.1", visitor, visitor],
  [["10.0.0.1"], "10.0.0.1", `1.2.3.4:1, ${visitor}:40000`, visitor],
  [["10.0.0.1"], "10.0.0.1", "2001:db8::8", "2001:db8::8"],
  [["10.0.0.1"], "10.0.0.1", "[2001:db8::8]:40000", "2001:db8::8"],
  [["10.0.0.1"], "10.0.0.1", 'proto=https; For="[2001:db8::8]:40000";by=10.0.0.1', "2001:db8::8"],
  [["10.0.0.1", "10.0.0.2"], "10.0.0.1", `${visitor}:40000, 10.0.0.2:5000`, visitor],
])(
  "With the trusted proxies %j, a connection from %s with the forwarded addresses %s belongs to the visitor %s.",
  (proxies, sender, forwarded, address) => {
    const reportInvalid = vi.fn();
    expect(getIpAddress(createIncoming(sender, forwarded), compileTrustedProxies(proxies), reportInvalid)).toBe(
      address,
    );
    expect(reportInvalid).not.toHaveBeenCalled();
  },
);

test.each(["not-an-address", "198.51.100.7:port", "999.51.100.7", "for=_hidden", "[198.51.100.7"])(
  "The invalid forwarded address %j is reported, and the proxy's own address is used instead.",
  (entry) => {
    const reportInvalid = vi.fn();
    const incoming = createIncoming("10.0.0.1", `1.2.3.4, ${entry}`);
    expect(getIpAddress(incoming, compileTrustedProxies(["10.0.0.1"]), reportInvalid)).toBe("10.0.0.1");
    expect(reportInvalid.mock.calls).toEqual([[entry]]);
  },
);

test.each(["nonsense", "10.0.0.0/33", "10.0.0.1/255.0.255.0", "fe80::/129"])(
  "The text %j is not a valid address of a trusted proxy.",
  (proxy) => {
    expect(() => compileTrustedProxies([proxy])).toThrow();
  },
);

test.each([
  ["198.51.100.7", "198.51.100.7", null],
  ["::ffff:198.51.100.7", "198.51.100.7", null],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["2001:db8::1", "2001:db8:0:0::/64", "2001:db8:0::/48"],
  ["unknown", "unknown", null],
])("The IP address %s belongs to the network %s and to the IPv6 site prefix %s.", (address, network, site) => {
  expect([getNetwork(address), getSitePrefix(address)]).toEqual([network, site]);
});
