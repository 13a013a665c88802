import { expect, test } from "vitest";
import { normalizeClientId } from "./client-id.server.ts";

test.each([
  "7K3Q-X9MD-2HTV-W5BC",
  "7k3q-x9md-2htv-w5bc",
  "  7k3q x9md 2htv w5bc  ",
  "7K3Q\u00a0X9MD\t2HTV\nW5BC",
  "--7K3QX9MD2HTVW5BC--",
  "7K3Q\u2013X9MD\u20132HTV\u2013W5BC",
  "7K3Q\u2043X9MD\u30fc2HTV\u2796W5BC",
  "*7K3Q-X9MD-2HTV-W5BC*",
  '"7K3Q-X9MD-2HTV-W5BC".',
  "\u202a７K3Q-X9MD-2HTV-W5BC\u202c",
])("The typed text %j is read as the Client ID 7K3Q-X9MD-2HTV-W5BC.", (typed) => {
  expect(normalizeClientId(typed)).toBe("7K3Q-X9MD-2HTV-W5BC");
});

test("The letters O, I and L in a Client ID are read as the digits 0 and 1.", () => {
  expect(normalizeClientId("DEMO-CIIE-NTOO-OOOL")).toBe("DEM0-C11E-NT00-0001");
  expect(normalizeClientId("demo-cile-ntoo-oooi")).toBe("DEM0-C11E-NT00-0001");
});

test.each([
  ["", ""],
  ["ZZZZ-YYYY-XXXX-WWWW", "ZZZZ-YYYY-XXXX-WWWW"],
  ["acme-2019", "ACME-2019"],
  ["7K3Q-X9MD-2HTV-W5B", "7K3Q-X9MD-2HTV-W5B"],
  ["7K3Q-X9MD-2HTV-W5BU", "7K3Q-X9MD-2HTV-W5BU"],
  [" %' or '1'='1 ", "%' OR '1'='1"],
])(
  "The text %j, which does not have the form of a Client ID, is only trimmed and changed to upper case.",
  (typed, expected) => {
    expect(normalizeClientId(typed)).toBe(expected);
  },
);
