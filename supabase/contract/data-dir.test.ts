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

/** Writes a file that anyone can read, in folders that anyone can open. */
function writeReadableFile(...names: string[]): void {
  const file = path.join(dataDir, ...names);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, "x");
  chmodSync(file, 0o644);
  for (let parent = path.dirname(file); parent !== folder; parent = path.dirname(parent)) chmodSync(parent, 0o755);
}

describe("Data directory that cannot be used", () => {
  const openingError = (place: string) => {
    try {
      openDataDir(place);
    } catch (error) {
      expect(error).toBeInstanceOf(DataDirError);
      return (error as Error).message;
    }
    return "no error";
  };

  test("A data directory is rejected if a part of its path is a file", () => {
    writeFileSync(dataDir, "");
    expect(openingError(dataDir)).toBe(
      `The site cannot use ${dataDir} as DATA_DIR: this path or a part of the path is a file.`,
    );
    const below = path.join(dataDir, "x", "y");
    expect(openingError(below)).toBe(
      `The site cannot use ${below} as DATA_DIR: this path or a part of the path is a file.`,
    );
  });

  test.runIf(existsSync("/proc/self"))(
    "A data directory below /proc, where Node's recursive mkdir never returns, is rejected",
    () => {
      expect(openingError("/proc/x/y")).toBe(
        "The site cannot use /proc/x/y as DATA_DIR: the folder cannot be created.",
      );
    },
  );

  test("A data directory is rejected if the user has no write access", () => {
    mkdirSync(dataDir, { mode: 0o500 });
    chmodSync(folder, 0o755);
    const root = process.geteuid?.() === 0;
    if (root) process.seteuid?.(65_534);
    try {
      expect(openingError(dataDir)).toBe(
        `The site cannot use ${dataDir} as DATA_DIR: this user cannot read and write the folder.`,
      );
    } finally {
      if (root) process.seteuid?.(0);
    }
  });

  test("A write error on a full disk names the data directory", () => {
    expect(() => rethrowAsDataDirError(dataDir, () => writeFileSync("/dev/full", "x"))).toThrow(
      `The site cannot use ${dataDir} as DATA_DIR: the disk is full.`,
    );
  });

  test.each(["keys.json", "backend.lock"])("A data directory is rejected if its %s is a folder", (name) => {
    mkdirSync(path.join(dataDir, name), { recursive: true });
    expect(openingError(dataDir)).toBe(
      `${path.join(dataDir, name)} must be a file, but it is a folder. Move this folder out of DATA_DIR.`,
    );
  });

  test.each(["database", "objects", "outbox"])("A data directory is rejected if its %s is a file", (name) => {
    writeReadableFile(name);
    expect(openingError(dataDir)).toBe(
      `${path.join(dataDir, name)} must be a folder, but it is a file. Move this file out of DATA_DIR.`,
    );
  });
});

test("A new data directory can be opened only by the current user", () => {
  openDataDir(dataDir);
  expect(readMode()).toBe("700");
});

test("The start removes other users' access to the files of a data directory", () => {
  const files = [
    ["keys.json"],
    ["database.unfinished"],
    ["database", "base", "1", "1259"],
    ["objects", "ab", "abcdef"],
    ["outbox", "mail.eml"],
  ];
  for (const file of files) writeReadableFile(...file);
  restrictPermissions(dataDir);
  for (const file of files) {
    expect(readMode(...file)).toBe("600");
    for (let parent = file.slice(0, -1); ; parent = parent.slice(0, -1)) {
      expect(readMode(...parent)).toBe("700");
      if (parent.length === 0) break;
    }
  }
});

test("The start does not change the permissions of other files, or of a folder that contains them", () => {
  writeReadableFile("keys.json");
  writeReadableFile("notes", "shopping.txt");
  writeReadableFile("database-of-somebody-else");
  writeReadableFile("..", "elsewhere");
  symlinkSync(path.join(folder, "elsewhere"), path.join(dataDir, "objects"));
  chmodSync(dataDir, 0o755);
  restrictPermissions(dataDir);
  expect(readMode("keys.json")).toBe("600");
  expect(readMode()).toBe("755");
  expect(readMode("notes")).toBe("755");
  expect(readMode("notes", "shopping.txt")).toBe("644");
  expect(readMode("database-of-somebody-else")).toBe("644");
  expect(readMode("..", "elsewhere")).toBe("644");
  expect(existsSync(path.join(dataDir, "objects"))).toBe(true);
});
