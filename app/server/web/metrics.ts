/** Serves Prometheus metrics from log lines and from the channels of lib/http/metrics.server.ts. */
import { createServer, type Server } from "node:http";
import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from "prom-client";
import { z } from "zod";
import { backendCallChannel, logChannel, transferChannel } from "../../lib/http/metrics.server.ts";
import { serviceRoleClient } from "../../lib/supabase/client.server.ts";
import { dataOrThrow } from "../../lib/supabase/result.server.ts";

/** The result of public.email_backlog. */
const EmailBacklog = z.object({ waiting: z.number(), oldest_seconds: z.number(), failed: z.number() });

/** Returns a server that does not listen yet. The server responds to every request with the metrics of this process. */
export function createMetricsServer(): Server {
  collectDefaultMetrics();
  recordLogLines();
  recordBackendCalls();
  recordTransfers();
  const readEmails = createEmailGauges();
  return createServer(async (_request, response) => {
    await readEmails();
    const text = await register.metrics();
    response.writeHead(200, { "Content-Type": register.contentType }).end(text);
  });
}

function recordLogLines(): void {
  const lines = new Counter({
    name: "site_log_lines_total",
    help: "Lines in the log, counted for each level and event.",
    labelNames: ["level", "event"],
  });
  const requests = new Histogram({
    name: "site_request_duration_seconds",
    help: "Seconds from a request to the start of its rendered response, for each method, route pattern and status.",
    labelNames: ["method", "route", "status"],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const cached = new Counter({
    name: "site_cached_responses_total",
    help: "Responses from the server's page cache, counted for each status.",
    labelNames: ["status"],
  });
  const limits = new Counter({
    name: "site_rate_limits_exceeded_total",
    help: "Attempts that a rate limit rejected, counted for each rate limit.",
    labelNames: ["limit"],
  });
  logChannel.subscribe(({ level, event, method, route, status, ms, limit }) => {
    lines.inc({ level, event });
    if (event === "limit") limits.inc({ limit: String(limit) });
    if (event !== "request") return;
    // Responses from the cache have no duration, because they take less than a millisecond.
    if (typeof ms === "number")
      requests.observe({ method: String(method), route: String(route), status: String(status) }, ms / 1000);
    else cached.inc({ status: String(status) });
  });
}

function recordBackendCalls(): void {
  const calls = new Histogram({
    name: "backend_call_duration_seconds",
    help: "Seconds that a backend call took, for each service and status. The status is 0 if the backend did not respond.",
    labelNames: ["service", "status"],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
  });
  backendCallChannel.subscribe(({ url, status, ms }) => {
    const service = /\/(auth|rest|storage)\/v1\//.exec(url)?.[1] ?? "other";
    calls.observe({ service, status: String(status) }, ms / 1000);
  });
}

function recordTransfers(): void {
  const transfers = new Gauge({
    name: "site_transfers_in_progress",
    help: "File uploads and downloads that are in progress.",
    labelNames: ["kind"],
  });
  for (const kind of ["uploads", "downloads"]) transfers.set({ kind }, 0);
  transferChannel.subscribe(({ kind, change }) => transfers.inc({ kind }, change));
}

/** Returns a function that updates the email gauges, or sets the gauges to NaN if the backend does not respond. */
function createEmailGauges(): () => Promise<void> {
  const gauges = {
    waiting: new Gauge({ name: "emails_waiting", help: "Shipment updates that are due but not sent yet." }),
    oldest_seconds: new Gauge({
      name: "emails_oldest_waiting_seconds",
      help: "Seconds since the oldest waiting shipment update became due.",
    }),
    failed: new Gauge({ name: "emails_failed", help: "Failed emails that no team member has dismissed." }),
  };
  return async () => {
    const backlog = await Promise.resolve(serviceRoleClient().rpc("email_backlog"))
      .then((result) => EmailBacklog.parse(dataOrThrow(result)))
      .catch(() => ({ waiting: Number.NaN, oldest_seconds: Number.NaN, failed: Number.NaN }));
    gauges.waiting.set(backlog.waiting);
    gauges.oldest_seconds.set(backlog.oldest_seconds);
    gauges.failed.set(backlog.failed);
  };
}
