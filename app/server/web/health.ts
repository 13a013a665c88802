/** GET /healthz: the process answers. GET /readyz: and its backend does too, so the portal works. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { env } from "../../lib/http/env.server.ts";

/** The time limit of one check of the backend, and how long its result is reused, in milliseconds. */
const checkTimeoutMs = 2000;
const checkReuseMs = 1000;

let lastCheck: Promise<boolean> | null = null;

/** Answers the two addresses; false for every other request. */
export function respondToHealthCheck(request: IncomingMessage, response: ServerResponse): boolean {
  const path = request.url?.split("?")[0];
  if ((path !== "/healthz" && path !== "/readyz") || (request.method !== "GET" && request.method !== "HEAD")) {
    return false;
  }
  const end = (ready: boolean, text: string) =>
    response
      .writeHead(ready ? 200 : 503, { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" })
      .end(`${text}\n`);
  if (path === "/healthz") end(true, "ok");
  else isBackendReady().then((ready) => end(ready, ready ? "ready" : "the backend does not answer"));
  return true;
}

/** Asks the backend at most once a second: these addresses need no session, so anybody can ask. */
function isBackendReady(): Promise<boolean> {
  if (!lastCheck) {
    lastCheck = checkBackend();
    lastCheck.then(() => setTimeout(() => (lastCheck = null), checkReuseMs).unref());
  }
  return lastCheck;
}

/** Whether auth takes the publishable key and the data API the secret one: then both are there, and the database too. */
async function checkBackend(): Promise<boolean> {
  const { url, publishableKey, secretKey } = env().backend;
  const ask = async (address: string, key: string) => {
    const answer = await fetch(new URL(address, url), {
      headers: { apikey: key, Authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(checkTimeoutMs),
    });
    await answer.body?.cancel();
    return answer.ok;
  };
  const asked = [ask("/auth/v1/settings", publishableKey), ask("/rest/v1/shipments?select=id&limit=0", secretKey)];
  return (await Promise.allSettled(asked)).every((one) => one.status === "fulfilled" && one.value);
}
