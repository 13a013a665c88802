/** Measures requests per second and response times, and creates the shipments for these measurements. */
import autocannon from "autocannon";
import type { AppSupabaseClient } from "../../app/lib/supabase/client.server.ts";

/** Requests one URL on ten connections without pauses, for some seconds after a warm-up. */
export async function measureLoad(url: string, options: Partial<autocannon.Options> = {}) {
  const common = { url, connections: 10, headers: { "accept-encoding": "br, gzip" }, ...options };
  await autocannon({ ...common, duration: 1 });
  const result = await autocannon({ ...common, duration: 5 });
  const rejected = result["4xx"] + result["5xx"];
  if (result.errors + rejected > 0)
    throw new Error(`${url}: ${result.errors} requests got no response, ${rejected} requests got an error status`);
  return { "requests per second": Math.round(result.requests.average * 10) / 10, "p99 in ms": result.latency.p99 };
}

/** Logs in at `origin`. Returns the session cookies as a Cookie header. */
export async function logIn(origin: string, account: { email: string; password: string }): Promise<string> {
  const init = { method: "POST", body: new URLSearchParams(account), headers: { Origin: origin } };
  const response = await fetch(`${origin}/login`, { ...init, redirect: "manual" });
  if (response.status !== 303) throw new Error(`The login responded with status ${response.status}`);
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(";")[0] ?? "");
  return cookies.filter((cookie) => cookie.startsWith("session")).join("; ");
}

/** Adds shipments of a client until the client has `count` shipments. */
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

/** Adds a parameter with a new number to each URL. The page ignores the parameter, and no cache has a response for the URL. */
export function withUniqueUrls(path: string): Partial<autocannon.Options> {
  let number = 0;
  const next = () => `${path}${path.includes("?") ? "&" : "?"}n=${++number}`;
  return { requests: [{ setupRequest: (request) => ({ ...request, path: next() }) }] };
}

/** Sends `amount` requests for a page, each with a different value of a parameter that the page ignores. */
export async function sendInventedParameters(url: string, amount: number): Promise<void> {
  const { pathname } = new URL(url);
  const headers = { "accept-encoding": "br, gzip" };
  await autocannon({ url, ...withUniqueUrls(pathname), connections: 10, amount, headers });
}

/** Measures thirty sequential requests without cache. Returns the median in milliseconds, and the transferred bytes. */
export async function measurePage(origin: string, path: string, cookie: string) {
  const { latency, throughput, requests } = await autocannon({
    url: origin,
    ...withUniqueUrls(path),
    connections: 1,
    amount: 30,
    headers: { cookie, "accept-encoding": "br, gzip" },
  });
  return { milliseconds: latency.p50, bytes: Math.round(throughput.total / requests.total) };
}
