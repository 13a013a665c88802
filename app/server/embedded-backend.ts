import { type ChildProcess, fork } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { z } from "zod";
import type { BackendProcessOptions, BackendProcessReport } from "../../supabase/contract/backend-process.ts";
import { DataDirError, projectRoot, rethrowAsDataDirError } from "../../supabase/contract/data-dir.ts";
import { findRunningBackend } from "../../supabase/contract/lock.ts";
import { type BackendAccess, ConfigurationError, type Settings } from "../lib/http/env.server.ts";
import { log } from "../lib/http/log.server.ts";
import { toMailbox } from "../models/emails.ts";
import { readEmailSender } from "./cli/content.ts";
import { endChild } from "./lifetime.ts";

const keyText = z.string().min(20);
const P256Key = z.object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: keyText, y: keyText, d: keyText });
const EmbeddedKeys = z.object({
  publishableKey: keyText,
  secretKey: keyText,
  jwtSecret: keyText,
  sessionSecret: keyText,
  /** Signs access tokens. */
  signingKey: P256Key,
});
type EmbeddedKeys = z.infer<typeof EmbeddedKeys>;

const backendProgram = path.join(projectRoot, "dist/programs/backend.js");
const getKeysFile = (dataDir: string) => path.join(dataDir, "keys.json");

/** Returns null before the first start. Throws a DataDirError if the keys are damaged. */
export function readKeys(dataDir: string): EmbeddedKeys | null {
  const file = getKeysFile(dataDir);
  if (!rethrowAsDataDirError(dataDir, () => statSync(file, { throwIfNoEntry: false }))) return null;
  const text = rethrowAsDataDirError(dataDir, () => readFileSync(file, "utf8"));
  try {
    return EmbeddedKeys.parse(JSON.parse(text));
  } catch {
    throw new DataDirError(
      `The keys in ${file} are damaged. Restore this file from a backup, or delete this file. Deleting the file signs out all users.`,
    );
  }
}

export function ensureKeys(dataDir: string): EmbeddedKeys {
  const existingKeys = readKeys(dataDir);
  if (existingKeys) return existingKeys;
  const random = (bytes: number) => randomBytes(bytes).toString("base64url");
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keys = {
    publishableKey: `sb_publishable_${random(24)}`,
    secretKey: `sb_secret_${random(24)}`,
    jwtSecret: random(48),
    sessionSecret: random(48),
    signingKey: P256Key.parse(pair.privateKey.export({ format: "jwk" })),
  };
  writeSecretFile(dataDir, getKeysFile(dataDir), keys);
  return keys;
}

/** Writes the file atomically, because an incomplete file would prevent every later start. Throws a DataDirError. */
export function writeSecretFile(dataDir: string, file: string, value: object): void {
  const draft = `${file}.${process.pid}`;
  rethrowAsDataDirError(dataDir, () => {
    try {
      writeFileSync(draft, JSON.stringify(value, null, 2), { mode: 0o600 });
      renameSync(draft, file);
    } finally {
      rmSync(draft, { force: true });
    }
  });
}

export function getRunningAccess(dataDir: string): BackendAccess | null {
  const url = findRunningBackend(dataDir)?.url;
  const keys = readKeys(dataDir);
  return url && keys ? { url, publishableKey: keys.publishableKey, secretKey: keys.secretKey } : null;
}

export type EmbeddedBackend = { access: BackendAccess; sessionSecret: string; stop: () => Promise<void> };

/** Restarts the backend whenever its process ends. Throws a ConfigurationError if the first start fails. */
export async function startEmbeddedBackend(settings: Settings): Promise<EmbeddedBackend> {
  const { sessionSecret, ...backendKeys } = ensureKeys(settings.dataDir);
  const options: BackendProcessOptions = {
    dataDir: settings.dataDir,
    databaseUrl: settings.databaseUrl,
    port: settings.backendPort,
    siteUrl: settings.origin,
    smtpUrl: settings.smtpUrl,
    emailFrom: settings.emailFrom ?? toMailbox(readEmailSender()),
    ...backendKeys,
  };

  let stopping = false;
  let { child, url } = await launchBackend(options);
  const watch = (watched: ChildProcess) =>
    watched.once("exit", async (code, signal) => {
      if (stopping) return;
      log("error", "backend ended", { code, signal });
      for (let wait = 200; !stopping; wait = Math.min(wait * 2, 5000)) {
        await new Promise((resolve) => setTimeout(resolve, wait));
        const restarted = await launchBackend(options).catch(() => null);
        if (!restarted) continue;
        child = restarted.child;
        if (stopping) child.kill("SIGTERM");
        else watch(child);
        return;
      }
    });
  watch(child);

  return {
    access: { url, publishableKey: backendKeys.publishableKey, secretKey: backendKeys.secretKey },
    sessionSecret,
    stop: () => {
      stopping = true;
      return endChild(child);
    },
  };
}

function launchBackend(options: BackendProcessOptions): Promise<{ child: ChildProcess; url: string }> {
  // Postpones V8's optimisation of PGlite's WebAssembly, which would add 2 seconds to the start.
  const child = fork(backendProgram, { cwd: projectRoot, execArgv: ["--wasm-tiering-budget=100000000"] });
  return new Promise((resolve, reject) => {
    const rejectOnExit = () => reject(new ConfigurationError("The embedded backend stopped while it was starting."));
    child.once("exit", rejectOnExit);
    child.once("message", (report: BackendProcessReport) => {
      child.off("exit", rejectOnExit);
      if ("ready" in report) resolve({ child, url: report.ready });
      else reject(new ConfigurationError(report.failed));
    });
    // Ignores an error of `send` after the end of the child process, because the event `exit` rejects the promise.
    child.send(options, () => undefined);
  });
}
