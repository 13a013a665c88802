import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { create } from "tar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBackup, restoreBackup } from "../../app/server/cli/backup.ts";
import { createDatabase } from "../support/database.ts";
import { newLoggedInBrowser, newShipment } from "../support/logged-in-browser.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { createServiceRoleClient } from "../support/service-role.ts";
import { createSiteSandbox } from "../support/site-sandbox.ts";
import { parsePage, password, type TestBrowser } from "../support/test-app.ts";

type BackupSandbox = Awaited<ReturnType<typeof createSiteSandbox>> & { databaseUrl: string | null };

let folder: string;
let server: Awaited<ReturnType<typeof startPostgres>>;
const sandboxes = new Set<BackupSandbox>();
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "backups-"));
  server = await startPostgres();
});
afterAll(async () => {
  for (const place of sandboxes) await place.leave();
  server.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** A place with nothing in it, its database included. */
async function createEmptySandbox(on: string): Promise<BackupSandbox> {
  const databaseUrl = on === "PostgreSQL" ? (await createDatabase(server.url)).url : null;
  const place = { ...(await createSiteSandbox(databaseUrl ? { DATABASE_URL: databaseUrl } : {}, "new")), databaseUrl };
  sandboxes.add(place);
  return place;
}

/** A place whose site can start at once: PGlite's database is there already, with the demo. */
async function createSeededSandbox(on: string): Promise<BackupSandbox> {
  if (on === "PostgreSQL") return createEmptySandbox(on);
  const place = { ...(await createSiteSandbox()), databaseUrl: null };
  sandboxes.add(place);
  return place;
}

/** The sizes of the files of a shipment's uploaded documents. */
async function listFileSizes(place: BackupSandbox, address: string): Promise<number[]> {
  const { data } = await createServiceRoleClient(place.dataDir)
    .from("documents")
    .select("storage_path")
    .eq("shipment_id", address.split("/").at(-1) ?? "")
    .eq("uploaded", true);
  const files = (data ?? []).map(({ storage_path }) =>
    createServiceRoleClient(place.dataDir)
      .storage.from("documents")
      .download(storage_path ?? ""),
  );
  return (await Promise.all(files)).map((file) => file.data?.size ?? -1);
}

describe.each(["PGlite", "PostgreSQL"])("on %s", (on) => {
  let file: string;
  let browser: TestBrowser;
  let address: string;
  let place: BackupSandbox;
  const email = "backed.up@client.example";
  beforeAll(async () => {
    file = path.join(folder, `${on}.tar.gz`);
    place = await createSeededSandbox(on);
    const site = place.start();
    await site.waitUntilReady();
    browser = await newLoggedInBrowser(place, email);
    address = await newShipment(browser, "Backed up tea", 70_000);

    await expect(createBackup(place, file)).rejects.toThrow(
      /^The data in .+ is in use by process \d+: end that one first\.$/,
    );
    expect(readdirSync(folder)).not.toContain(path.basename(file));
    await site.stop("SIGTERM");
  });

  test("a backup of the stopped site is one file for this user alone, and a second does not replace it", async () => {
    const { code, printed, told } = await place.staff(["backup", file]);
    expect(told).toMatch(/"action":"backup"/);
    expect(code).toBe(0);
    expect(printed).toContain(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await expect(createBackup(place, file)).rejects.toThrow(`${file} is there already: give another name.`);
    expect(readdirSync(folder).filter((name) => name.startsWith(on))).toEqual([path.basename(file)]);
    expect(readdirSync(place.dataDir)).not.toContain("backup.json");
    expect(readdirSync(place.dataDir)).not.toContain("database.dump");
  });

  test("restored elsewhere, the client is still signed in, may log in again, and has the documents with their files", async () => {
    const elsewhere = await createEmptySandbox(on);
    const restored = await elsewhere.staff(["restore", file]);
    expect(restored.told).toMatch(/"action":"restore"/);
    expect(restored.code).toBe(0);
    const ofTheFolder = on === "PGlite" ? ["database", "demo-lead.json"] : [];
    expect(readdirSync(elsewhere.dataDir).sort()).toEqual([...ofTheFolder, "keys.json", "objects"]);
    const site = elsewhere.start();
    await site.waitUntilReady();
    const still = elsewhere.browser();
    for (const [name, value] of browser.cookies) still.cookies.set(name, value);
    expect((await parsePage(await still.get(address))).text).toContain("Packing List Uploaded, we check it next");
    expect(await listFileSizes(elsewhere, address)).toEqual([70_000]);
    const fresh = elsewhere.browser();
    expect((await fresh.post("/login", { email, password })).headers.get("Location")).toBe("/portal");
    expect((await fresh.get(address)).status).toBe(200);
    await newShipment(fresh, "After it", 2000);
    await site.stop("SIGTERM");

    await expect(restoreBackup(elsewhere, file)).rejects.toThrow(
      / holds data already \(keys\.json\): move it away first\.$/,
    );
    if (on === "PostgreSQL") {
      const { dataDir } = await createEmptySandbox("PGlite");
      await expect(restoreBackup({ ...elsewhere, dataDir }, file)).rejects.toThrow(
        "The database of DATABASE_URL is not empty: give it an empty one.",
      );
      expect(readdirSync(dataDir)).toEqual([]);
    }
  });

  test("a file that is cut off, damaged, or none of ours is refused with nothing changed", async () => {
    const whole = readFileSync(file);
    const bad: Record<string, Buffer> = {
      "cut in the middle": whole.subarray(0, whole.length / 2),
      "without its last bytes": whole.subarray(0, -9),
      damaged: Buffer.concat([whole.subarray(0, 20_000), Buffer.alloc(64), whole.subarray(20_064)]),
      empty: Buffer.alloc(0),
      "no archive": Buffer.from("a letter to the editor"),
    };
    const foreign = path.join(folder, "foreign");
    mkdirSync(path.join(foreign, "objects"), { recursive: true });
    writeFileSync(path.join(foreign, "keys.json"), "{}");
    await create({ cwd: foreign, gzip: true, file: path.join(folder, "foreign.tgz") }, ["keys.json", "objects"]);
    bad.foreign = readFileSync(path.join(folder, "foreign.tgz"));

    const empty = await createEmptySandbox(on);
    const nowhere = path.join(folder, "nowhere");
    const wrong = path.join(folder, "wrong.tar.gz");
    const words = `${wrong} is no whole backup of this site: nothing was changed.`;
    for (const [what, bytes] of Object.entries(bad)) {
      writeFileSync(wrong, bytes);
      const folders = what === "cut in the middle" ? [empty.dataDir, nowhere] : [empty.dataDir];
      for (const dataDir of folders) {
        await expect(restoreBackup({ ...empty, dataDir }, wrong), what).rejects.toThrow(words);
      }
      expect(readdirSync(empty.dataDir), what).toEqual([]);
      expect(existsSync(nowhere), what).toBe(false);
    }
    // The database was not changed either: the complete backup can still be restored into it.
    await restoreBackup(empty, file);
    expect(readdirSync(empty.dataDir)).toContain("keys.json");
  });
});

test("a backup of one kind of database is not put into the other", async () => {
  for (const [from, to] of [
    ["PGlite", "PostgreSQL"],
    ["PostgreSQL", "PGlite"],
  ] as const) {
    const place = await createEmptySandbox(to);
    await expect(restoreBackup(place, path.join(folder, `${from}.tar.gz`))).rejects.toThrow(/^.*DATABASE_URL.*$/);
    expect(readdirSync(place.dataDir)).toEqual([]);
  }
});

test("a site does not start on a restore that was cut off", async () => {
  const place = await createEmptySandbox("PGlite");
  mkdirSync(path.join(place.dataDir, "restoring"));
  const site = place.start();
  expect(await site.waitForExit()).toBe(1);
  expect(site.output.trim()).toBe(
    `A restore into ${place.dataDir} was cut off: move that folder away and restore again.`,
  );
});

test("without data, with a hosted backend, without the file or with a wrong one, one line says what is wrong", async () => {
  const place = await createEmptySandbox("PGlite");
  const out = path.join(folder, "none.tar.gz");
  const wrong = path.join(folder, "letter.tar.gz");
  writeFileSync(wrong, "a letter to the editor");
  const hosted = {
    SUPABASE_URL: "https://abc.supabase.example",
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
    SUPABASE_SECRET_KEY: "sb_secret_x",
    SESSION_SECRET: "x".repeat(32),
  };
  const said = [
    await place.staff(["backup", out]),
    await place.staff(["backup", out], hosted),
    await place.staff(["restore", out]),
    await place.staff(["restore", wrong]),
  ];
  expect(said.map(({ code }) => code)).toEqual([1, 1, 1, 1]);
  expect(said.map(({ told }) => told.trim())).toEqual([
    `There is nothing in ${place.dataDir} to back up.`,
    "SUPABASE_URL is set: the backups of that backend are its host's.",
    `There is no file ${out}.`,
    `${wrong} is no whole backup of this site: nothing was changed.`,
  ]);
});
