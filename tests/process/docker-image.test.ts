import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readSettings } from "../../app/lib/http/env.server.ts";
import { createSiteEnvironment } from "../support/environment.ts";
import { readEmailsTo } from "../support/outbox.ts";
import { createSiteSandbox, demoCredentials } from "../support/site-sandbox.ts";

const root = path.resolve(import.meta.dirname, "../..");
const dockerfileLines = readFileSync(path.join(root, "Dockerfile"), "utf8").replaceAll("\\\n", " ").split("\n");
const dockerignoreLines = readFileSync(path.join(root, ".dockerignore"), "utf8").split("\n");
const lastStage = dockerfileLines.slice(dockerfileLines.findLastIndex((line) => line.startsWith("FROM ")));

/** Returns the arguments of each instruction `word` in the Dockerfile's last stage. */
const readInstructions = (word: string) =>
  lastStage.filter((line) => line.trim().startsWith(`${word} `)).map((line) => line.trim().slice(word.length + 1));
const parseCommand = (text = ""): string[] => JSON.parse(text.slice(text.indexOf("[")));
const [start, health] = [parseCommand(readInstructions("CMD")[0]), parseCommand(readInstructions("HEALTHCHECK")[0])];
const environment = Object.fromEntries(
  readInstructions("ENV").flatMap((line) => line.split(" ").map((pair) => pair.split("=") as [string, string])),
);

/** The files and folders of this repository that the Dockerfile's COPY instructions name. */
const copiedPaths = dockerfileLines
  .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
  .flatMap((line) => line.split(" ").slice(1, -1))
  .filter((source) => source !== ".");

describe("Dockerfile", () => {
  test("The Dockerfile copies only files that exist and that .dockerignore does not exclude.", () => {
    expect(copiedPaths.length).toBeGreaterThan(3);
    for (const source of copiedPaths) {
      expect(existsSync(path.join(root, source)), source).toBe(true);
      expect(dockerignoreLines, source).toContain(`!${source.split("/")[0]}`);
    }
  });

  test("The .dockerignore file gives the Docker build only named files, without data, secrets and Git history.", () => {
    expect(dockerignoreLines.find((line) => line && !line.startsWith("#"))).toBe("*");
    for (const name of dockerignoreLines.filter((line) => line.startsWith("!"))) {
      expect(existsSync(path.join(root, name.slice(1))), name).toBe(true);
      expect(name).not.toMatch(/\.data|\.git|\.env|node_modules|build/);
    }
    expect(dockerignoreLines).toContain("**/.env");
  });

  test("The container runs Node directly, so Node gets SIGTERM, and as a user other than root.", () => {
    expect(readInstructions("USER")).toEqual(["node"]);
    expect(start[0]).toBe("node");
  });
});

describe("compose.yaml", () => {
  const { site } = parse(readFileSync(path.join(root, "compose.yaml"), "utf8")).services;

  test("The file compose.yaml gives the container only necessary privileges, and enough time to stop.", () => {
    expect(site).toMatchObject({ read_only: true, cap_drop: ["ALL"], tmpfs: ["/tmp"], init: true });
    expect(site.security_opt).toEqual(["no-new-privileges:true"]);
    expect(site.volumes).toEqual([`data:${environment.DATA_DIR}`]);
    expect(site.ports).toEqual([`127.0.0.1:\${SITE_PORT:-3000}:${environment.PORT}`]);
    const [, seconds] = /:-(\d+)s\}$/.exec(site.stop_grace_period) ?? [];
    expect(Number(seconds) * 1000).toBeGreaterThan(readSettings({}).deadlines.drain + 5000);
  });

  test("The settings in site.env.example are valid.", () => {
    const lines = readFileSync(path.join(root, "site.env.example"), "utf8").split("\n");
    const example = Object.fromEntries(lines.filter((line) => /^[A-Z]/.test(line)).map((line) => line.split("=", 2)));
    const settings = readSettings({ ...environment, ...example });
    expect(settings).toMatchObject({ origin: "https://portal.example", host: "0.0.0.0", backend: null, smtpUrl: null });
  });
});

describe("Files of the Docker image", () => {
  const site = mkdtempSync(path.join(tmpdir(), "image-"));
  let place: Awaited<ReturnType<typeof createSiteSandbox>>;
  beforeAll(async () => {
    place = await createSiteSandbox();
    for (const line of readInstructions("COPY")) {
      const [source = "", target = ""] = line.split(" ").filter((part) => !part.startsWith("--"));
      const name = source.replace(/^\/site\//, "");
      if (name === "node_modules") linkProductionPackages(path.join(site, target));
      else cpSync(path.join(root, name), path.join(site, target, target === "./" ? name : ""), { recursive: true });
    }
  });
  afterAll(async () => {
    await place.leave();
    rmSync(site, { recursive: true, force: true });
  });

  test("A site with the Docker image's files is healthy, sends emails, writes only into its data directory, and stops at SIGTERM.", async () => {
    const before = listFiles(site);
    const { PORT: _, DATA_DIR: __, ...settings } = environment;
    const running = place.start(settings, { cwd: site, args: start.slice(1) });
    const checkHealth = () =>
      spawnSync(process.execPath, health.slice(1), { env: createSiteEnvironment({ PORT: String(place.port) }) }).status;
    expect(checkHealth()).toBe(1);
    await running.waitUntilReady();
    expect(checkHealth()).toBe(0);
    const browser = place.browser();
    expect((await browser.post("/login", demoCredentials)).status).toBe(303);
    expect((await browser.open("/portal")).h1).toBe("My Shipments");
    const email = "invited@client.example";
    const issued = await place.staff(["client-id", "issue", "--email", email], settings, site);
    expect(issued).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\dA-Z]{4}(-[\dA-Z]{4}){3}\n$/) });
    expect(await readEmailsTo(place.dataDir, email)).toHaveLength(1);
    expect((await running.stop("SIGTERM")).code).toBe(0);
    expect(listFiles(site)).toEqual(before);
    expect(running.output).not.toContain("Building");
  });

  test("A start with the Docker image's files but without a build prints that the build is missing.", async () => {
    rmSync(path.join(site, "build"), { recursive: true });
    const failed = place.start({}, { cwd: site, args: start.slice(1) });
    expect(await failed.waitForExit()).toBe(1);
    expect(failed.output.trim()).toBe("The build is missing. Run npm ci and npm run build first.");
  });
});

/** Creates links to the packages that `npm ci --omit=dev --omit=optional` would install. */
function linkProductionPackages(folder: string): void {
  const lock = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8"));
  type LockedPackage = { dev?: boolean; optional?: boolean; devOptional?: boolean };
  for (const [place, { dev, optional, devOptional }] of Object.entries<LockedPackage>(lock.packages)) {
    const [, name] = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(place) ?? [];
    if (!name || dev || optional || devOptional || !existsSync(path.join(root, place))) continue;
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    symlinkSync(path.join(root, place), path.join(folder, name));
  }
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
}
