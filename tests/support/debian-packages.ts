import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

/** The last installation: apt-get runs only one at a time. */
let lastInstallation: Promise<unknown> = Promise.resolve();
let packageListUpdate: Promise<void> | undefined;

/** Installs a Debian package if this is root on Linux. Otherwise does nothing; never rejects. */
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
  // apt-get may be missing: callers check whether the program is there afterwards.
  await once(child, "close").catch(() => undefined);
}
