import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { chromium } from "@playwright/test";
import { findProgram } from "../../app/server/programs.ts";
import { installDebianPackage } from "./debian-packages.ts";

/**
 * The program and Debian package of Chromium without a user interface, which needs less than half as much processor
 * time as Chromium with a user interface.
 */
const headlessShell = "chromium-headless-shell";

/**
 * Returns the path of Chromium, or null. Looks first for CHROMIUM_PATH, then for the system's headless shell,
 * Playwright's Chromium, and the system's Chromium.
 */
export function findChromium(): string | null {
  const named = process.env.CHROMIUM_PATH;
  if (named) return named;
  const light = findProgram([headlessShell]);
  if (light) return light;
  if (existsSync(chromium.executablePath())) return chromium.executablePath();
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  return findProgram([...names, "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"]);
}

/**
 * Returns the path of Chromium. Installs a missing headless shell if the system is Debian and the user is root. If no
 * Chromium is found, installs Playwright's Chromium. Throws an error that says what to install if Chromium is still
 * missing.
 */
export async function ensureChromium(): Promise<string> {
  if (!process.env.CHROMIUM_PATH && !findProgram([headlessShell])) await installDebianPackage(headlessShell);
  const found = findChromium();
  if (found) return found;
  console.log("Chromium is missing. Installing Playwright's Chromium …");
  const cli = path.resolve(import.meta.dirname, "../../node_modules/@playwright/test/cli.js");
  spawnSync(process.execPath, [cli, "install", "chromium"], { stdio: "inherit", timeout: 180_000 });
  const installed = findChromium();
  if (installed) return installed;
  throw new Error("The browser tests need Chromium. Install Chromium, or set CHROMIUM_PATH to its path.");
}

/** Returns FIREFOX_PATH or the path of the system's Firefox, or null. */
function findFirefox(): string | null {
  const names = ["firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"];
  return process.env.FIREFOX_PATH || findProgram(names);
}

/**
 * Returns the path of Firefox, after installing Debian's package if needed. Throws an error that says what to install.
 */
export async function ensureFirefox(): Promise<string> {
  if (!findFirefox()) await installDebianPackage("firefox-esr");
  const found = findFirefox();
  if (found) return found;
  throw new Error("The tests in Firefox need Firefox. Install Firefox, or set FIREFOX_PATH to its path.");
}
