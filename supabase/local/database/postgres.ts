import { setTimeout as wait } from "node:timers/promises";
import { PostgresConnection } from "@supabase/lite/postgres";
import { parse } from "postgres-array";
import {
  DatabaseInUseError,
  DatabaseUnavailableError,
  openPostgresSession,
  type PostgresSession,
} from "../../contract/postgres.ts";
import {
  disableAutomaticGrants,
  installStatementRunner,
  isoTimestamp,
  type OpenDatabase,
  type SqlSession,
} from "./database.ts";

const statementTimeoutMs = 30_000;

const serializeJson = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
const serializeArray = (values: unknown) => {
  if (!Array.isArray(values)) return values;
  const quoted = values.map((value) => (value === null ? "NULL" : `"${String(value).replace(/["\\]/g, "\\$&")}"`));
  return `{${quoted.join(",")}}`;
};
const arrayType = (oid: number, element: (text: string) => unknown) => ({
  to: oid,
  from: [oid],
  serialize: serializeArray,
  parse: (text: string) => parse(text, element),
});

const pgliteCompatibleTypes = {
  // Without `serialize: String`, the driver would send false for every boolean that is given as text.
  boolean: { to: 16, from: [16], serialize: String, parse: (text: string) => text === "t" },
  timestamp: { to: 1114, from: [1114], serialize: String, parse: isoTimestamp },
  timestamptz: { to: 1184, from: [1184], serialize: String, parse: isoTimestamp },
  // Sends strings to JSON columns unchanged, because the strings are already JSON.
  json: { to: 114, from: [114], serialize: serializeJson, parse: JSON.parse },
  jsonb: { to: 3802, from: [3802], serialize: serializeJson, parse: JSON.parse },
  booleans: arrayType(1000, (text) => text === "t"),
  names: arrayType(1003, String),
  smallints: arrayType(1005, Number),
  integers: arrayType(1007, Number),
  bigints: arrayType(1016, Number),
  oids: arrayType(1028, Number),
  texts: arrayType(1009, String),
  varchars: arrayType(1015, String),
  uuids: arrayType(2951, String),
};

/** Opens the database. Waits up to `lockTimeoutMs` while another program uses it. Throws DatabaseUnavailableError. */
export async function openPostgres(url: string, lockTimeoutMs = 0): Promise<OpenDatabase> {
  let session: PostgresSession | null = null;
  const isLost = () => session?.socket.destroyed !== false;
  const ensureConnected = async () => {
    if (isLost()) session = await openSession(url);
  };

  async function run(text: string, values: readonly unknown[], timeoutMs?: number) {
    if (!session || isLost()) throw new DatabaseUnavailableError("The connection to the database was lost.");
    const { driver, socket } = session;
    const timer = timeoutMs ? setTimeout(() => socket.destroy(), timeoutMs) : undefined;
    try {
      return await driver.unsafe(text, values as never[]);
    } catch (error) {
      // After a FATAL error the server closes the connection, but `isLost` would return false for some time.
      if ((error as { severity?: string }).severity === "FATAL") socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  const deadline = Date.now() + lockTimeoutMs;
  while (isLost()) {
    try {
      await ensureConnected();
    } catch (error) {
      if (!(error instanceof DatabaseInUseError) || Date.now() > deadline) throw error;
      await wait(50);
    }
  }

  const connection = new PostgresConnection({ url });
  disableAutomaticGrants(connection);
  const db: SqlSession = {
    query: async <Row>(text: string, values: unknown[] = []) => ({
      rows: [...(await run(text, values, statementTimeoutMs))] as unknown as Row[],
    }),
    exec: (text) => run(text, []),
  };
  const close = async () => {
    if (!isLost()) await session?.driver.end({ timeout: 1 });
  };
  const database = { connection, db, ensureConnected, isLost, close, skipsSessionCheck: false };
  // Replaces the dialect of @supabase/lite, which would wait forever if its reserved connection was closed.
  installStatementRunner(async (statements) => {
    const last = statements.length - 1;
    await Promise.all(statements.slice(0, last).map(({ text, values }) => run(text, values, statementTimeoutMs)));
    const result = await run(statements[last]?.text ?? "", statements[last]?.values ?? [], statementTimeoutMs);
    return { command: result.command as "SELECT", rowCount: result.count, rows: [...result] };
  }, database);
  return database;
}

function openSession(url: string): Promise<PostgresSession> {
  return openPostgresSession(url, (_url, options) => {
    const postgresOptions = { ...options, types: pgliteCompatibleTypes, transform: { undefined: null } };
    return new PostgresConnection({ url, postgresOptions }).driver;
  });
}
