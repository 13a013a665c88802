import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { chromium } from "@playwright/test";
import { findProgram } from "../../app/server/programs.ts";
import { installOnDebian } from "./debian.ts";

/** The browser the end-to-end tests run in: CHROMIUM_PATH, Playwright's own, or the system's; null when there is none. */
export function findBrowser(): string | null {
  const named = process.env.CHROMIUM_PATH;
  if (named) return named;
  if (existsSync(chromium.executablePath())) return chromium.executablePath();
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  return findProgram([...names, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"]);
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
  installOnDebian("chromium");
  const installed = findBrowser();
  if (installed) return installed;
  throw new Error("The end-to-end tests need a browser: install Chromium, or set CHROMIUM_PATH to one.");
}
