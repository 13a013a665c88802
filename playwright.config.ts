import process from "node:process";
import { defineConfig } from "@playwright/test";
import { findChromium } from "./tests/support/browser-programs.ts";
import type { SiteOptions } from "./tests/support/e2e-fixtures.ts";

// npm test gives ports and a folder of its own; without it, these.
const port = Number(process.env.E2E_PORT ?? 3100);
const backendPort = Number(process.env.E2E_BACKEND_PORT ?? 54399);
const dataDir = process.env.E2E_DATA_DIR ?? ".data/e2e";

const scriptOnlySpecs = [
  "accessibility.spec.ts",
  "before-hydration.spec.ts",
  "browser-tabs.spec.ts",
  "carousel.spec.ts",
  "desk-forms.spec.ts",
  "dialogs.spec.ts",
  "email-draft.spec.ts",
  "home-statistics.spec.ts",
  "motion.spec.ts",
  "offline.spec.ts",
  "page-navigation.spec.ts",
  "photo-size.spec.ts",
  "print.spec.ts",
  "resumable-upload.spec.ts",
  "second-factor-reminder.spec.ts",
  "shell.spec.ts",
  "splash.spec.ts",
  "toasts.spec.ts",
  "upload.spec.ts",
  "with-script.spec.ts",
];

export default defineConfig<SiteOptions>({
  testDir: "tests/e2e",
  outputDir: "test-results",
  fullyParallel: true,
  forbidOnly: true,
  // A journey that fails is tried once more; npm test reports it as flaky.
  retries: 1,
  // Route and process tests run beside the journeys.
  workers: 2,
  reporter: "list",
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    dataDir,
    // A worker answers pages behind the back of what a test says of the line: only no-line.spec.ts runs with one.
    serviceWorkers: "block",
    // A trace of every test takes a quarter of the time: ask for one with --trace on.
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: findChromium() ?? undefined,
      // The sandbox needs a kernel setting that containers and root lack; the tests open only this site.
      args: [
        "--no-sandbox",
        "--in-process-gpu",
        // Every test has its profile and so its own renderer; a second one, started ahead for the next page, is not needed.
        "--renderer-process-limit=1",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
  // Each journey runs in both projects; tests for only one of them are in files of their own.
  projects: [
    { name: "without script", use: { javaScriptEnabled: false }, testIgnore: scriptOnlySpecs },
    // Script takes no part in another site's form or frame, nor in what style sheets do.
    {
      name: "with script",
      use: { javaScriptEnabled: true },
      testIgnore: ["cross-site-requests.spec.ts", "styles.spec.ts"],
    },
  ],
  webServer: {
    // Two processes that get the requests in turn, so that state kept in one process alone fails the tests.
    command: "node --import tsx tests/support/site-cluster.ts",
    cwd: import.meta.dirname,
    url: `http://127.0.0.1:${port}/`,
    env: { PORT: String(port), BACKEND_PORT: String(backendPort), DATA_DIR: dataDir },
    timeout: 120_000,
    gracefulShutdown: { signal: "SIGTERM", timeout: 15_000 },
    stdout: "ignore",
    stderr: "pipe",
  },
});
