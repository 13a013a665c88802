import { expect, test } from "vitest";
import { DEFAULT_DOCUMENTS, getDocumentState, getFileProblem, sortDocuments } from "./document.ts";

test.each([
  [{ uploaded: false, verified: false }, "missing"],
  [{ uploaded: true, verified: false }, "uploaded"],
  [{ uploaded: true, verified: true }, "verified"],
] as const)("A document with the values %j has the state %s.", (document, state) => {
  expect(getDocumentState(document)).toBe(state);
});

test("Sorting documents returns a new list with the default documents first, then the other documents sorted by name.", () => {
  const documents = ["Permit", ...DEFAULT_DOCUMENTS, "Certificate of Origin"].sort().map((name) => ({ name }));
  const given = [...documents];
  expect(sortDocuments(documents).map(({ name }) => name)).toEqual([
    ...DEFAULT_DOCUMENTS,
    "Certificate of Origin",
    "Permit",
  ]);
  expect(documents).toEqual(given);
});

test("A file of 10 MiB is accepted, and a file with one byte more is rejected.", () => {
  expect(getFileProblem({ size: 10 * 1024 * 1024 })).toBeNull();
  const tooLarge = getFileProblem({ size: 10 * 1024 * 1024 + 1 });
  expect(tooLarge).toMatch(/^This file is over 10 MB\. Take the photo again .* shipment number\.$/);
  expect(tooLarge).not.toContain("parts");
});
