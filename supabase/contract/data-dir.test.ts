import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DataDirError, openDataDir, restrictPermissions, rethrowAsDataDirError } from "./data-dir.ts";

let folder: string;
let dataDir: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "data-dir-"));
  dataDir = path.join(folder, "data");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const readMode = (...names: string[]) => (statSync(path.join(dataDir, ...names)).mode & 0o777).toString(8);

/**
 * Writes a file into the data directory. `names` are the parts of the file's path. Gives all users of the machine read
 * access to the file and its folders.
 */
function writeReadableFile(...names: string[]): void {
  const file = path.join(dataDir, ...names);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, "x");
  chmodSync(file, 0o644);
  for (let parent = path.dirname(file); parent !== folder; parent = path.dirname(parent)) chmodSync(parent, 0o755);
}

describe("Unusable data directory", () => {
  const openingError = (place: string) => {
    try {
      openDataDir(place);
    } catch (error) {
      expect(error).toBeInstanceOf(DataDirError);
      return (error as Error).message;
    }
    return "no error";
  };

  test("A data directory is rejected if a part of its path is a file.", () => {
    writeFileSync(dataDir, "");
    for (const place of [dataDir, path.join(dataDir, "x", "y")])
      expect(openingError(place)).toBe(
        `The site cannot use ${place} as DATA_DIR: this path or a part of the path is a file.`,
      );
  });

  test.runIf(existsSync("/proc/self"))(
    "A data directory below /proc is rejected, because Node's recursive mkdir never returns there.",
    () => {
      expect(openingError("/proc/x/y")).toBe(
        "The site cannot use /proc/x/y as DATA_DIR: the folder cannot be created.",
      );
    },
  );

  test("A data directory is rejected if the user cannot write into it.", () => {
    mkdirSync(dataDir, { mode: 0o500 });
    chmodSync(folder, 0o755);
    const root = process.geteuid?.() === 0;
    if (root) process.seteuid?.(65_534);
    try {
      expect(openingError(dataDir)).toBe(
        `The site cannot use ${dataDir} as DATA_DIR: this user needs read and write access to the folder.`,
      );
    } finally {
      if (root) process.seteuid?.(0);
    }
  });

  test("The error for a full disk names the data directory.", () => {
    expect(() => rethrowAsDataDirError(dataDir, () => writeFileSync("/dev/full", "x"))).toThrow(
      `The site cannot use ${dataDir} as DATA_DIR: the disk is full.`,
    );
  });

  test("A data directory is rejected if a folder has the name of an expected file, or a file the name of an expected folder.", () => {
    for (const name of ["keys.json", "backend.lock", "database", "objects", "outbox"]) {
      rmSync(dataDir, { recursive: true, force: true });
      const [needed, found] = /\./.test(name) ? ["file", "folder"] : ["folder", "file"];
      if (found === "file") writeReadableFile(name);
      else mkdirSync(path.join(dataDir, name), { recursive: true });
      expect(openingError(dataDir)).toBe(
        `${path.join(dataDir, name)} must be a ${needed}, but it is a ${found}. Move this ${found} out of DATA_DIR.`,
      );
    }
  });
});

test("Only the current user can open a new data directory and the files and folders that the start creates in it.", () => {
  openDataDir(dataDir);
  expect(readMode()).toBe("700");
  const files = ["keys.json", "database.unfinished", "database/base/1/1259", "objects/ab/abcdef", "outbox/mail.eml"];
  for (const file of files) writeReadableFile(...file.split("/"));
  restrictPermissions(dataDir);
  for (const file of files) {
    expect(readMode(file)).toBe("600");
    for (let parent = path.dirname(file); parent !== "."; parent = path.dirname(parent))
      expect(readMode(parent)).toBe("700");
  }
  expect(readMode()).toBe("700");
});

test("The start does not change the permissions of other files, or of a data directory that contains other files.", () => {
  writeReadableFile("keys.json");
  writeReadableFile("notes", "shopping.txt");
  writeReadableFile("database-of-somebody-else");
  writeReadableFile("..", "elsewhere");
  symlinkSync(path.join(folder, "elsewhere"), path.join(dataDir, "objects"));
  chmodSync(dataDir, 0o755);
  restrictPermissions(dataDir);
  const names = ["keys.json", ".", "notes", "notes/shopping.txt", "database-of-somebody-else", "../elsewhere"];
  expect(names.map((name) => readMode(name))).toEqual(["600", "755", "755", "644", "644", "644"]);
  expect(existsSync(path.join(dataDir, "objects"))).toBe(true);
});
