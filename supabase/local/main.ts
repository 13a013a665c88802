/**
 * The embedded backend as a process of its own, forked by app/server/embedded-backend.ts, which sends the options as the first
 * message. Answers with {ready: url} or {failed: reason}; ends on SIGTERM or when the parent is gone.
 */
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
  /** The PostgreSQL server's database to work on; null keeps the database in dataDir. */
  databaseUrl: string | null;
  /** 0 takes any free port. */
  port: number;
  siteUrl: string;
  smtpUrl: string | null;
  publishableKey: string;
  secretKey: string;
  jwtSecret: string;
  signingKey: JWK;
};
// The library looks for words in each warning, and throws where one is an Error, as Node's own of too many listeners is.
const { emitWarning } = process;
process.emitWarning = (warning: string | Error, ...more: unknown[]) => {
  if (typeof warning === "string") Reflect.apply(emitWarning, process, [warning, ...more]);
  else process.nextTick(() => process.emit("warning", warning));
};

/** In milliseconds: how long to wait for a backend whose site was killed, before the start fails. */
const lockTimeoutMs = 3000;
/** In milliseconds: how long the database may take to close; a process killed then loses no data. */
const closeTimeoutMs = 1500;

export type BackendProcessReport = { ready: string } | { failed: string };

/** Called when the parent is gone; before the start is finished it just exits. */
let shutDown = async (): Promise<void> => process.exit(0);

process.umask(0o077);
redactConsole();
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
process.on("disconnect", () => shutDown());
if (!process.connected) process.exit(0);
// A terminal sends these to the whole process group: the parent drains its requests first, then ends this process.
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
    // No demo on a PostgreSQL server, which holds real data: the demo's password is public.
    seed: !options.databaseUrl,
    lockTimeoutMs,
  });
  const server = serve(backend.fetch);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      reject(taken ? new Error(`Port ${options.port} is taken: set BACKEND_PORT to another one.`) : error);
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

/** The library prints query parameters with its errors, password hashes among them: keep the kind and the message. */
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
