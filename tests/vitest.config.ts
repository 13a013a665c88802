import path from "node:path";
import { defineConfig } from "vitest/config";
import { mdxPlugin } from "../app/lib/build/mdx.ts";
import { cheapPasswordHashes, longDeadlines } from "./support/environment.ts";

const root = path.resolve(import.meta.dirname, "..");

/** Unit tests that start embedded backends. They run in the project "process", because its timeouts are longer. */
const backendTestFiles = ["supabase/local/backend.test.ts", "supabase/contract/lock.test.ts"];

/**
 * Route tests that need other settings of the site. They need their own process, because the site reads settings once.
 */
const ownSettingsFiles = ["tests/routes/{backend-timeouts,https,rate-limits-*}.test.ts"];

/** A V8 flag that delays optimization, because short tests end before optimized code saves time. */
const lowOptimizationArgs = ["--interrupt-budget=1000000"];

export default defineConfig({
  root,
  resolve: { alias: { "~": path.join(root, "app") } },
  oxc: { jsx: { development: false } },
  test: {
    pool: "forks",
    // All test files of a worker use the same imported modules, because importing per file doubles the time of a run.
    isolate: false,
    // Shows console output of failed tests only.
    silent: "passed-only",
    env: cheapPasswordHashes,
    // app/server/embedded-backend.ts starts PGlite with the same V8 flag.
    execArgv: ["--wasm-tiering-budget=100000000"],
    // Uses three workers even on a machine with two processors, because some tests only wait.
    maxWorkers: 3,
    // The timeout is long enough for a busy machine, and still ends a test that hangs.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        // Compiles the MDX articles that app/models/article.server.ts imports.
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
          // Runs two test files of the project "database" a second time, with PGlite. Process tests and browser tests
          // in Chromium also use PGlite.
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
          // Uses React's production build, as in production.
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
          // If a journey passes only at its second attempt, `npm test` reports the journey as flaky.
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
