import type { IncomingMessage, ServerResponse } from "node:http";
import { env } from "../../lib/http/env.server.ts";

const checkTimeoutMs = 2000;
const checkReuseMs = 1000;

let lastCheck: Promise<boolean> | null = null;
let stopping = false;

/** Makes the health checks fail, and makes each response close its connection. */
export function announceStop(): void {
  stopping = true;
}
export const isStopping = () => stopping;

export function respondToHealthCheck(request: IncomingMessage, response: ServerResponse): boolean {
  const path = request.url?.split("?")[0];
  if ((path !== "/healthz" && path !== "/readyz") || (request.method !== "GET" && request.method !== "HEAD")) {
    return false;
  }
  const end = (ready: boolean, text: string) =>
    response
      .writeHead(ready ? 200 : 503, { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" })
      .end(`${text}\n`);
  if (stopping) end(false, "stopping");
  else if (path === "/healthz") end(true, "ok");
  else isBackendReady().then((ready) => end(ready, ready ? "ready" : "the backend does not respond"));
  return true;
}

/** Anyone can request a check, so the result is reused for one second. */
function isBackendReady(): Promise<boolean> {
  if (!lastCheck) {
    lastCheck = checkBackend();
    lastCheck.then(() => setTimeout(() => (lastCheck = null), checkReuseMs).unref());
  }
  return lastCheck;
}

/** If both keys work, Supabase Auth, the data API and the database are available. */
async function checkBackend(): Promise<boolean> {
  const { url, publishableKey, secretKey } = env().backend;
  const check = async (address: string, key: string) => {
    const response = await fetch(new URL(address, url), {
      headers: { apikey: key, Authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(checkTimeoutMs),
    });
    await response.body?.cancel();
    return response.ok;
  };
  const checks = [check("/auth/v1/settings", publishableKey), check("/rest/v1/shipments?select=id&limit=0", secretKey)];
  return (await Promise.allSettled(checks)).every((result) => result.status === "fulfilled" && result.value);
}
