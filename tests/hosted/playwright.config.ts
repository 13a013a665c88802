/**
 * npm run test:hosted: runs the browser tests of tests/e2e against a real Supabase with our migrations and settings. It must
 * hold no important data, because the tests create accounts, shipments and files. From the environment: SUPABASE_URL,
 * SUPABASE_PUBLISHABLE_KEY, SUPABASE_SECRET_KEY, SESSION_SECRET, and MAILS_DIR, the folder where the SMTP server that auth sends to
 * leaves each mail as a file .eml. The site URL of auth must be http://127.0.0.1:3100 (or of E2E_PORT).
 */
import { defineConfig } from "@playwright/test";
import journeys from "../../playwright.config.ts";

export default defineConfig({
  ...journeys,
  testDir: "../e2e",
  outputDir: "../../test-results",
  webServer: { ...journeys.webServer, command: "node --import tsx tests/support/site-cluster.ts --hosted" },
});
