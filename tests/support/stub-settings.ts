import process from "node:process";
import { vi } from "vitest";

/**
 * Sets the environment variables of a site with a hosted backend, and the variables in `settings`, until
 * vi.unstubAllEnvs(). A test must import modules of the site after this call, because the modules read the variables
 * only once.
 */
export function stubSettings(settings: Record<string, string> = {}): void {
  vi.resetModules();
  // Each import of log.server.ts adds a process listener. @supabase/lite fails at Node's warning about too many
  // listeners.
  process.setMaxListeners(0);
  const hosted = {
    SUPABASE_URL: "http://127.0.0.1:54321",
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
    SUPABASE_SECRET_KEY: "sb_secret_x",
    SESSION_SECRET: "x".repeat(32),
  };
  for (const [name, value] of Object.entries({ ...hosted, ...settings })) vi.stubEnv(name, value);
}
