/**
 * npm run test:hosted: runs tests/e2e on a backend with PostgREST. docs/hosting.md explains how to use a Supabase project
 * instead. Without SUPABASE_URL, tests/hosted/backend.ts is the backend.
 */
import path from "node:path";
import process from "node:process";
import { defineConfig } from "@playwright/test";
import journeys from "../../playwright.config.ts";
import { backendKeys } from "../support/backend-keys.ts";
import { findPostgrest } from "../support/postgrest.ts";

const { webServer: site, use } = journeys;
const startsBackend = !process.env.SUPABASE_URL;
if (startsBackend) {
  if (!findPostgrest()) {
    console.log("Skipped: PostgREST is not installed. Set SUPABASE_URL to test a Supabase project: docs/hosting.md.");
    process.exit(0);
  }
  // The tests read these variables too.
  Object.assign(process.env, {
    SUPABASE_URL: `http://127.0.0.1:${site.env.BACKEND_PORT}`,
    SUPABASE_PUBLISHABLE_KEY: backendKeys.publishableKey,
    SUPABASE_SECRET_KEY: backendKeys.secretKey,
    MAILS_DIR: path.resolve(use.dataDir, "auth-emails"),
  });
}
const backend = {
  ...site,
  command: "node --import tsx tests/hosted/backend.ts",
  url: `${process.env.SUPABASE_URL}/auth/v1/.well-known/jwks.json`,
};

export default defineConfig({
  ...journeys,
  testDir: "../e2e",
  outputDir: "../../test-results",
  webServer: [
    ...(startsBackend ? [backend] : []),
    { ...site, command: "node --import tsx tests/support/site-cluster.ts --hosted" },
  ],
});
