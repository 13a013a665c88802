import { once } from "node:events";
import { chmodSync, readdirSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findProgram } from "../../app/server/programs.ts";
import { findRunningBackend } from "../../supabase/contract/lock.ts";
import { newLoggedInBrowser, newShipment } from "../support/logged-in-browser.ts";
import { isAlive, killProcess, root, type SiteProcess } from "../support/site-process.ts";
import { createSiteSandbox, demoCredentials } from "../support/site-sandbox.ts";

type SiteSandbox = Awaited<ReturnType<typeof createSiteSandbox>>;

const sandboxes: SiteSandbox[] = [];
async function newSandbox(): Promise<SiteSandbox> {
  const place = await createSiteSandbox();
  sandboxes.push(place);
  return place;
}
afterEach(async () => {
  for (const place of sandboxes.splice(0)) await place.leave();
});

/** Returns the npm command that runs `script` of package.json. */
const createNpmCommand = (script: string) => ({
  cwd: root,
  args: [realpathSync(findProgram(["npm"]) ?? ""), "run", script],
});

const isListening = (place: SiteSandbox) =>
  new Promise<boolean>((resolve) => {
    const socket = place.socket();
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
const getBackendPids = (place: SiteSandbox) => {
  const backend = findRunningBackend(place.dataDir);
  return [backend?.pid, backend?.site];
};

test("A site stops when its parent process npm has ended.", async () => {
  const place = await newSandbox();
  // The site compares the process id in --parent with its parent process. A wrong id simulates an ended parent process.
  const site = place.start({}, { cwd: root, args: ["app/server/run.js", "start", "--parent=1"] });
  expect(await site.waitForExit()).toBe(0);
  await expect.poll(place.backendPid).toBeNull();
});

test("If the program that started npm run dev is killed, no process remains.", async () => {
  const place = await newSandbox();
  const site = place.start({ APP_ORIGIN: "" }, createNpmCommand("dev"));
  await expect.poll(() => isListening(place), { timeout: 120_000 }).toBe(true);
  await expect.poll(() => getBackendPids(place).map(isAlive)).toEqual([true, true]);
  const [backend, program] = getBackendPids(place);
  killProcess(program ?? null);
  await once(site.child, "exit");
  await expect.poll(() => [isAlive(backend), isAlive(program)]).toEqual([false, false]);
  await expect.poll(() => isListening(place)).toBe(false);
});

const scriptProgram = findProgram(["script"]);
test.runIf(scriptProgram)("A site and its backend stop when their terminal is closed.", async () => {
  const place = await newSandbox();
  const terminal = `const terminal = require("node:child_process").spawn(process.argv[1], process.argv.slice(2));
    process.on("SIGUSR2", () => terminal.kill("SIGKILL"));`;
  const command = `exec ${process.execPath} app/server/run.js start`;
  const args = ["-e", terminal, scriptProgram ?? "", "--quiet", "--command", command, "/dev/null"];
  const site = place.start({}, { cwd: root, args });
  await site.waitUntilReady();
  const processes = getBackendPids(place);
  expect(processes.map(isAlive)).toEqual([true, true]);
  site.child.kill("SIGUSR2");
  await expect.poll(() => processes.map(isAlive)).toEqual([false, false]);
});

describe("Site in the background", () => {
  let place: SiteSandbox;
  let site: SiteProcess;
  beforeAll(async () => {
    place = await createSiteSandbox();
    for (const file of listFiles(place.dataDir)) chmodSync(file, statSync(file).isDirectory() ? 0o755 : 0o644);
    site = place.start({}, createNpmCommand("start"));
    await site.waitUntilReady();
  });
  afterAll(() => place.leave());

  test("Other users of the machine cannot read any new or existing file in DATA_DIR.", async () => {
    const browser = await newLoggedInBrowser(place, "private@client.example");
    await newShipment(browser, "Private tea", 2000);
    const files = listFiles(place.dataDir);
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => statSync(file).mode & 0o077)).toEqual([]);
  });

  test("A site in the background still works if no program reads its output.", async () => {
    site.child.stdout?.destroy();
    site.child.stderr?.destroy();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect((await place.browser().post("/login", { ...demoCredentials, password: "not it" })).status).toBe(400);
    }
    expect((await place.browser().post("/login", demoCredentials)).status).toBe(303);
  });

  test("A site in the background still works after another terminal is closed.", async () => {
    for (const pid of getBackendPids(place)) process.kill(pid ?? 0, "SIGHUP");
    expect((await place.browser().post("/login", demoCredentials)).status).toBe(303);
    expect((await place.browser().get("/readyz")).status).toBe(200);
  });

  test("A site and its backend stop when npm gets SIGTERM, and npm exits with code 0.", async () => {
    const processes = getBackendPids(place);
    expect(processes.map(isAlive)).toEqual([true, true]);
    site.child.kill("SIGTERM");
    await once(site.child, "exit");
    expect(site.child.exitCode).toBe(0);
    expect(processes.map(isAlive)).toEqual([false, false]);
    expect(await isListening(place)).toBe(false);
  });
});

function listFiles(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return [folder, ...names.map((name) => path.join(folder, name))];
}
