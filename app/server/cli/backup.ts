import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { create, extract } from "tar";
import { restoreFolder } from "../../../supabase/contract/data-dir.ts";
import { lockDataDir } from "../../../supabase/contract/lock.ts";
import type { Settings } from "../../lib/http/env.server.ts";
import { dumpDatabase, restoreDatabase } from "./postgres-dump.ts";

type EmbeddedDataSettings = Pick<Settings, "dataDir" | "databaseUrl">;
/** The content of backup.json. The backup has the database as a PGlite folder or as a dump of a PostgreSQL database. */
type BackupManifest = { kind: typeof backupKind; version: 1; createdAt: string; database: "folder" | "dump" };

const backupKind = "backup of the embedded backend";
const backupManifestName = "backup.json";
const dumpName = "database.dump";
const demoLeadName = "demo-lead.json";

/** Creates a backup and returns its size in bytes. Throws if a running site uses the data directory. */
export async function createBackup({ dataDir, databaseUrl }: EmbeddedDataSettings, file: string): Promise<number> {
  if (!existsSync(path.join(dataDir, "keys.json")))
    throw new Error(`${dataDir} contains no site data. Set DATA_DIR to the data directory of the site.`);
  if (existsSync(file)) throw new Error(`${file} already exists. Choose another file name.`);
  const { release } = lockDataDir(dataDir);
  const draft = `${path.resolve(file)}.${process.pid}.part`;
  const inside = (name: string) => path.join(dataDir, name);
  try {
    const manifest: BackupManifest = {
      kind: backupKind,
      version: 1,
      createdAt: new Date().toISOString(),
      database: databaseUrl ? "dump" : "folder",
    };
    writeFileSync(inside(backupManifestName), JSON.stringify(manifest), { mode: 0o600 });
    if (databaseUrl) await dumpDatabase(databaseUrl, inside(dumpName));
    else if (!existsSync(inside("database")) || existsSync(inside("database.unfinished")))
      throw new Error(`${dataDir} contains no database. Start the site once to create the database.`);
    const names = [
      backupManifestName,
      "keys.json",
      "objects",
      ...(databaseUrl ? [dumpName] : ["database", demoLeadName]),
    ];
    await pipeline(
      create(
        { cwd: dataDir, gzip: true, portable: true, strict: true },
        names.filter((name) => existsSync(inside(name))),
      ),
      createWriteStream(draft, { flags: "wx", mode: 0o600, flush: true }),
    );
    renameSync(draft, file);
    return statSync(file).size;
  } finally {
    for (const file of [draft, inside(backupManifestName), inside(dumpName)]) rmSync(file, { force: true });
    release();
  }
}

/** Throws without any change if the backup is damaged, or if the data directory or the database contains data. */
export async function restoreBackup({ dataDir, databaseUrl }: EmbeddedDataSettings, file: string): Promise<void> {
  if (!existsSync(file)) throw new Error(`The file ${file} does not exist.`);
  const existedBefore = existsSync(dataDir);
  const { release } = lockDataDir(dataDir);
  const stagingFolder = restoreFolder(dataDir);
  let isStaged = false;
  try {
    const existingName = ["keys.json", "database", "objects", path.basename(stagingFolder)].find((name) =>
      existsSync(path.join(dataDir, name)),
    );
    if (existingName)
      throw new Error(`${dataDir} already contains data (${existingName}). Move this data to another folder first.`);
    mkdirSync(stagingFolder, { mode: 0o700 });
    isStaged = true;
    const manifest = unpackBackup(file, stagingFolder);
    if (manifest.database === "dump" && !databaseUrl)
      throw new Error(
        `${file} is a backup of a PostgreSQL database. Set DATABASE_URL to the URL of an empty database.`,
      );
    if (manifest.database === "folder" && databaseUrl)
      throw new Error(`${file} is a backup without a PostgreSQL database. Unset DATABASE_URL, then restore again.`);
    if (databaseUrl) await restoreDatabase(databaseUrl, path.join(stagingFolder, dumpName));
    for (const name of ["objects", "database", demoLeadName, "keys.json"]) {
      if (existsSync(path.join(stagingFolder, name)))
        renameSync(path.join(stagingFolder, name), path.join(dataDir, name));
    }
  } finally {
    if (isStaged) rmSync(stagingFolder, { recursive: true, force: true });
    release();
    if (!existedBefore && !existsSync(path.join(dataDir, "keys.json")))
      rmSync(dataDir, { recursive: true, force: true });
  }
}

function unpackBackup(file: string, folder: string): BackupManifest {
  const isPlain = (_path: string, entry: object) =>
    "type" in entry && /^(Old)?File$|^Directory$/.test(String(entry.type));
  try {
    // After an error, an asynchronous extraction could still write files while the folder is being removed.
    extract({ file, cwd: folder, strict: true, sync: true, filter: isPlain });
    const manifest = JSON.parse(readFileSync(path.join(folder, backupManifestName), "utf8")) as BackupManifest;
    const parts = ["keys.json", manifest.database === "dump" ? dumpName : "database"];
    const isKnownKind = manifest.kind === backupKind && manifest.version === 1;
    if (!isKnownKind || !parts.every((name) => existsSync(path.join(folder, name))))
      throw new Error("The backup has an unknown format, or a file of the backup is missing.");
    return manifest;
  } catch (error) {
    throw new Error(`${file} is not a complete backup of this site. Nothing was changed.`, { cause: error });
  }
}
