/** The program of the embedded backend, which app/server/embedded-backend.ts starts, configures and ends. */
import type { AddressInfo } from "node:net";
import path from "node:path";
import process from "node:process";
import {
  type BackendProcessOptions,
  type BackendProcessReport,
  backendCloseTimeoutMs,
} from "../contract/backend-process.ts";
import { assertRestoreFinished, restrictPermissions } from "../contract/data-dir.ts";
import { createEmailDelivery } from "../contract/email-delivery.ts";
import { escapeInvisible } from "../contract/invisible-characters.ts";
import { lockDataDirWithin } from "../contract/lock.ts";
import { createBackend } from "./backend.ts";
import { serve } from "./http.ts";

// @supabase/lite replaces emitWarning by a function that searches the warning's text and throws for Error objects.
const { emitWarning } = process;
process.emitWarning = (warning: string | Error, ...details: unknown[]) => {
  if (typeof warning === "string") Reflect.apply(emitWarning, process, [warning, ...details]);
  else process.nextTick(() => process.emit("warning", warning));
};

const lockTimeoutMs = 3000;

let shutDown = async (): Promise<void> => process.exit(0);

process.umask(0o077);
redactConsole();
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
process.on("disconnect", () => shutDown());
if (!process.connected) process.exit(0);
// A terminal also sends SIGINT and SIGHUP to this process. The parent ends this process later, after the last request.
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
    // A PostgreSQL server may hold real data. A demo account would be unsafe there, because its password is public.
    seed: !options.databaseUrl,
    lockTimeoutMs,
  });
  const server = serve(backend.fetch);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const isPortTaken = error.code === "EADDRINUSE";
      reject(isPortTaken ? new Error(`Port ${options.port} is in use. Set BACKEND_PORT to another port.`) : error);
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
    setTimeout(() => process.exit(0), backendCloseTimeoutMs);
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

/** Prints only names and messages of errors, because @supabase/lite also prints parameters, such as password hashes. */
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
