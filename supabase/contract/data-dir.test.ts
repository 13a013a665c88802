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

/** A file that anybody may read, in a folder that anybody may enter. */
function writeReadableFile(...names: string[]): void {
  const file = path.join(dataDir, ...names);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, "x");
  chmodSync(file, 0o644);
  for (let above = path.dirname(file); above !== folder; above = path.dirname(above)) chmodSync(above, 0o755);
}

describe("a data directory that cannot be used is one line that says why", () => {
  const refused = (place: string) => {
    try {
      openDataDir(place);
    } catch (error) {
      expect(error).toBeInstanceOf(DataDirError);
      return (error as Error).message;
    }
    return "taken";
  };

  test("it is a file, or lies below one", () => {
    writeFileSync(dataDir, "");
    expect(refused(dataDir)).toBe(`DATA_DIR cannot be ${dataDir}: it or a part of its path is a file.`);
    const below = path.join(dataDir, "x", "y");
    expect(refused(below)).toBe(`DATA_DIR cannot be ${below}: it or a part of its path is a file.`);
  });

  test.runIf(existsSync("/proc/self"))(
    "no folder can be made there, where Node's recursive mkdir never returns",
    () => {
      expect(refused("/proc/x/y")).toBe("DATA_DIR cannot be /proc/x/y: no folder can be made there.");
    },
  );

  test("this user may not write there", () => {
    mkdirSync(dataDir, { mode: 0o500 });
    chmodSync(folder, 0o755);
    const root = process.geteuid?.() === 0;
    // The superuser may do everything.
    if (root) process.seteuid?.(65_534);
    try {
      expect(refused(dataDir)).toBe(`DATA_DIR cannot be ${dataDir}: this user may not read and write there.`);
    } finally {
      if (root) process.seteuid?.(0);
    }
  });

  test("the disk is full", () => {
    expect(() => rethrowAsDataDirError(dataDir, () => writeFileSync("/dev/full", "x"))).toThrow(
      `DATA_DIR cannot be ${dataDir}: its disk is full.`,
    );
  });

  test.each(["keys.json", "backend.lock"])("%s in it is a folder", (name) => {
    mkdirSync(path.join(dataDir, name), { recursive: true });
    expect(refused(dataDir)).toBe(`${path.join(dataDir, name)} is a folder: move it away.`);
  });

  test.each(["database", "objects", "outbox"])("%s in it is a file", (name) => {
    writeReadableFile(name);
    expect(refused(dataDir)).toBe(`${path.join(dataDir, name)} is a file: move it away.`);
  });
});

test("a data directory that is new is for this user alone", () => {
  openDataDir(dataDir);
  expect(readMode()).toBe("700");
});

test("what others could read in one that is there, they read no more", () => {
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
    for (let above = file.slice(0, -1); ; above = above.slice(0, -1)) {
      expect(readMode(...above)).toBe("700");
      if (above.length === 0) break;
    }
  }
});

test("what is not ours keeps its rights, and so does a folder that holds it", () => {
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
