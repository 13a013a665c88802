import { expect, test } from "vitest";
import { normalizeClientId } from "./client-id.server.ts";

test.each([
  "7K3Q-X9MD-2HTV-W5BC",
  "7k3q-x9md-2htv-w5bc",
  "7K3QX9MD2HTVW5BC",
  "  7k3q x9md 2htv w5bc  ",
  "7K3Q\u00a0X9MD\t2HTV\nW5BC",
  "7-K-3-Q-X-9-M-D-2-H-T-V-W-5-B-C",
  "--7K3QX9MD2HTVW5BC--",
  "7K3Q\u2013X9MD\u20132HTV\u2013W5BC",
  "7K3Q\u2011X9MD\u20112HTV\u2011W5BC",
  "\u202a７K3Q-X9MD-2HTV-W5BC\u202c",
])("The typed text %j is read as the client ID 7K3Q-X9MD-2HTV-W5BC.", (typed) => {
  expect(normalizeClientId(typed)).toBe("7K3Q-X9MD-2HTV-W5BC");
});

test("The letters O, I and L in a Client ID are read as the digits 0 and 1.", () => {
  expect(normalizeClientId("DEMO-CIIE-NTOO-OOOL")).toBe("DEM0-C11E-NT00-0001");
  expect(normalizeClientId("demo-cile-ntoo-oooi")).toBe("DEM0-C11E-NT00-0001");
});

test.each(["DEM0-C11E-NT00-0001", "0000-0000-0000-0000", "ZZZZ-YYYY-XXXX-WWWW"])(
  "The Client ID %s, written as in the database, stays unchanged.",
  (id) => {
    expect(normalizeClientId(id)).toBe(id);
  },
);

test.each([
  ["", ""],
  ["   ", ""],
  ["acme-2019", "ACME-2019"],
  ["7K3Q-X9MD-2HTV-W5B", "7K3Q-X9MD-2HTV-W5B"],
  ["7K3Q-X9MD-2HTV-W5BCC", "7K3Q-X9MD-2HTV-W5BCC"],
  ["7K3Q-X9MD-2HTV-W5BU", "7K3Q-X9MD-2HTV-W5BU"],
  [" %' or '1'='1 ", "%' OR '1'='1"],
])("The text %j, which is not a Client ID, is only trimmed and capitalised.", (typed, expected) => {
  expect(normalizeClientId(typed)).toBe(expected);
});
