import process from "node:process";
import { vi } from "vitest";

/**
 * Sets the environment of a site with a hosted backend and `settings`, until vi.unstubAllEnvs(). Modules read their
 * settings once, so a test imports the modules after this call.
 */
export function stubSettings(settings: Record<string, string> = {}): void {
  vi.resetModules();
  // Each import of log.server.ts adds a listener to the process. @supabase/lite fails on Node's warning about many listeners.
  process.setMaxListeners(0);
  const hosted = {
    SUPABASE_URL: "http://127.0.0.1:54321",
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
    SUPABASE_SECRET_KEY: "sb_secret_x",
    SESSION_SECRET: "x".repeat(32),
  };
  for (const [name, value] of Object.entries({ ...hosted, ...settings })) vi.stubEnv(name, value);
}
