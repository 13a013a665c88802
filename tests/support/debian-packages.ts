import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

/** The latest installation. Installations run in sequence, because apt-get cannot run twice at the same time. */
let lastInstallation: Promise<unknown> = Promise.resolve();
let packageListUpdate: Promise<void> | undefined;

/** Installs a Debian package. Does nothing unless the system is Linux and the user is root. Never rejects. */
export function installDebianPackage(name: string): Promise<void> {
  const installed = lastInstallation.then(async () => {
    if (process.platform !== "linux" || process.getuid?.() !== 0) return;
    console.log(`Installing Debian's ${name} …`);
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
  // apt-get may be missing, so callers check afterwards whether the program is installed.
  await once(child, "close").catch(() => undefined);
}
