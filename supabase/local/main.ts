/** Child process of app/server/embedded-backend.ts. It ends on SIGTERM, or when its parent ends. */
import type { AddressInfo } from "node:net";
import path from "node:path";
import process from "node:process";
import type { JWK } from "jose";
import { escapeInvisible } from "../../app/lib/http/invisible-characters.ts";
import { createEmailDelivery } from "../../app/models/email-delivery.server.ts";
import { createBackend } from "./backend.ts";
import { restrictPermissions } from "./data-dir.ts";
import { serve } from "./http.ts";
import { assertRestoreFinished, lockDataDirWithin } from "./lock.ts";

export type BackendProcessOptions = {
  dataDir: string;
  /** Null stores the database in dataDir. */
  databaseUrl: string | null;
  /** 0 selects a free port. */
  port: number;
  siteUrl: string;
  smtpUrl: string | null;
  publishableKey: string;
  secretKey: string;
  jwtSecret: string;
  signingKey: JWK;
};
// @supabase/lite searches the text of warnings, and throws if a warning is an Error.
const { emitWarning } = process;
process.emitWarning = (warning: string | Error, ...more: unknown[]) => {
  if (typeof warning === "string") Reflect.apply(emitWarning, process, [warning, ...more]);
  else process.nextTick(() => process.emit("warning", warning));
};

/** How long to wait for a backend whose site was killed. */
const lockTimeoutMs = 3000;
/** The database loses no data if the process ends before it has closed. */
const closeTimeoutMs = 1500;

export type BackendProcessReport = { ready: string } | { failed: string };

let shutDown = async (): Promise<void> => process.exit(0);

process.umask(0o077);
redactConsole();
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
process.on("disconnect", () => shutDown());
if (!process.connected) process.exit(0);
// A terminal signals the whole process group, but the parent must finish its requests first.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => undefined);
process.once("message", (options: BackendProcessOptions) => {
  main(options).catch((error: Error) => {
    reportToParent({ failed: error.message });
    process.exitCode = 1;
    process.disconnect?.();
  });
});

async function main(options: BackendProcessOptions): Promise<void> {
  const { publish, release } = await lockDataDirWithin(lockTimeoutMs, options.dataDir, process.ppid);
  process.once("exit", release);
  assertRestoreFinished(options.dataDir);
  restrictPermissions(options.dataDir);
  const backend = await createBackend({
    ...options,
    objectsDir: path.join(options.dataDir, "objects"),
    deliver: createEmailDelivery(options),
    // The demo's password is public, and a PostgreSQL server holds real data.
    seed: !options.databaseUrl,
    lockTimeoutMs,
  });
  const server = serve(backend.fetch);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isPortTaken = error.code === "EADDRINUSE";
      reject(isPortTaken ? new Error(`Port ${options.port} is taken: set BACKEND_PORT to another one.`) : error);
    });
    server.listen(options.port, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  publish(url);
  reportToParent({ ready: url });

  let closing = false;
  shutDown = async () => {
    if (closing) return;
    closing = true;
    setTimeout(() => process.exit(0), closeTimeoutMs);
    server.close();
    server.closeIdleConnections();
    await backend.close();
    process.exit(0);
  };
  process.on("SIGTERM", () => shutDown());
}

function reportToParent(message: BackendProcessReport): void {
  process.send?.(message);
}

/** Omits the query parameters, such as password hashes, that the library prints with its errors. */
function redactConsole(): void {
  const print =
    (level: string) =>
    (...parts: unknown[]) => {
      const text = parts.map((part) => (part instanceof Error ? `${part.name}: ${part.message.split("\n")[0]}` : ""));
      const first = typeof parts[0] === "string" ? parts[0].split("\n")[0] : "";
      const message = [first, ...text].filter(Boolean).join(" ").slice(0, 300);
      const entry = { time: new Date().toISOString(), level, from: "backend", message };
      process.stderr.write(`${escapeInvisible(JSON.stringify(entry))}\n`);
    };
  console.error = print("error");
  console.warn = () => undefined;
  console.info = () => undefined;
  console.log = () => undefined;
}
