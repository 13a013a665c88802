import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { projectRoot as root } from "../../../supabase/contract/data-dir.ts";
import { ConfigurationError, getChildEnvironment } from "../../lib/http/env.server.ts";

const sources = [
  "app",
  "content",
  "public",
  "supabase/contract",
  "package-lock.json",
  "react-router.config.ts",
  "vite.config.ts",
];

export const serverBuildFile = path.join(root, "build/server/index.js");
export const clientBuildFolder = path.join(root, "build/client");

/** react-router.config.ts writes this file last, so a build without this file is incomplete. */
const buildMarkerFile = path.join(clientBuildFolder, "manifest.webmanifest.gz");

const frameworkCli = path.join(root, "node_modules/@react-router/dev/bin.js");

/** Runs first in the child process. Ends the child with its parent, but not when the child's output is closed. */
const childPrelude = `process.once("disconnect", () => process.exit()); process.channel.unref();
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});`;

/** Builds the site if its build is outdated. Throws a ConfigurationError if a production installation has no build. */
export async function ensureBuild(): Promise<void> {
  if (!existsSync(frameworkCli)) {
    if (existsSync(buildMarkerFile)) return;
    throw new ConfigurationError("The build is missing. Run npm ci and npm run build first.");
  }
  if (getNewestTime(sources.map((source) => path.join(root, source))) <= getFileTime(buildMarkerFile)) return;
  console.log("Building the site …");
  const child = runFramework(["build"], "production", "pipe");
  const outputs = Promise.all([child.stdout, child.stderr].map((stream) => (stream ? text(stream) : "")));
  await once(child, "close");
  if (child.exitCode !== 0) throw new Error(["The build failed.", ...(await outputs)].join("\n"));
}

export function runFramework(args: string[], mode: string, output: "pipe" | "inherit"): ChildProcess {
  return spawn(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(childPrelude)}`, frameworkCli, ...args],
    {
      cwd: root,
      stdio: [output === "pipe" ? "ignore" : output, output, output, "ipc"],
      env: { ...getChildEnvironment(), NODE_ENV: mode },
    },
  );
}

/** Returns the newest modification time of the files, in milliseconds since 1970. */
function getNewestTime(paths: string[]): number {
  const times = paths.map((file) => {
    const stats = statSync(file);
    return stats.isDirectory() ? getNewestTime(readdirSync(file).map((name) => path.join(file, name))) : stats.mtimeMs;
  });
  return Math.max(0, ...times);
}

function getFileTime(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
