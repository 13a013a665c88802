/** The build that npm start serves: made when there is none, or when a source is newer. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { ConfigurationError, environmentForChild } from "../lib/env.server.ts";

const root = path.resolve(import.meta.dirname, "../..");
const sources = ["app", "content", "public", "package-lock.json", "react-router.config.ts", "vite.config.ts"];

export const serverBuild = path.join(root, "build/server/index.js");
export const clientBuild = path.join(root, "build/client");

/** What a build writes last: without it one was cut off. */
const lastWritten = path.join(clientBuild, "manifest.webmanifest.br");

/** The command-line program of the framework, run by this Node. */
export const frameworkCli = path.join(root, "node_modules/@react-router/dev/bin.js");

/**
 * Builds the site unless the build is newer than every source. Throws when the build fails. An installation without the
 * development dependencies serves the build it came with, and throws a ConfigurationError when it came without one.
 */
export function ensureBuild(): void {
  if (!existsSync(frameworkCli)) {
    if (existsSync(lastWritten)) return;
    throw new ConfigurationError("There is no build to serve: run npm ci and npm run build first.");
  }
  if (newest(sources.map((source) => path.join(root, source))) <= timeOf(lastWritten)) return;
  console.log("Building the site …");
  const { status, stdout, stderr } = spawnSync(process.execPath, [frameworkCli, "build"], {
    cwd: root,
    env: { ...environmentForChild(), NODE_ENV: "production" },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The build failed.\n${stdout}\n${stderr}`);
}

/** The time of the newest file in these files and folders, in milliseconds. */
function newest(paths: string[]): number {
  const times = paths.map((file) => {
    const stats = statSync(file);
    return stats.isDirectory() ? newest(readdirSync(file).map((name) => path.join(file, name))) : stats.mtimeMs;
  });
  return Math.max(0, ...times);
}

function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
