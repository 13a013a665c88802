import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { chromium } from "@playwright/test";

/** The browser the end-to-end tests run in: CHROMIUM_PATH, Playwright's own, or the system's; null when there is none. */
export function findBrowser(): string | null {
  const named = process.env.CHROMIUM_PATH;
  if (named) return named;
  if (existsSync(chromium.executablePath())) return chromium.executablePath();
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const candidates = folders.flatMap((folder) => names.map((name) => path.join(folder, name)));
  return [...candidates, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"].find(isExecutable) ?? null;
}

/** Finds a browser or installs one. Throws a line that says what to install when neither works. */
export function ensureBrowser(): string {
  const found = findBrowser();
  if (found) return found;
  console.log("No browser found: installing one …");
  const cli = path.resolve(import.meta.dirname, "../../node_modules/@playwright/test/cli.js");
  spawnSync(process.execPath, [cli, "install", "chromium"], { stdio: "inherit", timeout: 180_000 });
  const own = findBrowser();
  if (own) return own;
  if (process.platform === "linux" && process.getuid?.() === 0) {
    spawnSync("apt-get", ["update"], { stdio: "inherit" });
    spawnSync("apt-get", ["install", "-y", "chromium"], {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    });
  }
  const installed = findBrowser();
  if (installed) return installed;
  throw new Error("The end-to-end tests need a browser: install Chromium, or set CHROMIUM_PATH to one.");
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
