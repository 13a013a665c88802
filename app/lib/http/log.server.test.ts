import { execFileSync } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { expect, onTestFinished, test, vi } from "vitest";
import { log } from "./log.server.ts";

/** Records the lines that the test prints with console.log. */
function recordPrinted() {
  const printed = vi.spyOn(console, "log").mockImplementation(() => undefined);
  onTestFinished(() => printed.mockRestore());
  return {
    printed,
    readEntries: () =>
      printed.mock.calls
        .join("\n")
        .split("\n")
        .map((line) => JSON.parse(line)),
  };
}

test("Log entries of the level info are collected and then written together.", async () => {
  const { printed, readEntries } = recordPrinted();
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  log("info", "first");
  await new Promise(setImmediate);
  log("info", "second");
  expect(printed).not.toHaveBeenCalled();
  vi.runAllTimers();
  expect(printed).toHaveBeenCalledTimes(1);
  expect(readEntries()).toMatchObject([{ event: "first" }, { event: "second" }]);
});

test("A warning is written in the next event loop iteration, together with the earlier log entries, one line per entry.", async () => {
  const { printed, readEntries } = recordPrinted();
  log("info", "first", { route: "/a" });
  log("warn", "second", { message: "one\ntwo\u2028three" });
  expect(printed).not.toHaveBeenCalled();
  await new Promise(setImmediate);
  expect(printed).toHaveBeenCalledTimes(1);
  expect(readEntries()).toMatchObject([
    { level: "info", event: "first", route: "/a" },
    { level: "warn", event: "second", message: "one\ntwo\u2028three" },
  ]);
  expect(String(printed.mock.calls[0])).not.toContain("\u2028");
});

test("The last log entry is written before the process exits.", () => {
  const file = JSON.stringify(path.join(import.meta.dirname, "log.server.ts"));
  const code = `import(${file}).then(({ log }) => { log("error", "last"); process.exit(); })`;
  const printed = execFileSync(process.execPath, ["--import", "tsx", "-e", code], { encoding: "utf8" });
  expect(JSON.parse(printed)).toMatchObject({ level: "error", event: "last" });
});
