import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "smol-toml";

const folder = import.meta.dirname;
const baseline = path.join(folder, "migrations/20261125080000_baseline.sql");

/** Returns the schema files, relative to supabase/, in the order of config.toml. */
export function schemaFiles(): string[] {
  const config = parse(readFileSync(path.join(folder, "config.toml"), "utf8"));
  const { schema_paths } = (config.db as { migrations: { schema_paths: string[] } }).migrations;
  return schema_paths.map((file) => path.normalize(file));
}

export function baselineSql(): string {
  const files = schemaFiles().map((file) => `-- ${file}\n\n${readFileSync(path.join(folder, file), "utf8").trim()}\n`);
  return [
    "-- Generated from supabase/schemas by npm run db:baseline. Edit the files there.\n",
    // Without this setting, Postgres rejects SQL functions that call a function of a later file.
    "set check_function_bodies = off;\n",
    ...files,
    "reset check_function_bodies;\n",
  ].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeFileSync(baseline, baselineSql());
