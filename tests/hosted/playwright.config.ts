/**
 * npm run test:hosted: runs tests/e2e on a hosted Supabase project without important data, because the tests create accounts.
 * Needs SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, SUPABASE_SECRET_KEY, SESSION_SECRET and MAILS_DIR, where the SMTP server of
 * Supabase Auth stores each email as an .eml file. The site URL of Supabase Auth must be http://127.0.0.1:3100 (or E2E_PORT).
 */
import { defineConfig } from "@playwright/test";
import journeys from "../../playwright.config.ts";

export default defineConfig({
  ...journeys,
  testDir: "../e2e",
  outputDir: "../../test-results",
  webServer: { ...journeys.webServer, command: "node --import tsx tests/support/site-cluster.ts --hosted" },
});
