import process from "node:process";
import { expect, test, vi } from "vitest";
import { actionLine, print } from "./output.ts";

test.each([false, true])("Staff commands escape invisible characters in their output (JSON: %s).", (json) => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  print(json, "Tea\u001b[31m\u202e", ["Tea\u001b[31m\u202e"]);
  const printed = write.mock.calls.join("");
  write.mockRestore();
  expect(printed).toBe(json ? '"Tea\\u001b[31m\\u202e"\n' : "Tea\\u001b[31m\\u202e\n");
});

test.each([
  [["6a000000", "packing list"], "Packing List: new file requested", "6a000000: Packing List: new file requested"],
  [["demo@client.example"], "Password link sent to demo@client.example", "Password link sent to demo@client.example"],
  [
    ["baraka@company.example"],
    "Role of Baraka changed to lead",
    "baraka@company.example: Role of Baraka changed to lead",
  ],
])("The output of a staff action on %s names each thing once.", (named, message, line) => {
  expect(actionLine(named, message)).toBe(line);
});
