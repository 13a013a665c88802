/** Log lines: one JSON object a line on standard output, with the id of the request that X-Request-Id tells the client. */
import { AsyncLocalStorage } from "node:async_hooks";
import { createHmac, randomUUID } from "node:crypto";
import process from "node:process";
import type { MiddlewareFunction } from "react-router";
import { escapeInvisible } from "../../../supabase/contract/invisible-characters.ts";
import { env } from "./env.server.ts";
import { readIpAddress } from "./ip-address.server.ts";

/** The server writes an id of its own here for the app, over whatever a request brings under this name. */
export const requestIdHeader = "X-Request-Id";

type LogLevel = "info" | "warn" | "error";
type LogFields = Record<string, string | number | boolean | null | undefined>;

const requestFields = new AsyncLocalStorage<{ requestId: string; address: string }>();

/**
 * Writes one line: `time` (UTC), `level`, `event`, what is known of the request, and `fields`. No secrets in
 * fields: no password, token, cookie, code, client ID, file or query string.
 */
export function log(level: LogLevel, event: string, fields: LogFields = {}): void {
  const line = { time: new Date().toISOString(), level, event, ...requestFields.getStore(), ...fields };
  if (pendingLines.push(escapeInvisible(JSON.stringify(line))) === 1) setImmediate(writePendingLines);
}

/** The lines of this turn of the event loop: written one at a time they take as long as the answer to a request. */
const pendingLines: string[] = [];

function writePendingLines(): void {
  if (pendingLines.length > 0) console.log(pendingLines.splice(0).join("\n"));
}
process.once("exit", writePendingLines);

/** Logs what libraries print to the console: its first line only, as the rest may hold secrets. */
export function logConsole(): void {
  for (const level of ["warn", "error"] as const) {
    console[level] = (first: unknown) => {
      const text = first instanceof Error ? `${first.name}: ${first.message}` : String(first);
      log(level, "console", { message: text.split("\n")[0]?.slice(0, 200) });
    };
  }
}

/** A line for every request that reaches the app: method, the route's pattern, status and milliseconds. */
export const logMiddleware: MiddlewareFunction<Response> = ({ request, pattern }, next) => {
  const requestId = request.headers.get(requestIdHeader) ?? randomUUID();
  return requestFields.run({ requestId, address: readIpAddress(request) }, async () => {
    const begun = performance.now();
    const response = await next();
    const { status } = response;
    log(status < 500 ? "info" : "error", "request", {
      method: request.method,
      route: `/${pattern.replace(/^\//, "")}`,
      status,
      ms: Math.round(performance.now() - begun),
    });
    if (status === 403) log("warn", "denied", { route: pattern, site: request.headers.get("Sec-Fetch-Site") });
    return response;
  });
};

/** A stable name for an account in log lines that does not reveal the e-mail address. */
export function pseudonym(email: string): string {
  return createHmac("sha256", env().sessionSecret).update(email.toLowerCase()).digest("base64url").slice(0, 12);
}
