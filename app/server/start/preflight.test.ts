import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "../../../tests/support/free-port.ts";
import { readSettings } from "../../lib/http/env.server.ts";
import { checkBeforeStart } from "./preflight.ts";

let folder: string;
let environment: Record<string, string>;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "at-once-"));
  const [port, backendPort] = [await freePort(), await freePort()];
  environment = { PORT: String(port), BACKEND_PORT: String(backendPort), DATA_DIR: path.join(folder, "data") };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const runChecks = (more: Record<string, string> = {}) => checkBeforeStart(readSettings({ ...environment, ...more }));
const getDataFile = (name: string) => path.join(environment.DATA_DIR ?? "", name);

/** Listens on a port until the test is over. */
async function occupyPort(port = ""): Promise<void> {
  const holder = createServer().listen(Number(port), "127.0.0.1");
  await once(holder, "listening");
  onTestFinished(() => void holder.close());
}

/** A running process with this program's path in its command line. */
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

test("where nothing is wrong a start goes on, its ports are free, and nothing was kept yet", async () => {
  await runChecks();
  await runChecks();
  expect(readdirSync(environment.DATA_DIR ?? "")).toEqual([]);
});

test("a port that is taken, or set twice, is named with its variable", async () => {
  const { PORT = "", BACKEND_PORT = "" } = environment;
  await expect(runChecks({ BACKEND_PORT: PORT })).rejects.toThrow(
    `Port ${PORT} is taken: set BACKEND_PORT to another one.`,
  );
  await occupyPort(PORT);
  await expect(runChecks()).rejects.toThrow(`Port ${PORT} is taken: set PORT to another one.`);
  environment.PORT = String(await freePort());
  await occupyPort(BACKEND_PORT);
  await expect(runChecks()).rejects.toThrow(`Port ${BACKEND_PORT} is taken: set BACKEND_PORT to another one.`);
});

test("a HOST that this machine does not have is named", async () => {
  await expect(runChecks({ HOST: "192.0.2.7" })).rejects.toThrow("This machine has no address 192.0.2.7: set HOST");
});

describe("a data directory", () => {
  test("that a running site holds is refused with the number of the process", async () => {
    const site = spawnFakeProgram("app/server/start.ts");
    const pid = writeLock(site.pid);
    await expect(runChecks()).rejects.toThrow(
      `The data in ${environment.DATA_DIR} is in use by process ${pid}: end that one first.`,
    );
  });

  test("whose site was killed is not refused: its backend is about to release it and its port", async () => {
    const site = spawnFakeProgram("app/server/start.ts");
    const ended = once(site, "exit");
    site.kill("SIGKILL");
    await ended;
    writeLock(site.pid);
    await occupyPort(environment.BACKEND_PORT);
    await runChecks();
  });

  test("that is a file, or holds half of a restore, is refused", async () => {
    await expect(runChecks({ DATA_DIR: process.argv[1] ?? "" })).rejects.toThrow("is a file.");
    mkdirSync(getDataFile("restoring"), { recursive: true });
    await expect(runChecks()).rejects.toThrow("was cut off: move that folder away and restore again.");
  });

  test.each([
    ["nothing", ""],
    ["half a file", '{"publishableKey": "sb_publishable_'],
    ["no object", "[]"],
    ["keys without one", JSON.stringify({ publishableKey: "x".repeat(40), secretKey: "y".repeat(40) })],
    [
      "an empty key",
      JSON.stringify({
        publishableKey: "x".repeat(40),
        secretKey: "",
        jwtSecret: "z".repeat(64),
        sessionSecret: "s".repeat(64),
      }),
    ],
  ])("with %s in keys.json is refused, no key is shown and the file stays", async (_what, text) => {
    mkdirSync(environment.DATA_DIR ?? "");
    writeFileSync(getDataFile("keys.json"), text);
    const { message } = (await runChecks().catch((error: Error) => error)) as Error;
    expect(message).toBe(
      `The keys in ${getDataFile("keys.json")} are broken: put back the file of a backup, or remove it and everybody logs in again.`,
    );
    expect(existsSync(getDataFile("keys.json"))).toBe(true);
  });

  test("and the backend's port are not checked with a hosted backend", async () => {
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
