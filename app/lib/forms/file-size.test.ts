import { expect, test } from "vitest";
import { formatFileSize, maxFileBytes } from "./file-size.ts";

test.each([
  [0, "0 KB"],
  [1, "1 KB"],
  [421_888, "412 KB"],
  [999 * 1024, "999 KB"],
  [1000 * 1024, "1.0 MB"],
  [1_258_291, "1.2 MB"],
  [maxFileBytes, "10.0 MB"],
])("The size of a file of %d bytes is displayed as %s.", (bytes, words) => {
  expect(formatFileSize(bytes)).toBe(words);
});
