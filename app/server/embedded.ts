/** The embedded backend as the site sees it: its keys, its process, and how to reach a running one. */
import { type ChildProcess, fork } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { z } from "zod";
import { DataDirError, inWords, projectRoot } from "../../supabase/local/data-dir.ts";
import { runningBackend } from "../../supabase/local/lock.ts";
import type { MainOptions, MainReport } from "../../supabase/local/main.ts";
import { type BackendAccess, ConfigurationError, type Settings } from "../lib/env.server.ts";
import { log } from "../lib/log.server.ts";

/** How long the backend may take to close its database, in milliseconds. */
const closeTime = 1500;

const key = z.string().min(20);
const P256Key = z.object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: key, y: key, d: key });
const Keys = z.object({
  publishableKey: key,
  secretKey: key,
  jwtSecret: key,
  sessionSecret: key,
  /** Signs access tokens. */
  signingKey: P256Key,
});
type Keys = z.infer<typeof Keys>;

const mainFile = path.join(projectRoot, "dist/programs/backend.js");
const keysFile = (dataDir: string) => path.join(dataDir, "keys.json");

/** The keys kept in the data directory, or null before the first start. Throws a DataDirError when they are broken. */
export function readKeys(dataDir: string): Keys | null {
  const file = keysFile(dataDir);
  if (!inWords(dataDir, () => statSync(file, { throwIfNoEntry: false }))) return null;
  const text = inWords(dataDir, () => readFileSync(file, "utf8"));
  try {
    return Keys.parse(JSON.parse(text));
  } catch {
    throw new DataDirError(
      `The keys in ${file} are broken: put back the file of a backup, or remove it and everybody logs in again.`,
    );
  }
}

/** The keys of the data directory, created at the first start; readable by this user only. */
export function completeKeys(dataDir: string): Keys {
  const known = readKeys(dataDir);
  if (known) return known;
  const random = (bytes: number) => randomBytes(bytes).toString("base64url");
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keys = {
    publishableKey: `sb_publishable_${random(24)}`,
    secretKey: `sb_secret_${random(24)}`,
    jwtSecret: random(48),
    sessionSecret: random(48),
    signingKey: P256Key.parse(pair.privateKey.export({ format: "jwk" })),
  };
  // Written atomically: half a file would stop every later start.
  const draft = `${keysFile(dataDir)}.${process.pid}`;
  inWords(dataDir, () => {
    try {
      writeFileSync(draft, JSON.stringify(keys, null, 2), { mode: 0o600 });
      renameSync(draft, keysFile(dataDir));
    } finally {
      rmSync(draft, { force: true });
    }
  });
  return keys;
}

/** How to reach the backend that runs on a data directory, or null when none does. Throws a DataDirError. */
export function runningAccess(dataDir: string): BackendAccess | null {
  const url = runningBackend(dataDir)?.url;
  const keys = readKeys(dataDir);
  return url && keys ? { url, publishableKey: keys.publishableKey, secretKey: keys.secretKey } : null;
}

export type Embedded = { access: BackendAccess; sessionSecret: string; stop: () => Promise<void> };

/**
 * Starts the embedded backend as its own process, and starts it again whenever it dies.
 * Throws a ConfigurationError when it cannot start: data directory in use, port taken, a migration that fails.
 */
export async function startEmbedded(settings: Settings): Promise<Embedded> {
  const keys = completeKeys(settings.dataDir);
  const options: MainOptions = {
    dataDir: settings.dataDir,
    databaseUrl: settings.databaseUrl,
    port: settings.backendPort,
    siteUrl: settings.origin,
    smtpUrl: settings.smtpUrl,
    publishableKey: keys.publishableKey,
    secretKey: keys.secretKey,
    jwtSecret: keys.jwtSecret,
    signingKey: keys.signingKey,
  };

  let stopping = false;
  let { child, url } = await launch(options);
  const watch = (watched: ChildProcess) =>
    watched.once("exit", async (code, signal) => {
      if (stopping) return;
      log("error", "backend ended", { code, signal });
      for (let wait = 200; !stopping; wait = Math.min(wait * 2, 5000)) {
        await new Promise((resolve) => setTimeout(resolve, wait));
        const again = await launch(options).catch(() => null);
        if (!again) continue;
        child = again.child;
        if (stopping) child.kill("SIGTERM");
        else watch(child);
        return;
      }
    });
  watch(child);

  return {
    access: { url, publishableKey: keys.publishableKey, secretKey: keys.secretKey },
    sessionSecret: keys.sessionSecret,
    stop: () => {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
      return new Promise((resolve) => {
        const patience = setTimeout(() => child.kill("SIGKILL"), closeTime);
        child.once("exit", () => {
          clearTimeout(patience);
          resolve();
        });
        child.kill("SIGTERM");
      });
    },
  };
}

function launch(options: MainOptions): Promise<{ child: ChildProcess; url: string }> {
  // V8 optimizes PGlite's WebAssembly only after minutes of use: at its default threshold that costs 2 s of a start.
  const child = fork(mainFile, { cwd: projectRoot, execArgv: ["--wasm-tiering-budget=100000000"] });
  return new Promise((resolve, reject) => {
    const died = () => reject(new ConfigurationError("The embedded backend ended before it was ready."));
    child.once("exit", died);
    child.once("message", (report: MainReport) => {
      child.off("exit", died);
      if ("ready" in report) resolve({ child, url: report.ready });
      else reject(new ConfigurationError(report.failed));
    });
    // A failure to send is ignored: if the child has died, its `exit` event rejects.
    child.send(options, () => undefined);
  });
}
