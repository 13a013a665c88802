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

/** npm itself, as a supervisor starts it, with one of the scripts of package.json. */
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

test("a site whose npm was killed ends by itself", async () => {
  const place = await newSandbox();
  // With a --parent that is not its parent, the site takes its parent to be gone.
  const site = place.start({}, { cwd: root, args: ["app/server/run.js", "start", "--parent=1"] });
  expect(await site.waitForExit()).toBe(0);
  await expect.poll(place.backendPid).toBeNull();
});

test("npm run dev leaves nothing behind when its program is killed", async () => {
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
test.runIf(scriptProgram)("a terminal that is closed takes the site that runs in it along", async () => {
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

describe("a site that npm start runs in the background", () => {
  let place: SiteSandbox;
  let site: SiteProcess;
  beforeAll(async () => {
    place = await createSiteSandbox();
    for (const file of listFiles(place.dataDir)) chmodSync(file, statSync(file).isDirectory() ? 0o755 : 0o644);
    site = place.start({}, createNpmCommand("start"));
    await site.waitUntilReady();
  });
  afterAll(() => place.leave());

  test("keeps everything in DATA_DIR from other users, also what was open to them before", async () => {
    const browser = await newLoggedInBrowser(place, "private@client.example");
    await newShipment(browser, "Private tea", 2000);
    const open = listFiles(place.dataDir).filter((file) => statSync(file).mode & 0o077);
    expect(listFiles(place.dataDir).length).toBeGreaterThan(100);
    expect(open).toEqual([]);
  });

  test("goes on when nobody reads what it and its backend print", async () => {
    site.child.stdout?.destroy();
    site.child.stderr?.destroy();
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await place.browser().post("/login", { ...demoCredentials, password: "not it" })).status).toBe(400);
    }
    expect((await place.browser().post("/login", demoCredentials)).status).toBe(303);
  });

  test("goes on when a terminal is closed that is not its own", async () => {
    for (const pid of getBackendPids(place)) process.kill(pid ?? 0, "SIGHUP");
    expect((await place.browser().post("/login", demoCredentials)).status).toBe(303);
    expect((await place.browser().get("/readyz")).status).toBe(200);
  });

  test("ends with its backend when npm alone gets SIGTERM, which then ends with 0", async () => {
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
  const below = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => path.join(folder, name));
  return [folder, ...below];
}
