import { AsyncLocalStorage } from "node:async_hooks";
import { createHmac, randomUUID } from "node:crypto";
import process from "node:process";
import type { MiddlewareFunction } from "react-router";
import { escapeInvisible } from "../../../supabase/contract/invisible-characters.ts";
import { env } from "./env.server.ts";
import { readIpAddress } from "./ip-address.server.ts";
import { logChannel } from "./metrics.server.ts";

export const requestIdHeader = "X-Request-Id";

/** `randomUUID` is ten times as fast as `randomBytes`. A whole UUID would make each response larger. */
export const createRequestId = () => randomUUID().slice(-12);

type LogLevel = "info" | "warn" | "error";
type LogFields = Record<string, string | number | boolean | null | undefined>;

const requestFields = new AsyncLocalStorage<{ requestId: string; address: string }>();

/** Never log a password, token, cookie, code, Client ID, file or query string. Log times are in UTC. */
export function log(level: LogLevel, event: string, fields: LogFields = {}): void {
  const line = { time: new Date().toISOString(), level, event, ...requestFields.getStore(), ...fields };
  logChannel.publish(line);
  pendingLines.push(escapeInvisible(JSON.stringify(line)));
  if (level !== "info") setImmediate(writePendingLines);
  else if (pendingLines.length === 1) setTimeout(writePendingLines, infoDelayMs).unref();
}

/** Log lines wait for up to 20 ms, because writing several lines together is faster than writing each line. */
const pendingLines: string[] = [];
const infoDelayMs = 20;

function writePendingLines(): void {
  if (pendingLines.length > 0) console.log(pendingLines.splice(0).join("\n"));
}
process.once("exit", writePendingLines);

/** Logs only the first line of a library's console message, because the other lines may contain secrets. */
export function logConsole(): void {
  for (const level of ["warn", "error"] as const) {
    console[level] = (first: unknown) => {
      const text = first instanceof Error ? `${first.name}: ${first.message}` : String(first);
      log(level, "console", { message: text.split("\n")[0]?.slice(0, 200) });
    };
  }
}

export const logMiddleware: MiddlewareFunction<Response> = ({ request, pattern }, next) => {
  const requestId = request.headers.get(requestIdHeader) ?? createRequestId();
  return requestFields.run({ requestId, address: readIpAddress(request) }, async () => {
    const start = performance.now();
    const response = await next();
    const { status } = response;
    log(status < 500 ? "info" : "error", "request", {
      method: request.method,
      route: `/${pattern.replace(/^\//, "")}`,
      status,
      ms: Math.round(performance.now() - start),
    });
    if (status === 403) log("warn", "denied", { route: pattern, site: request.headers.get("Sec-Fetch-Site") });
    return response;
  });
};

export function pseudonym(email: string): string {
  return createHmac("sha256", env().sessionSecret).update(email.toLowerCase()).digest("base64url").slice(0, 12);
}
