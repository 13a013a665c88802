import { execFileSync } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { expect, onTestFinished, test, vi } from "vitest";
import { log } from "./log.server.ts";

test("the lines of one turn of the event loop are written together, in order, each a line whatever is in it", async () => {
  const printed = vi.spyOn(console, "log").mockImplementation(() => undefined);
  onTestFinished(() => printed.mockRestore());
  log("info", "first", { route: "/a" });
  log("warn", "second", { message: "one\ntwo\u2028three" });
  expect(printed).not.toHaveBeenCalled();
  await new Promise(setImmediate);
  expect(printed).toHaveBeenCalledTimes(1);
  const lines = String(printed.mock.calls[0]).split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "info", event: "first", route: "/a" },
    { level: "warn", event: "second", message: "one\ntwo\u2028three" },
  ]);
  expect(lines.join("")).not.toContain("\u2028");
});

test("The last log lines are written before the process exits.", () => {
  const file = JSON.stringify(path.join(import.meta.dirname, "log.server.ts"));
  const code = `import(${file}).then(({ log }) => { log("error", "last"); process.exit(); })`;
  const printed = execFileSync(process.execPath, ["--import", "tsx", "-e", code], { encoding: "utf8" });
  expect(JSON.parse(printed)).toMatchObject({ level: "error", event: "last" });
});
