import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ensureKeys, readKeys } from "./embedded-backend.ts";

function createDataDir() {
  const dataDir = mkdtempSync(path.join(tmpdir(), "keys-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  return { dataDir, file: path.join(dataDir, "keys.json") };
}

test("The first start creates a key file that only the current user can read, and later starts use the same keys.", () => {
  const { dataDir, file } = createDataDir();
  expect(readKeys(dataDir)).toBeNull();
  const keys = ensureKeys(dataDir);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, "utf8");
  expect(ensureKeys(dataDir)).toEqual(keys);
  expect(readFileSync(file, "utf8")).toBe(text);
  expect(ensureKeys(createDataDir().dataDir).signingKey.d).not.toBe(keys.signingKey.d);
});
