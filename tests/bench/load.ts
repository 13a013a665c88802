/** Measures requests per second and response times, and creates the shipments for these measurements. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { createClient } from "@supabase/supabase-js";
import autocannon from "autocannon";
import { decodeJwt, SignJWT } from "jose";
import ws from "ws";
import type { AppSupabaseClient } from "../../app/lib/supabase/client.server.ts";
import type { Database } from "../../app/lib/supabase/database.ts";

export type LoadResult = { perSecond: number; p99: number };

/** Requests one URL on ten connections without pauses, first for a warm-up and then for the measurement. */
export async function measureLoad(
  url: string,
  options: Partial<autocannon.Options> = {},
  seconds = 5,
): Promise<LoadResult> {
  const common = { url, connections: 10, headers: { "accept-encoding": "br, gzip" }, ...options };
  await autocannon({ ...common, duration: 1 });
  const result = await autocannon({ ...common, duration: seconds });
  const rejected = result["4xx"] + result["5xx"];
  if (result.errors + rejected > 0)
    throw new Error(`${url}: ${result.errors} requests got no response, ${rejected} requests got an error status`);
  return { perSecond: Math.round(result.requests.average * 10) / 10, p99: result.latency.p99 };
}

/** Logs in at `origin`. Returns the session cookies as a Cookie header. */
export async function logIn(origin: string, account: { email: string; password: string }): Promise<string> {
  const response = await fetch(`${origin}/login`, {
    method: "POST",
    body: new URLSearchParams(account),
    headers: { Origin: origin },
    redirect: "manual",
  });
  if (response.status !== 303 && response.status !== 302)
    throw new Error(`The login responded with status ${response.status}`);
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0] ?? "")
    .filter((cookie) => /^(?:__Host-)?session/.test(cookie))
    .join("; ");
}

/**
 * Replaces the session cookie's token with an HS256 token. The site cannot verify an HS256 token without the secret, so
 * the site calls Supabase Auth for each page.
 */
export async function signCookieWithSecret(cookie: string, dataDir: string): Promise<string> {
  const [name, value = ""] = cookie.split("=base64-");
  const session = JSON.parse(Buffer.from(value, "base64url").toString()) as { access_token: string };
  const { jwtSecret } = JSON.parse(readFileSync(path.join(dataDir, "keys.json"), "utf8")) as { jwtSecret: string };
  const token = await new SignJWT(decodeJwt(session.access_token))
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(new TextEncoder().encode(jwtSecret));
  const changed = JSON.stringify({ ...session, access_token: token });
  return `${name}=base64-${Buffer.from(changed).toString("base64url")}`;
}

/** Returns a service-role client for the embedded backend of a measured site. */
export function createServiceRoleClient(dataDir: string, backendPort: number): AppSupabaseClient {
  const { secretKey } = JSON.parse(readFileSync(path.join(dataDir, "keys.json"), "utf8")) as { secretKey: string };
  return createClient<Database>(`http://127.0.0.1:${backendPort}`, secretKey, {
    auth: { persistSession: false, autoRefreshToken: false },
    realtime: { transport: ws as never },
  }) as AppSupabaseClient;
}

/** Adds shipments for the client `userId` until the client has `count` shipments. */
export async function growShipments(serviceRole: AppSupabaseClient, userId: string, count: number): Promise<void> {
  const { count: existing } = await serviceRole
    .from("shipments")
    .select("id", { count: "exact", head: true })
    .eq("user_id", userId);
  for (let created = existing ?? 0; created < count; created += 500) {
    const rows = Array.from({ length: Math.min(500, count - created) }, (_, index) => ({
      user_id: userId,
      name: `Consignment ${created + index + 1}`,
      status: "Client Onboarding",
      stage: 1,
    }));
    const { error } = await serviceRole.from("shipments").insert(rows);
    if (error) throw new Error(error.message);
  }
}

/**
 * Returns options that add a query parameter with a new number to `path` for each request, so that no cache contains
 * the URL.
 */
export function withUniqueUrls(path: string): Partial<autocannon.Options> {
  let number = 0;
  const next = () => `${path}${path.includes("?") ? "&" : "?"}n=${++number}`;
  return { requests: [{ setupRequest: (request) => ({ ...request, path: next() }) }] };
}

/** Sends `amount` requests for the page at `url`, each with a different value of an unknown query parameter. */
export async function sendInventedParameters(url: string, amount: number): Promise<void> {
  const { pathname } = new URL(url);
  const headers = { "accept-encoding": "br, gzip" };
  await autocannon({ url, ...withUniqueUrls(pathname), connections: 10, amount, headers });
}

/**
 * Requests the uncached page `path` thirty times in sequence. Returns the median time in ms and the mean size in bytes.
 */
export async function measurePortalPage(
  origin: string,
  path: string,
  cookie: string,
): Promise<{ time: number; bytes: number }> {
  const result = await autocannon({
    url: origin,
    ...withUniqueUrls(path),
    connections: 1,
    amount: 30,
    headers: { cookie, "accept-encoding": "br, gzip" },
  });
  return { time: result.latency.p50, bytes: Math.round(result.throughput.total / result.requests.total) };
}
