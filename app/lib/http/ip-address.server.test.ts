import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { compileTrustedProxies, getIpAddress, getNetwork, getSitePrefix } from "./ip-address.server.ts";

/** A request over a connection from `remoteAddress` with an X-Forwarded-For header. */
const createIncoming = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  }) as unknown as IncomingMessage;

describe("the address of a client", () => {
  test.each([
    [
      "without proxies is the connection's, whatever is forwarded",
      [],
      createIncoming("198.51.100.7", "1.2.3.4"),
      "198.51.100.7",
    ],
    [
      "of a stranger who claims to be forwarded is theirs",
      ["10.0.0.0/8"],
      createIncoming("198.51.100.7", "10.1.1.1"),
      "198.51.100.7",
    ],
    [
      "behind a proxy of ours is what the proxy wrote",
      ["10.0.0.0/8"],
      createIncoming("10.1.1.1", "198.51.100.7"),
      "198.51.100.7",
    ],
    [
      "behind a proxy is the last one before it, not the first a client wrote",
      ["10.0.0.1"],
      createIncoming("10.0.0.1", "1.2.3.4, 198.51.100.7"),
      "198.51.100.7",
    ],
    [
      "behind two proxies of ours is the one before both",
      ["10.0.0.1", "10.0.0.2"],
      createIncoming("10.0.0.1", "1.2.3.4, 198.51.100.7, 10.0.0.2"),
      "198.51.100.7",
    ],
    ["behind a proxy that forwards nothing is the proxy's", ["10.0.0.1"], createIncoming("10.0.0.1"), "10.0.0.1"],
    [
      "is found when the proxy is reached by IPv6",
      ["10.0.0.1"],
      createIncoming("::ffff:10.0.0.1", "198.51.100.7"),
      "198.51.100.7",
    ],
  ] as const)("%s", (_what, proxies, request, address) => {
    expect(getIpAddress(request, compileTrustedProxies([...proxies]))).toBe(address);
  });
});

test.each(["nonsense", "10.0.0.0/33", "10.0.0.1/255.0.255.0", "fe80::/129"])("%j is no proxy", (proxy) => {
  expect(() => compileTrustedProxies([proxy])).toThrow();
});

test.each([
  ["198.51.100.7", "198.51.100.7"],
  ["::ffff:198.51.100.7", "198.51.100.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["unknown", "unknown"],
])("the network of the visitor at %s is %s", (address, network) => {
  expect(getNetwork(address)).toBe(network);
});

test.each([
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
  ["::ffff:198.51.100.7", null],
  ["198.51.100.7", null],
  ["unknown", null],
])("the site of %s is %s", (address, site) => {
  expect(getSitePrefix(address)).toBe(site);
});
