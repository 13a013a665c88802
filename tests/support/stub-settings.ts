import { vi } from "vitest";

/**
 * For unit tests of what reads the configuration, which modules read once: import them after this. `settings` are
 * variables besides those of a hosted backend, or in their place. Undo it by vi.unstubAllEnvs().
 */
export function stubSettings(settings: Record<string, string> = {}): void {
  vi.resetModules();
  const hosted = {
    SUPABASE_URL: "http://127.0.0.1:54321",
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
    SUPABASE_SECRET_KEY: "sb_secret_x",
    SESSION_SECRET: "x".repeat(32),
  };
  for (const [name, value] of Object.entries({ ...hosted, ...settings })) vi.stubEnv(name, value);
}
