import process from "node:process";
import { defineConfig } from "@playwright/test";
import { findChromium } from "./tests/support/browser-programs.ts";
import type { SiteOptions } from "./tests/support/e2e-fixtures.ts";

// npm test sets these variables to free ports and a separate data directory.
const port = Number(process.env.E2E_PORT ?? 3100);
const backendPort = Number(process.env.E2E_BACKEND_PORT ?? 54399);
export const dataDir = process.env.E2E_DATA_DIR ?? ".data/e2e";

export const siteServer = {
  // Two processes of the site respond to requests in turn. Tests fail if a process stores data only in its own memory.
  command: "node --import tsx tests/support/site-cluster.ts",
  cwd: import.meta.dirname,
  url: `http://127.0.0.1:${port}/`,
  env: {
    PORT: String(port),
    BACKEND_PORT: String(backendPort),
    DATA_DIR: dataDir,
  },
  timeout: 120_000,
  gracefulShutdown: { signal: "SIGTERM" as const, timeout: 15_000 },
  stdout: "ignore" as const,
  stderr: "pipe" as const,
};

export default defineConfig<SiteOptions>({
  testDir: "tests/e2e",
  outputDir: "test-results",
  fullyParallel: true,
  forbidOnly: true,
  // npm test reports a test as flaky if only its second attempt passes.
  retries: 1,
  // Two workers leave processor time for the route and process tests, which run in parallel.
  workers: 2,
  reporter: "list",
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    dataDir,
    // A service worker would respond to requests that a test intercepts. Only tests of offline copies allow the worker.
    serviceWorkers: "block",
    // Traces are off, because they take a quarter of the run time. To trace one test, add `--trace on` to the command.
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: findChromium() ?? undefined,
      // Chromium's sandbox does not work in many containers or as root. The sandbox is off, because the tests open only
      // pages on this machine.
      args: [
        "--no-sandbox",
        "--in-process-gpu",
        // Each test has its own profile and renderer, so a spare renderer for the next page is not needed.
        "--renderer-process-limit=1",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
  // A test runs in both projects, unless its folder or its tag excludes one project.
  projects: [
    { name: "without script", use: { javaScriptEnabled: false }, testIgnore: "script/*", grepInvert: /@script/ },
    { name: "with script", use: { javaScriptEnabled: true }, testIgnore: "no-script/*", grepInvert: /@no-script/ },
  ],
  webServer: siteServer,
});
