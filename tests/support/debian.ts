import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

/** What goes on: one installation at a time, as apt-get wants it. */
let last: Promise<unknown> = Promise.resolve();
let lists: Promise<void> | undefined;

/** Installs a package of Debian's where that may be done, as root; elsewhere, and where it fails, nothing happens. */
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
  // A machine without apt-get gets nothing; whoever asked looks whether the program is there.
  await once(child, "close").catch(() => undefined);
}
