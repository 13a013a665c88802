/**
 * The configuration of `npm run test:hosted`, which runs tests/e2e with the backend of tests/hosted/backend.ts. With
 * SUPABASE_URL, the tests use a Supabase project instead (docs/hosting.md).
 */
import path from "node:path";
import process from "node:process";
import { defineConfig } from "@playwright/test";
import journeys, { dataDir, siteServer } from "../../playwright.config.ts";
import { backendKeys } from "../support/backend-keys.ts";
import { findPostgrest } from "../support/postgrest.ts";

const startsBackend = !process.env.SUPABASE_URL;
if (startsBackend) {
  if (!findPostgrest()) {
    console.log("Skipped: PostgREST is not installed. Set SUPABASE_URL to test a Supabase project: docs/hosting.md.");
    process.exit(0);
  }
  // The test processes also read these environment variables.
  Object.assign(process.env, {
    SUPABASE_URL: `http://127.0.0.1:${siteServer.env.BACKEND_PORT}`,
    SUPABASE_PUBLISHABLE_KEY: backendKeys.publishableKey,
    SUPABASE_SECRET_KEY: backendKeys.secretKey,
    SESSION_SECRET: "a secret of the tests, at least 32 characters",
    EMAILS_DIR: path.resolve(dataDir, "auth-emails"),
  });
}
const backend = {
  ...siteServer,
  command: "node --import tsx tests/hosted/backend.ts",
  url: `${process.env.SUPABASE_URL}/auth/v1/.well-known/jwks.json`,
};

export default defineConfig({
  ...journeys,
  testDir: "../e2e",
  outputDir: "../../test-results",
  webServer: [
    ...(startsBackend ? [backend] : []),
    { ...siteServer, command: "node --import tsx tests/support/site-cluster.ts --hosted" },
  ],
});
