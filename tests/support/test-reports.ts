import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { JSONReport, JSONReportSpec, JSONReportSuite } from "@playwright/test/reporter";
import type { JsonTestResults } from "vitest/node";

/** The result of a test run: passed tests, failed and flaky tests with their errors, and the duration of each test. */
export type TestRunResult = {
  passed: number;
  failed: string[];
  flaky?: string[];
  durations: { name: string; ms: number }[];
};

const root = path.resolve(import.meta.dirname, "../..");

/** Reads a report of Vitest. If the run failed without a failed test, the report counts `name` as the failure. */
export function readVitestReport(file: string, succeeded: boolean, name: string): TestRunResult {
  const report = readJson<JsonTestResults>(file);
  const files = (report?.testResults ?? []).map((result) => ({ ...result, where: path.relative(root, result.name) }));
  // A test that passes at its second attempt still has the error of the first attempt.
  const listErrors = ({ where, assertionResults }: (typeof files)[number], testStatus: "passed" | "failed") =>
    assertionResults
      .filter(
        ({ status, failureMessages }) => status === testStatus && (status === "failed" || failureMessages?.length),
      )
      .map(({ fullName, failureMessages }) => `${where} › ${fullName}\n${shortenMessage(failureMessages?.[0])}`);
  const failed = files.flatMap((file) => {
    const { where, message, status } = file;
    const tests = listErrors(file, "failed");
    // For a test file that cannot be loaded, the report contains a failed file without failed tests.
    return tests.length === 0 && status === "failed" ? [`${where}\n${shortenMessage(message)}`] : tests;
  });
  return {
    passed: report?.numPassedTests ?? 0,
    flaky: files.flatMap((file) => listErrors(file, "passed")),
    failed: failed.length > 0 || succeeded ? failed : [`${name}, by its exit code`],
    durations: files.flatMap(({ where, assertionResults }) =>
      assertionResults.map(({ fullName, duration }) => ({ name: `${where} › ${fullName}`, ms: duration ?? 0 })),
    ),
  };
}

export function readPlaywrightReport(file: string, succeeded: boolean): TestRunResult {
  const report = readJson<JSONReport>(file);
  const tests = (report?.suites ?? []).flatMap(flattenSpecs).flatMap((spec) =>
    spec.tests.map(({ status, projectName, results }) => ({
      name: `tests/e2e/${spec.file} › ${spec.title} [${projectName}]`,
      ms: results.reduce((total, { duration }) => total + duration, 0),
      // Reports all errors, because after a timeout only the second error names the line.
      errors: results.flatMap(({ errors }) => errors.map(({ message }) => shortenMessage(message))),
      failed: status === "unexpected",
      isFlaky: status === "flaky",
    })),
  );
  const failed = tests.filter((test) => test.failed).map(({ name, errors }) => [name, ...errors].join("\n"));
  failed.push(...(report?.errors ?? []).map(({ message }) => `journeys\n${shortenMessage(message)}`));
  return {
    passed: (report?.stats.expected ?? 0) + (report?.stats.flaky ?? 0),
    flaky: tests.filter(({ isFlaky }) => isFlaky).map(({ name, errors }) => [name, ...errors].join("\n")),
    failed: failed.length > 0 || succeeded ? failed : ["journeys, by their exit code"],
    durations: tests,
  };
}

function flattenSpecs(suite: JSONReportSuite): JSONReportSpec[] {
  return [...suite.specs, ...(suite.suites ?? []).flatMap(flattenSpecs)];
}

/** Returns the first lines of an error message without colours. */
function shortenMessage(message = ""): string {
  return stripVTControlCharacters(message).split("\n").slice(0, 20).join("\n");
}

function readJson<T>(file: string): T | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as T) : null;
}
