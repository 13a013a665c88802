import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { clientAddress, networkOf, siteOf, trusting } from "./client-address.server.ts";

/** A request over a connection from `remoteAddress` with an X-Forwarded-For header. */
const from = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  }) as unknown as IncomingMessage;

describe("the address of a client", () => {
  test.each([
    ["without proxies is the connection's, whatever is forwarded", [], from("198.51.100.7", "1.2.3.4"), "198.51.100.7"],
    [
      "of a stranger who claims to be forwarded is theirs",
      ["10.0.0.0/8"],
      from("198.51.100.7", "10.1.1.1"),
      "198.51.100.7",
    ],
    [
      "behind a proxy of ours is what the proxy wrote",
      ["10.0.0.0/8"],
      from("10.1.1.1", "198.51.100.7"),
      "198.51.100.7",
    ],
    [
      "behind a proxy is the last one before it, not the first a client wrote",
      ["10.0.0.1"],
      from("10.0.0.1", "1.2.3.4, 198.51.100.7"),
      "198.51.100.7",
    ],
    [
      "behind two proxies of ours is the one before both",
      ["10.0.0.1", "10.0.0.2"],
      from("10.0.0.1", "1.2.3.4, 198.51.100.7, 10.0.0.2"),
      "198.51.100.7",
    ],
    ["behind a proxy that forwards nothing is the proxy's", ["10.0.0.1"], from("10.0.0.1"), "10.0.0.1"],
    [
      "is found when the proxy is reached by IPv6",
      ["10.0.0.1"],
      from("::ffff:10.0.0.1", "198.51.100.7"),
      "198.51.100.7",
    ],
  ] as const)("%s", (_what, proxies, request, address) => {
    expect(clientAddress(request, trusting([...proxies]))).toBe(address);
  });
});

test.each(["nonsense", "10.0.0.0/33", "10.0.0.1/255.0.255.0", "fe80::/129"])("%j is no proxy", (proxy) => {
  expect(() => trusting([proxy])).toThrow();
});

test.each([
  ["198.51.100.7", "198.51.100.7"],
  ["::ffff:198.51.100.7", "198.51.100.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["unknown", "unknown"],
])("the network of the visitor at %s is %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
  ["::ffff:198.51.100.7", null],
  ["198.51.100.7", null],
  ["unknown", null],
])("the site of %s is %s", (address, site) => {
  expect(siteOf(address)).toBe(site);
});
