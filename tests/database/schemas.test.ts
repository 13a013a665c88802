import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { baselineSql, schemaFiles } from "../../supabase/baseline.ts";
import { setUpTestBackend } from "../support/database-suite.ts";

const supabase = path.resolve(import.meta.dirname, "../../supabase");
const schemas = schemaFiles().map((file) => ({ file, text: readFileSync(path.join(supabase, file), "utf8") }));

const { testBackend, query } = setUpTestBackend();

/** One query for each kind of database object. A query returns a definition for each object of this kind. */
const catalogue = {
  columns: `select concat_ws(' ', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull, attgenerated,
      attidentity, pg_get_expr(adbin, adrelid), attacl) as line
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    join pg_class on pg_class.oid = attrelid
    where attnum > 0 and not attisdropped and relkind in ('r', 'c') and relnamespace in (select * from ours)`,
  tables: `select concat_ws(' ', oid::regclass, relrowsecurity, relforcerowsecurity, relacl) as line from pg_class
    where relkind in ('r', 'S') and relnamespace in (select * from ours)`,
  constraints: `select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) as line from pg_constraint
    where connamespace in (select * from ours)`,
  indexes: "select indexdef as line from pg_indexes where schemaname in ('public', 'private')",
  policies: `select concat_ws(' ', schemaname, tablename, policyname, permissive, roles, cmd, qual, with_check) as line
    from pg_policies`,
  functions: `select concat_ws(' ', pg_get_functiondef(oid), proacl) as line from pg_proc
    where pronamespace in (select * from ours)`,
  triggers: "select pg_get_triggerdef(oid) as line from pg_trigger where not tgisinternal",
  buckets: "select concat_ws(' ', id, public, file_size_limit, allowed_mime_types) as line from storage.buckets",
  schemas: "select concat_ws(' ', nspname, nspacl) as line from pg_namespace where nspname = 'private'",
};

async function readCatalogue(): Promise<Record<string, string[]>> {
  const kinds = await Promise.all(
    Object.entries(catalogue).map(async ([kind, select]) => {
      const rows = await query<{ line: string }>(
        `with ours as (select oid from pg_namespace where nspname in ('public', 'private')) ${select} order by line`,
      );
      return [kind, rows.map(({ line }) => line)] as const;
    }),
  );
  return Object.fromEntries(kinds);
}

test("The migrations create the same database as the files of supabase/schemas.", async () => {
  const migrated = await readCatalogue();
  expect(Object.values(migrated).map((lines) => lines.length)).not.toContain(0);
  const { db } = testBackend.backend;
  await db.exec(`
    drop schema public cascade; drop schema private cascade; create schema public;
    grant usage on schema public to anon, authenticated, service_role;
    delete from storage.objects; delete from storage.buckets;
    set check_function_bodies = off;
  `);
  for (const { text } of schemas) await db.exec(text);
  await db.exec("reset check_function_bodies");
  expect(await readCatalogue()).toEqual(migrated);
});

test("The baseline migration equals the output of npm run db:baseline.", () => {
  const baseline = readFileSync(path.join(supabase, "migrations/20261125080000_baseline.sql"), "utf8");
  expect(baseline === baselineSql(), "run npm run db:baseline").toBe(true);
});

test("Every database function refers only to existing tables and functions.", async () => {
  const rows = await query<{ text: string }>(
    `select pg_get_functiondef(oid) as text from pg_proc
     where pronamespace in ('public'::regnamespace, 'private'::regnamespace)`,
  );
  expect(rows.length).toBeGreaterThan(100);
  // Postgres checks the body of a function when the test creates the function again.
  for (const { text } of rows) await testBackend.backend.db.exec(text);
});
