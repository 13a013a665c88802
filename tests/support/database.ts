import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { inject } from "vitest";

/** A database with the migrations on the server of this project's tests; null where they run on PGlite. */
export async function migratedDatabase(): Promise<{ url: string; drop: () => Promise<void> } | null> {
  const server = inject("postgres");
  return server ? databaseOn(server, inject("migrated")) : null;
}

/**
 * A new database on a server, whose URL is given without a database name: empty, or a copy of another database there,
 * to which nobody may be connected.
 */
export async function databaseOn(server: string, template = "template1") {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await administer(server, `create database ${name} template ${template}`);
  return {
    name,
    url: `${server}/${name}`,
    drop: () => administer(server, `drop database if exists ${name} with (force)`),
  };
}

/** Runs SQL on a server as its superuser, in the given database. */
export async function administer(server: string, text: string, database = "postgres"): Promise<void> {
  const sql = postgres(`${server}/${database}`, { max: 1, onnotice: () => undefined });
  try {
    await sql.unsafe(text);
  } finally {
    await sql.end();
  }
}
