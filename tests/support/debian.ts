import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

/** The last installation: apt-get runs only one at a time. */
let last: Promise<unknown> = Promise.resolve();
let lists: Promise<void> | undefined;

/** Installs a Debian package if this is root on Linux. Otherwise does nothing; never rejects. */
export function installOnDebian(name: string): Promise<void> {
  const installed = last.then(async () => {
    if (process.platform !== "linux" || process.getuid?.() !== 0) return;
    console.log(`Installing Debian's ${name} …`);
    lists ??= aptGet("update", "-qq");
    await lists;
    await aptGet("install", "-qq", "-y", name);
  });
  last = installed;
  return installed;
}

async function aptGet(...args: string[]): Promise<void> {
  const child = spawn("apt-get", args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  // apt-get may be missing: callers check whether the program is there afterwards.
  await once(child, "close").catch(() => undefined);
}
