import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

/** The latest installation, for which the next installation waits, because apt-get cannot run twice in parallel. */
let lastInstallation: Promise<unknown> = Promise.resolve();
let packageListUpdate: Promise<void> | undefined;

/** Installs a Debian package if the system is Linux and the user is root. Never throws. */
export function installDebianPackage(name: string): Promise<void> {
  const installed = lastInstallation.then(async () => {
    if (process.platform !== "linux" || process.getuid?.() !== 0) return;
    console.log(`Installing the Debian package ${name} …`);
    packageListUpdate ??= runAptGet("update", "-qq");
    await packageListUpdate;
    await runAptGet("install", "-qq", "-y", name);
  });
  lastInstallation = installed;
  return installed;
}

async function runAptGet(...args: string[]): Promise<void> {
  const child = spawn("apt-get", args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  // The error is ignored, because apt-get may be missing. Callers check whether the program is installed.
  await once(child, "close").catch(() => undefined);
}
