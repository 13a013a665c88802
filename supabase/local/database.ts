/** What the embedded backend needs of a database, in this process (PGlite) or on a server (PostgreSQL): one session. */
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import type { App } from "@supabase/lite";
import { PgliteConnection } from "@supabase/lite/pglite";
import { Kysely, PostgresDialect, type PostgresQueryResult } from "kysely";
import { projectRoot } from "./data-dir.ts";

/** Statements in the one session there is. Times come in ISO 8601. */
export type Database = {
  query: <Row = Record<string, unknown>>(text: string, values?: unknown[]) => Promise<{ rows: Row[] }>;
  /** Several statements at once, without values; for files. */
  exec: (text: string) => Promise<unknown>;
};

export type OpenDatabase = {
  /** For the library; it shares the session with `db`. */
  connection: App["connection"];
  db: Database;
  /** Opens the session again when it was lost. Rejects with DatabaseUnavailable when that fails. */
  ready: () => Promise<void>;
  /** Whether the session was lost since the last `ready`; nothing runs in it any more. */
  lost: () => boolean;
  close: () => Promise<void>;
  /**
   * Set while a request of the data API or storage is answered: a token is good until its time is over, as for hosted
   * PostgREST and storage. Whether its session lasts is for functions and policies.
   */
  tokensAlone: boolean;
};

/** There is no database to ask; the message names no password. */
export class DatabaseUnavailable extends Error {}

/** PostgreSQL's own output has a blank where ISO 8601, which PostgREST sends, has a T and full offset. */
export function isoTimestamp(text: string): string {
  return text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00");
}

/**
 * By default the library grants everything on every table with policies to anon and authenticated at the first
 * request. Here migrations grant; this state makes the library only set the role.
 */
export function grantNothing(connection: App["connection"]): void {
  (connection as unknown as { rlsState: string }).rlsState = "active";
}

/** Runs one statement. */
type Run = (text: string, values: readonly unknown[]) => Promise<PostgresQueryResult<unknown>>;

/** PGlite reads how many values a statement has as a signed number of 16 bits; after a larger one no answer is right. */
const mostValues = 32_767;

/** What the library sends at the beginning of each transaction, one by one: settings, each with its value or empty. */
const setting = /^\s*select (set_config\('[\w.]+', )(\$1|'')(, true\))\s*$/i;
/** A text as an expression of a statement without values, whatever stands in it. */
const expressionOf = (text: string) =>
  `convert_from(decode('${Buffer.from(text).toString("base64")}', 'base64'), 'utf8')`;
const readOnly = /^\s*set local transaction_read_only = on\s*$/i;
/** What it asks before a request of a token, outside transactions: whether there are such an account and session. */
const known = /^select \* from "auth"\."(users|sessions)" where "id" = \$1$/;

/**
 * Makes the library send its statements by `run`. What begins a transaction waits for the first statement that needs it, and
 * goes with the settings in one: each alone takes as long as a small question.
 */
export function sendBy(run: Run, database: OpenDatabase): void {
  let waiting: { begin: string; settings: string[] } | null = null;
  const nothing = { command: "SELECT" as const, rowCount: 0, rows: [] };
  const send = async (text: string, values: readonly unknown[] = []) => {
    if (waiting) {
      const [, name, value, end] = setting.exec(text) ?? [];
      if (name && (value !== "$1" || typeof values[0] === "string")) {
        waiting.settings.push(`${name}${value === "$1" ? expressionOf(String(values[0])) : value}${end}`);
        return nothing;
      }
      if (readOnly.test(text)) {
        waiting.begin += `;${text}`;
        return nothing;
      }
    } else if (database.tokensAlone && known.test(text)) return { ...nothing, rows: [{ id: values[0] }] };
    const held = waiting;
    waiting = null;
    if (text.toLowerCase() === "begin") {
      waiting = { begin: text, settings: [] };
      return nothing;
    }
    if (held) await run(held.settings.length ? `${held.begin};select ${held.settings.join(", ")}` : held.begin, []);
    return run(text, values);
  };
  const client = { query: send, release: () => undefined };
  const pool = { connect: async () => client, end: async () => undefined };
  database.connection.kysely = new Kysely({ dialect: new PostgresDialect({ pool: pool as never }) });
}

/** Makes the database roles of requests. When this user may not, throws an error that says who has to. */
export async function makeRoles(db: Database): Promise<void> {
  try {
    await db.exec(readFileSync(path.join(projectRoot, "supabase/local/roles.sql"), "utf8"));
  } catch (error) {
    throw new Error(
      `The database's user may not make the roles it needs (${(error as Error).message}): let a superuser run supabase/local/roles.sql and grant them to it.`,
      { cause: error },
    );
  }
}

/** Arrays of other types than these arrive as PostgreSQL writes them: of rows, ranges and shapes, which nobody asks for. */
const otherArrays = `select typarray from pg_type where typarray <> 0
  and (typtype <> 'b' or typcategory not in ('B', 'D', 'N', 'S') and typname not in ('json', 'jsonb', 'uuid'))`;

/** PGlite copies all its parsers at each step of each statement; six of seven are for arrays of rows of system tables. */
async function forgetParsers(driver: PGlite): Promise<void> {
  const { rows } = await driver.query<{ typarray: number }>(otherArrays);
  const others = new Set(rows.map(({ typarray }) => String(typarray)));
  driver.parsers = Object.fromEntries(Object.entries(driver.parsers).filter(([type]) => !others.has(type)));
}

/** PGlite on the folder `database` of a data directory, or in memory. Throws when the folder holds none it can open. */
export async function openPglite(dataDir: string | null): Promise<OpenDatabase> {
  if (dataDir) mkdirSync(dataDir, { recursive: true });
  const connection = new PgliteConnection({
    url: dataDir ? path.join(dataDir, "database") : undefined,
    pgliteOptions: {
      extensions: { pg_trgm },
      startParams: [...PGlite.defaultStartParams, "-c", "shared_buffers=16MB"],
      parsers: { 1184: isoTimestamp, 1114: isoTimestamp },
    },
  });
  grantNothing(connection);
  const { driver } = connection;
  await driver.waitReady;
  await forgetParsers(driver);
  const database: OpenDatabase = {
    connection,
    db: driver,
    ready: async () => undefined,
    lost: () => false,
    close: () => connection.close(),
    tokensAlone: false,
  };
  sendBy(async (text, values) => {
    // A statement without values goes in one step, with them in five.
    if (values.length === 0) {
      const { rows = [], affectedRows = 0 } = (await driver.exec(text)).at(-1) ?? {};
      return { command: "UPDATE", rowCount: affectedRows, rows };
    }
    if (values.length > mostValues) {
      throw Object.assign(new Error(`A statement has at most ${mostValues} values.`), { code: "54023" });
    }
    const { rows, affectedRows = 0 } = await driver.query(text, [...values]);
    // It does not name the command; the library reads the number of rows after changes alone.
    return { command: "UPDATE", rowCount: affectedRows, rows };
  }, database);
  return database;
}
