import { afterEach, expect, test, vi } from "vitest";
import { stubSettings } from "../../../tests/support/stub-settings.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test.each([
  ["https://portal.example", "", "max-age=63072000"],
  ["https://portal.example", "yes", "max-age=63072000; includeSubDomains"],
  ["http://127.0.0.1:3000", "yes", undefined],
])("A site at %s with HSTS_SUBDOMAINS=%s has the HSTS header %s.", async (APP_ORIGIN, HSTS_SUBDOMAINS, policy) => {
  stubSettings({ APP_ORIGIN, HSTS_SUBDOMAINS });
  const { securityHeaders } = await import("./headers.server.ts");
  expect(securityHeaders()["Strict-Transport-Security"]).toBe(policy);
});
