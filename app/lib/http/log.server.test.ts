import { execFileSync } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { expect, onTestFinished, test, vi } from "vitest";
import { log } from "./log.server.ts";

test("Log entries without a problem wait for more entries, and are then written together.", async () => {
  const printed = vi.spyOn(console, "log").mockImplementation(() => undefined);
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => {
    vi.useRealTimers();
    printed.mockRestore();
  });
  log("info", "first");
  await new Promise(setImmediate);
  log("info", "second");
  expect(printed).not.toHaveBeenCalled();
  vi.runAllTimers();
  expect(printed).toHaveBeenCalledTimes(1);
  const events = String(printed.mock.calls[0])
    .split("\n")
    .map((line) => JSON.parse(line).event);
  expect(events).toEqual(["first", "second"]);
});

test("A warning is written in the next event loop iteration, together with earlier log entries and each as one line.", async () => {
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

test("The last log entry is written before the process exits.", () => {
  const file = JSON.stringify(path.join(import.meta.dirname, "log.server.ts"));
  const code = `import(${file}).then(({ log }) => { log("error", "last"); process.exit(); })`;
  const printed = execFileSync(process.execPath, ["--import", "tsx", "-e", code], { encoding: "utf8" });
  expect(JSON.parse(printed)).toMatchObject({ level: "error", event: "last" });
});
