/** Requests per second, and what a portal costs when it has grown. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { createClient } from "@supabase/supabase-js";
import autocannon from "autocannon";
import { decodeJwt, SignJWT } from "jose";
import ws from "ws";
import type { AppSupabaseClient } from "../../app/lib/supabase/client.server.ts";
import type { Database } from "../../app/lib/supabase/database.ts";

export type LoadResult = { perSecond: number; p99: number };

/** Ten connections ask for one thing as fast as it comes, for some seconds after a warm-up. */
export async function measureLoad(
  url: string,
  options: Partial<autocannon.Options> = {},
  seconds = 5,
): Promise<LoadResult> {
  const common = { url, connections: 10, headers: { "accept-encoding": "br, gzip" }, ...options };
  await autocannon({ ...common, duration: 1 });
  const result = await autocannon({ ...common, duration: seconds });
  const refused = result["4xx"] + result["5xx"];
  if (result.errors + refused > 0) throw new Error(`${url}: ${result.errors} unanswered, ${refused} refused`);
  return { perSecond: Math.round(result.requests.average * 10) / 10, p99: result.latency.p99 };
}

/** Cookies of somebody who logs in at `origin`, as a Cookie header. */
export async function logIn(origin: string, account: { email: string; password: string }): Promise<string> {
  const response = await fetch(`${origin}/login`, {
    method: "POST",
    body: new URLSearchParams(account),
    headers: { Origin: origin },
    redirect: "manual",
  });
  if (response.status !== 303 && response.status !== 302) throw new Error(`The login answered ${response.status}`);
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0] ?? "")
    .filter((cookie) => /^(?:__Host-)?session/.test(cookie))
    .join("; ");
}

/**
 * The same session with a token signed by the secret, as auth did before it had published keys: for such a one the site
 * asks auth who it is before it asks for the page.
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

/** The company's handle to the embedded backend of a site under measurement. */
export function createServiceRoleClient(dataDir: string, backendPort: number): AppSupabaseClient {
  const { secretKey } = JSON.parse(readFileSync(path.join(dataDir, "keys.json"), "utf8")) as { secretKey: string };
  return createClient<Database>(`http://127.0.0.1:${backendPort}`, secretKey, {
    auth: { persistSession: false, autoRefreshToken: false },
    realtime: { transport: ws as never },
  }) as AppSupabaseClient;
}

/** Gives a client so many shipments, written by the company. */
export async function growShipments(company: AppSupabaseClient, userId: string, count: number): Promise<void> {
  const { count: has } = await company
    .from("shipments")
    .select("id", { count: "exact", head: true })
    .eq("user_id", userId);
  for (let made = has ?? 0; made < count; made += 500) {
    const rows = Array.from({ length: Math.min(500, count - made) }, (_, index) => ({
      user_id: userId,
      name: `Consignment ${made + index + 1}`,
      status: "Client Onboarding",
      stage: 1,
    }));
    const { error } = await company.from("shipments").insert(rows);
    if (error) throw new Error(error.message);
  }
}

/**
 * Requests for a page by addresses that differ in a number, of which the page knows nothing: each is rendered, as one of the
 * portal is that has changed since it was looked at.
 */
export function withUniqueUrls(path: string): Partial<autocannon.Options> {
  let number = 0;
  const next = () => `${path}${path.includes("?") ? "&" : "?"}n=${++number}`;
  return { requests: [{ setupRequest: (request) => ({ ...request, path: next() }) }] };
}

/** Sends `amount` requests for one page, each with another parameter that the page does not read, and ignores the answers. */
export async function sendInventedParameters(url: string, amount: number): Promise<void> {
  const { pathname } = new URL(url);
  await autocannon({
    url,
    ...withUniqueUrls(pathname),
    connections: 10,
    amount,
    headers: { "accept-encoding": "br, gzip" },
  });
}

/** The middle of thirty answers to one request after another, each rendered: milliseconds, and bytes of the body on the line. */
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
