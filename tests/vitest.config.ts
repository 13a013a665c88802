import path from "node:path";
import { defineConfig } from "vitest/config";
import { mdxPlugin } from "../app/lib/build/mdx.ts";
import { cheapPasswordHashes, longDeadlines } from "./support/environment.ts";

const root = path.resolve(import.meta.dirname, "..");

/** Unit tests that start embedded backends: they run in the project "process", whose timeouts are long enough. */
const backendTestFiles = ["supabase/local/backend.test.ts", "supabase/contract/lock.test.ts"];

/** Route tests that need other settings. The site reads its settings once per process. */
const ownSettingsFiles = ["tests/routes/{backend-timeouts,https,rate-limits-*}.test.ts"];

/** Makes V8 optimize only very frequent code, because these tests end before optimization saves time. */
const lowOptimizationArgs = ["--interrupt-budget=1000000"];

export default defineConfig({
  root,
  resolve: { alias: { "~": path.join(root, "app") } },
  oxc: { jsx: { development: false } },
  test: {
    pool: "forks",
    // Test files of a worker share imported modules. Importing them for each file would double the time of a run.
    isolate: false,
    // Shows console output of failed tests only.
    silent: "passed-only",
    env: cheapPasswordHashes,
    // The V8 flag with which app/server/embedded-backend.ts starts PGlite.
    execArgv: ["--wasm-tiering-budget=100000000"],
    // Uses three workers on a machine with two processors, because some tests only wait.
    maxWorkers: 3,
    // This timeout is long enough for a busy machine and ends a test that hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        // Compiles the articles that app/models/article.server.ts imports.
        plugins: [mdxPlugin()],
        test: {
          name: "unit",
          include: ["app/**/*.test.ts", "supabase/**/*.test.ts", "tests/guards/*.test.ts"],
          exclude: backendTestFiles,
        },
      },
      {
        extends: true,
        test: {
          name: "database",
          include: ["tests/database/*.test.ts"],
          globalSetup: "tests/support/postgres-server.ts",
        },
      },
      {
        extends: true,
        test: {
          // Runs two files of the project "database" on PGlite too. Process tests and the browser tests in Chromium
          // also use PGlite.
          name: "pglite",
          include: ["tests/database/{row-level-security,types}.test.ts"],
          globalSetup: "tests/support/first-start-data.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "routes",
          include: ["tests/routes/*.test.ts"],
          exclude: ownSettingsFiles,
          globalSetup: "tests/support/routes-setup.ts",
          execArgv: lowOptimizationArgs,
          // Uses React's production build, as visitors do.
          env: { NODE_ENV: "production" },
        },
      },
      {
        extends: true,
        test: {
          name: "settings",
          include: ownSettingsFiles,
          globalSetup: "tests/support/routes-setup.ts",
          execArgv: lowOptimizationArgs,
          env: { NODE_ENV: "production" },
          isolate: true,
        },
      },
      {
        extends: true,
        test: {
          name: "firefox",
          include: ["tests/firefox/*.test.ts"],
          globalSetup: "tests/support/routes-setup.ts",
          env: { NODE_ENV: "production" },
          // npm test reports a journey that passes at its second attempt as flaky.
          retry: 1,
        },
      },
      {
        extends: true,
        test: {
          name: "process",
          include: ["tests/process/*.test.ts", ...backendTestFiles],
          globalSetup: "tests/support/first-start-data.ts",
          env: longDeadlines,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
