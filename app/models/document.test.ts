import { expect, test } from "vitest";
import { DEFAULT_DOCUMENTS, getDocumentState, getFileProblem, sortDocuments } from "./document.ts";

test.each([
  [{ uploaded: false, verified: false }, "missing"],
  [{ uploaded: true, verified: false }, "uploaded"],
  [{ uploaded: true, verified: true }, "verified"],
] as const)("A document with %j has the state %s.", (document, state) => {
  expect(getDocumentState(document)).toBe(state);
});

test("Documents are sorted with the default documents first and the other documents by name.", () => {
  const names = ["Permit", ...DEFAULT_DOCUMENTS, "Certificate of Origin"].sort();
  const shown = sortDocuments(names.map((name) => ({ name }))).map(({ name }) => name);
  expect(shown).toEqual([...DEFAULT_DOCUMENTS, "Certificate of Origin", "Permit"]);
});

test("Sorting documents does not change the given list.", () => {
  const documents = [{ name: "Bill of Lading" }, { name: "Commercial Invoice" }];
  sortDocuments(documents);
  expect(documents).toEqual([{ name: "Bill of Lading" }, { name: "Commercial Invoice" }]);
});

test("A file can have 10 MiB but not one byte more.", () => {
  expect(getFileProblem({ size: 10 * 1024 * 1024 })).toBeNull();
  const tooLarge = getFileProblem({ size: 10 * 1024 * 1024 + 1 });
  expect(tooLarge).toMatch(/^This file is over 10 MB\. Take the photo again .* shipment number\.$/);
  expect(tooLarge).not.toContain("parts");
});
