import process from "node:process";
import { expect, test, vi } from "vitest";
import { print } from "./output.ts";

test.each([false, true])("Staff commands escape invisible characters in their output (JSON: %s).", (json) => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  print(json, "Tea\u001b[31m\u202e", ["Tea\u001b[31m\u202e"]);
  const printed = write.mock.calls.join("");
  write.mockRestore();
  expect(printed).toBe(json ? '"Tea\\u001b[31m\\u202e"\n' : "Tea\\u001b[31m\\u202e\n");
});
