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

async function createEmptySandbox(database: string): Promise<BackupSandbox> {
  const databaseUrl = database === "PostgreSQL" ? (await createDatabase(server.url)).url : null;
  const place = { ...(await createSiteSandbox(databaseUrl ? { DATABASE_URL: databaseUrl } : {}, "new")), databaseUrl };
  sandboxes.add(place);
  return place;
}

/** Creates a sandbox with a copy of a PGlite database with demo data, because the site then starts fast. */
async function createSeededSandbox(database: string): Promise<BackupSandbox> {
  if (database === "PostgreSQL") return createEmptySandbox(database);
  const place = { ...(await createSiteSandbox()), databaseUrl: null };
  sandboxes.add(place);
  return place;
}

async function listFileSizes(place: BackupSandbox, address: string): Promise<number[]> {
  const serviceRole = createServiceRoleClient(place.dataDir);
  const documents = serviceRole.from("documents").select("storage_path").eq("uploaded", true);
  const { data } = await documents.eq("shipment_id", address.split("/").at(-1) ?? "");
  const downloads = data?.map(({ storage_path }) => serviceRole.storage.from("documents").download(storage_path ?? ""));
  return (await Promise.all(downloads ?? [])).map((file) => file.data?.size ?? -1);
}

describe.each(["PGlite", "PostgreSQL"])("Backup of %s", (database) => {
  let file: string;
  let browser: TestBrowser;
  let address: string;
  let place: BackupSandbox;
  const email = "backed.up@client.example";
  beforeAll(async () => {
    file = path.join(folder, `${database}.tar.gz`);
    place = await createSeededSandbox(database);
    const site = place.start();
    await site.waitUntilReady();
    browser = await newLoggedInBrowser(place, email);
    address = await newShipment(browser, "Backed up tea", 70_000);

    const inUse = /^The data in .+ is in use by process \d+\. Stop this process first\.$/;
    await expect(createBackup(place, file)).rejects.toThrow(inUse);
    expect(readdirSync(folder)).not.toContain(path.basename(file));
    await site.stop("SIGTERM");
  });

  test("A backup of a stopped site is one file that only the current user can read. A second backup does not replace the file.", async () => {
    const { code, stdout, stderr } = await place.staff(["backup", file]);
    expect(stderr).toMatch(/"action":"backup"/);
    expect(code).toBe(0);
    expect(stdout).toContain(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await expect(createBackup(place, file)).rejects.toThrow(`${file} already exists. Choose another file name.`);
    expect(readdirSync(folder).filter((name) => name.startsWith(database))).toEqual([path.basename(file)]);
    expect(readdirSync(place.dataDir)).not.toContain("backup.json");
    expect(readdirSync(place.dataDir)).not.toContain("database.dump");
  });

  test("After a restore in another folder, a client is still signed in, can log in, and has all documents.", async () => {
    const elsewhere = await createEmptySandbox(database);
    const restored = await elsewhere.staff(["restore", file]);
    expect(restored.stderr).toMatch(/"action":"restore"/);
    expect(restored.code).toBe(0);
    const databaseFiles = database === "PGlite" ? ["database", "demo-lead.json"] : [];
    expect(readdirSync(elsewhere.dataDir).sort()).toEqual([...databaseFiles, "keys.json", "objects"]);
    const site = elsewhere.start();
    await site.waitUntilReady();
    const oldBrowser = elsewhere.browser();
    for (const [name, value] of browser.cookies) oldBrowser.cookies.set(name, value);
    expect((await parsePage(await oldBrowser.get(address))).text).toContain(
      "Packing List Uploaded. We are checking your file",
    );
    expect(await listFileSizes(elsewhere, address)).toEqual([70_000]);
    const newBrowser = elsewhere.browser();
    expect((await newBrowser.post("/login", { email, password })).headers.get("Location")).toBe("/portal");
    expect((await newBrowser.get(address)).status).toBe(200);
    await newShipment(newBrowser, "Coffee after the restore", 2000);
    await site.stop("SIGTERM");

    const holdsData = / already contains data \(keys\.json\)\. Move this data to another folder first\.$/;
    await expect(restoreBackup(elsewhere, file)).rejects.toThrow(holdsData);
    if (database === "PostgreSQL") {
      const { dataDir } = await createEmptySandbox("PGlite");
      await expect(restoreBackup({ ...elsewhere, dataDir }, file)).rejects.toThrow(
        "The database at DATABASE_URL is not empty. Set DATABASE_URL to the URL of an empty database.",
      );
      expect(readdirSync(dataDir)).toEqual([]);
    }
  });
});

test("A restore fails and changes nothing if the file is incomplete, damaged or not a backup.", async () => {
  const file = path.join(folder, "PGlite.tar.gz");
  const complete = readFileSync(file);
  const invalidBackups: Record<string, Buffer> = {
    "first half": complete.subarray(0, complete.length / 2),
    "without its last bytes": complete.subarray(0, -9),
    damaged: Buffer.concat([complete.subarray(0, 20_000), Buffer.alloc(64), complete.subarray(20_064)]),
    empty: Buffer.alloc(0),
    "not an archive": Buffer.from("a text"),
  };
  const foreign = path.join(folder, "foreign");
  mkdirSync(path.join(foreign, "objects"), { recursive: true });
  writeFileSync(path.join(foreign, "keys.json"), "{}");
  await create({ cwd: foreign, gzip: true, file: path.join(folder, "foreign.tgz") }, ["keys.json", "objects"]);
  invalidBackups.foreign = readFileSync(path.join(folder, "foreign.tgz"));

  const empty = await createEmptySandbox("PGlite");
  const missingFolder = path.join(folder, "missing");
  const invalidFile = path.join(folder, "invalid.tar.gz");
  const message = `${invalidFile} is not a complete backup of this site. Nothing was changed.`;
  for (const [what, bytes] of Object.entries(invalidBackups)) {
    writeFileSync(invalidFile, bytes);
    const folders = what === "first half" ? [empty.dataDir, missingFolder] : [empty.dataDir];
    for (const dataDir of folders) {
      await expect(restoreBackup({ ...empty, dataDir }, invalidFile), what).rejects.toThrow(message);
    }
    expect(readdirSync(empty.dataDir), what).toEqual([]);
    expect(existsSync(missingFolder), what).toBe(false);
  }
});

test.each([
  ["PGlite", "PostgreSQL"],
  ["PostgreSQL", "PGlite"],
])("A backup of %s cannot be restored into %s.", async (from, to) => {
  const place = await createEmptySandbox(to);
  await expect(restoreBackup(place, path.join(folder, `${from}.tar.gz`))).rejects.toThrow(/^.*DATABASE_URL.*$/);
  expect(readdirSync(place.dataDir)).toEqual([]);
});

test("The errors of a backup of a hosted backend or an empty folder, and of a restore from a missing file, name the reason.", async () => {
  const place = await createEmptySandbox("PGlite");
  const missingFile = path.join(folder, "none.tar.gz");
  const hosted = {
    SUPABASE_URL: "https://abc.supabase.example",
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
    SUPABASE_SECRET_KEY: "sb_secret_x",
    SESSION_SECRET: "x".repeat(32),
  };
  const hostedBackup = await place.staff(["backup", missingFile], hosted);
  expect([hostedBackup.code, hostedBackup.stderr.trim()]).toEqual([
    1,
    "SUPABASE_URL is set. This command works only with the embedded backend. For a backup, use Supabase's own backups.",
  ]);
  await expect(createBackup(place, missingFile)).rejects.toThrow(
    `${place.dataDir} contains no site data. Set DATA_DIR to the data directory of the site.`,
  );
  await expect(restoreBackup(place, missingFile)).rejects.toThrow(`The file ${missingFile} does not exist.`);
});
