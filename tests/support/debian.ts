import { spawnSync } from "node:child_process";
import process from "node:process";

/** Installs a package of Debian's where that may be done, as root; elsewhere nothing happens. */
export function installOnDebian(name: string): void {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  console.log(`Installing Debian's ${name} …`);
  spawnSync("apt-get", ["update"], { stdio: "inherit" });
  spawnSync("apt-get", ["install", "-y", name], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
}
