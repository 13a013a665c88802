import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "../../../tests/support/ports.ts";
import { readSettings } from "../../lib/env.server.ts";
import { refuseAtOnce } from "./at-once.ts";

let folder: string;
let environment: Record<string, string>;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "at-once-"));
  const [port, backendPort] = [await freePort(), await freePort()];
  environment = { PORT: String(port), BACKEND_PORT: String(backendPort), DATA_DIR: path.join(folder, "data") };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const attempt = (more: Record<string, string> = {}) => refuseAtOnce(readSettings({ ...environment, ...more }));
const inDataDir = (name: string) => path.join(environment.DATA_DIR ?? "", name);

/** Listens on a port until the test is over. */
async function take(port = ""): Promise<void> {
  const holder = createServer().listen(Number(port), "127.0.0.1");
  await once(holder, "listening");
  onTestFinished(() => void holder.close());
}

/** A running process with this program's path in its command line. */
function standIn(program: string): ChildProcess {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", program], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function lockFor(site: number | undefined): number | undefined {
  const { pid } = standIn(path.join("dist", "programs", "backend.js"));
  mkdirSync(environment.DATA_DIR ?? "");
  writeFileSync(inDataDir("backend.lock"), JSON.stringify({ pid, url: "http://127.0.0.1:1", site }));
  return pid;
}

test("where nothing is wrong a start goes on, its ports are free, and nothing was kept yet", async () => {
  await attempt();
  await attempt();
  expect(readdirSync(environment.DATA_DIR ?? "")).toEqual([]);
});

test("a port that is taken, or set twice, is named with its variable", async () => {
  const { PORT = "", BACKEND_PORT = "" } = environment;
  await expect(attempt({ BACKEND_PORT: PORT })).rejects.toThrow(
    `Port ${PORT} is taken: set BACKEND_PORT to another one.`,
  );
  await take(PORT);
  await expect(attempt()).rejects.toThrow(`Port ${PORT} is taken: set PORT to another one.`);
  environment.PORT = String(await freePort());
  await take(BACKEND_PORT);
  await expect(attempt()).rejects.toThrow(`Port ${BACKEND_PORT} is taken: set BACKEND_PORT to another one.`);
});

test("a HOST that this machine does not have is named", async () => {
  await expect(attempt({ HOST: "192.0.2.7" })).rejects.toThrow("This machine has no address 192.0.2.7: set HOST");
});

describe("a data directory", () => {
  test("that a running site holds is refused with the number of the process", async () => {
    const site = standIn("app/server/start.ts");
    const pid = lockFor(site.pid);
    await expect(attempt()).rejects.toThrow(
      `The data in ${environment.DATA_DIR} is in use by process ${pid}: end that one first.`,
    );
  });

  test("whose site was killed is not refused: its backend is about to release it and its port", async () => {
    const site = standIn("app/server/start.ts");
    const ended = once(site, "exit");
    site.kill("SIGKILL");
    await ended;
    lockFor(site.pid);
    await take(environment.BACKEND_PORT);
    await attempt();
  });

  test("that is a file, or holds half of a restore, is refused", async () => {
    await expect(attempt({ DATA_DIR: process.argv[1] ?? "" })).rejects.toThrow("is a file.");
    mkdirSync(inDataDir("restoring"), { recursive: true });
    await expect(attempt()).rejects.toThrow("was cut off: move that folder away and restore again.");
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
    writeFileSync(inDataDir("keys.json"), text);
    const { message } = (await attempt().catch((error: Error) => error)) as Error;
    expect(message).toBe(
      `The keys in ${inDataDir("keys.json")} are broken: put back the file of a backup, or remove it and everybody logs in again.`,
    );
    expect(existsSync(inDataDir("keys.json"))).toBe(true);
  });

  test("and the backend's port are not checked with a hosted backend", async () => {
    await take(environment.BACKEND_PORT);
    await attempt({
      DATA_DIR: process.argv[1] ?? "",
      SUPABASE_URL: "https://abc.supabase.example",
      SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
      SUPABASE_SECRET_KEY: "sb_secret_x",
      SESSION_SECRET: "x".repeat(32),
    });
  });
});
