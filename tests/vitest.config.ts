import path from "node:path";
import { defineConfig } from "vitest/config";
import { cheapHashes, patience } from "./support/environment.ts";

const root = path.resolve(import.meta.dirname, "..");

/** Tests beside their subject that start embedded backends: among those of the processes, which leave them the time. */
const startsBackends = ["supabase/local/{backend,lock}.test.ts"];

export default defineConfig({
  root,
  resolve: { alias: { "~": path.join(root, "app") } },
  oxc: { jsx: { development: false } },
  test: {
    pool: "forks",
    // The app's log lines belong to the tests that fail.
    silent: "passed-only",
    env: cheapHashes,
    // As app/server/embedded.ts starts PGlite.
    execArgv: ["--wasm-tiering-budget=100000000"],
    // One more than the processors of the smallest machine, as tests of what hangs do nothing but wait.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What comes after its time comes late on a busy machine; what never comes fails its test.
    expect: { poll: { timeout: 20_000 } },
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["app/**/*.test.ts", "supabase/**/*.test.ts"], exclude: startsBackends },
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
          // What each kind of database grants, on the embedded one too; the routes and the journeys run on it.
          name: "pglite",
          include: ["tests/database/{access,catalogue,types}.test.ts"],
          globalSetup: "tests/support/first-start.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "routes",
          include: ["tests/routes/*.test.ts"],
          globalSetup: "tests/support/backend-for-routes.ts",
          // The React that visitors get.
          env: { NODE_ENV: "production" },
        },
      },
      {
        extends: true,
        test: {
          name: "firefox",
          include: ["tests/firefox/*.test.ts"],
          globalSetup: "tests/support/backend-for-routes.ts",
          env: { NODE_ENV: "production" },
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "process",
          include: ["tests/process/*.test.ts", ...startsBackends],
          globalSetup: "tests/support/first-start.ts",
          env: patience,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
