import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { freePort, listen } from "../../../tests/support/free-port.ts";
import { readSettings } from "../../lib/http/env.server.ts";
import { checkBeforeStart } from "./preflight.ts";

let folder: string;
let environment: Record<string, string>;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "preflight-"));
  const [port, backendPort] = [await freePort(), await freePort()];
  environment = { PORT: String(port), BACKEND_PORT: String(backendPort), DATA_DIR: path.join(folder, "data") };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const runChecks = (more: Record<string, string> = {}) => checkBeforeStart(readSettings({ ...environment, ...more }));
const getDataFile = (name: string) => path.join(environment.DATA_DIR ?? "", name);

const completeKeys = {
  ...{ publishableKey: "x".repeat(40), secretKey: "y".repeat(40) },
  ...{ jwtSecret: "z".repeat(64), sessionSecret: "s".repeat(64) },
};

/** Opens a TCP server on `port` and closes the server when the test ends. */
async function occupyPort(port = ""): Promise<void> {
  const holder = createServer();
  await listen(holder, Number(port));
  onTestFinished(() => void holder.close());
}

/** Starts an idle process whose command line contains the path `program`. */
function spawnFakeProgram(program: string): ChildProcess {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", program], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function writeLock(site: number | undefined): number | undefined {
  const { pid } = spawnFakeProgram(path.join("dist", "programs", "backend.js"));
  mkdirSync(environment.DATA_DIR ?? "");
  writeFileSync(getDataFile("backend.lock"), JSON.stringify({ pid, url: "http://127.0.0.1:1", site }));
  return pid;
}

test("The checks before a start can run twice in a row and leave the data directory empty.", async () => {
  await runChecks();
  await runChecks();
  expect(readdirSync(environment.DATA_DIR ?? "")).toEqual([]);
});

test("If a port is in use or assigned twice, the error of the start names the port's environment variable.", async () => {
  const { PORT = "", BACKEND_PORT = "" } = environment;
  await expect(runChecks({ BACKEND_PORT: PORT })).rejects.toThrow(
    `Port ${PORT} is in use. Set BACKEND_PORT to another port.`,
  );
  await occupyPort(PORT);
  await expect(runChecks()).rejects.toThrow(`Port ${PORT} is in use. Set PORT to another port.`);
  environment.PORT = String(await freePort());
  await occupyPort(BACKEND_PORT);
  await expect(runChecks()).rejects.toThrow(`Port ${BACKEND_PORT} is in use. Set BACKEND_PORT to another port.`);
  expect(readdirSync(environment.DATA_DIR ?? "")).toEqual([]);
});

test("If HOST is not an address of the machine, the error of the start names this address.", async () => {
  await expect(runChecks({ HOST: "192.0.2.7" })).rejects.toThrow(
    "This machine does not have the address 192.0.2.7. Set HOST",
  );
});

describe("Data directory", () => {
  test("If a running site uses the data directory, the error of the start names the process of this site.", async () => {
    const site = spawnFakeProgram("app/server/start.ts");
    const pid = writeLock(site.pid);
    await expect(runChecks()).rejects.toThrow(
      `The data in ${environment.DATA_DIR} is in use by process ${pid}. Stop this process first.`,
    );
  });

  test("A start with the data directory of a killed site waits until the killed site's backend has ended.", async () => {
    const site = spawnFakeProgram("app/server/start.ts");
    const ended = once(site, "exit");
    site.kill("SIGKILL");
    await ended;
    writeLock(site.pid);
    await occupyPort(environment.BACKEND_PORT);
    await runChecks();
  });

  test("A start fails if the data directory is a file or has an incomplete restore.", async () => {
    await expect(runChecks({ DATA_DIR: process.argv[1] ?? "" })).rejects.toThrow("is a file.");
    mkdirSync(getDataFile("restoring"), { recursive: true });
    await expect(runChecks()).rejects.toThrow(
      "was interrupted. Move this folder to another place, then restore again.",
    );
  });

  test.each([
    ["no content", ""],
    ["an incomplete object", '{"publishableKey": "sb_publishable_'],
    ["an empty key", JSON.stringify({ ...completeKeys, secretKey: "" })],
  ])("A start with %s in keys.json fails without printing a key or deleting the file.", async (_what, text) => {
    mkdirSync(environment.DATA_DIR ?? "");
    writeFileSync(getDataFile("keys.json"), text);
    const { message } = (await runChecks().catch((error: Error) => error)) as Error;
    expect(message).toBe(
      `The keys in ${getDataFile("keys.json")} are damaged. Restore this file from a backup, or delete this file. Deleting the file signs out all users.`,
    );
    expect(existsSync(getDataFile("keys.json"))).toBe(true);
  });

  test("A start with a hosted backend checks neither the data directory nor the backend's port.", async () => {
    await occupyPort(environment.BACKEND_PORT);
    await runChecks({
      DATA_DIR: process.argv[1] ?? "",
      SUPABASE_URL: "https://abc.supabase.example",
      SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
      SUPABASE_SECRET_KEY: "sb_secret_x",
      SESSION_SECRET: "x".repeat(32),
    });
  });
});
