/** A PostgreSQL server as the embedded backend's database: one session, which holds a lock while it lasts. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { PostgresConnection } from "@supabase/lite/postgres";
import { parse } from "postgres-array";
import {
  DatabaseUnavailableError,
  disableAutomaticGrants,
  installStatementRunner,
  isoTimestamp,
  type OpenDatabase,
  type SqlSession,
} from "./database.ts";

/** How long a server may take to accept a session, and to answer a statement of a request, in milliseconds. */
const connectTimeoutMs = 4000;
const statementTimeoutMs = 30_000;
/** The key of the advisory lock: any number, the same for every start of this project. */
const advisoryLockKey = 7_301_925_548;

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
  timestamp: { to: 1114, from: [1114], serialize: String, parse: isoTimestamp },
  timestamptz: { to: 1184, from: [1184], serialize: String, parse: isoTimestamp },
  // Text for a JSON value is that value's JSON.
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

type PostgresSession = { driver: PostgresConnection["driver"]; socket: Socket };

/**
 * Opens the database at `url`. The lock is taken in the session that does the work, so that no statement runs without
 * it: of two starts on one database the second is refused, and so is a session that comes back after somebody else took
 * over. `patience` is how many milliseconds a holder that is just ending may take.
 * Rejects with DatabaseUnavailable.
 */
export async function openPostgres(url: string, patience = 0): Promise<OpenDatabase> {
  let session: PostgresSession | null = null;
  const lost = () => session?.socket.destroyed !== false;
  const ready = async () => {
    if (lost()) session = await openSession(url);
  };

  async function run(text: string, values: readonly unknown[], limit?: number) {
    if (!session || lost()) throw new DatabaseUnavailableError("The connection to the database was lost.");
    const { driver, socket } = session;
    const late = limit ? setTimeout(() => socket.destroy(), limit) : undefined;
    try {
      return await driver.unsafe(text, values as never[]);
    } catch (error) {
      // After a FATAL error the server closes the connection, but the socket notices only later.
      if ((error as { severity?: string }).severity === "FATAL") socket.destroy();
      throw error;
    } finally {
      clearTimeout(late);
    }
  }

  const until = Date.now() + patience;
  while (lost()) {
    try {
      await ready();
    } catch (error) {
      if (!(error instanceof DatabaseInUseError) || Date.now() > until) throw error;
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
    if (!lost()) await session?.driver.end({ timeout: 1 });
  };
  const database = { connection, db, ensureConnected: ready, isLost: lost, close, skipsSessionCheck: false };
  // The library's own dialect reserves a connection and waits for ever on one that was closed meanwhile.
  installStatementRunner(async (statements) => {
    const last = statements.length - 1;
    await Promise.all(statements.slice(0, last).map(({ text, values }) => run(text, values, statementTimeoutMs)));
    const result = await run(statements[last]?.text ?? "", statements[last]?.values ?? [], statementTimeoutMs);
    return { command: result.command as "SELECT", rowCount: result.count, rows: [...result] };
  }, database);
  return database;
}

class DatabaseInUseError extends DatabaseUnavailableError {
  constructor() {
    super("The database of DATABASE_URL is in use by another start of this site: end that one first.");
  }
}

/** A new session with the lock. */
async function openSession(url: string): Promise<PostgresSession> {
  const { driver, socket } = createDriver(url);
  let late = false;
  const patience = setTimeout(async () => {
    late = true;
    (await socket).destroy();
  }, connectTimeoutMs);
  try {
    // The driver itself retries for as long as the server closes its connections.
    const closed = socket
      .then((open) => once(open, "close"))
      .then(() => Promise.reject(new Error("the connection was closed")));
    const [row] = await Promise.race([
      driver.unsafe("select pg_try_advisory_lock($1) as ours", [advisoryLockKey]),
      closed,
    ]);
    if (!row?.ours) throw new DatabaseInUseError();
    return { driver, socket: await socket };
  } catch (error) {
    socket.then((open) => open.destroy());
    if (error instanceof DatabaseInUseError) throw error;
    const { message, code } = error as { message?: string; code?: string };
    const reason = late ? "it does not answer" : message || code;
    throw new DatabaseUnavailableError(`The database of DATABASE_URL cannot be reached: ${reason}.`);
  } finally {
    clearTimeout(patience);
  }
}

/**
 * A driver that connects once, at its first statement: by itself it would reconnect, and continue outside the
 * transaction that was lost with the connection.
 */
function createDriver(url: string): { driver: PostgresConnection["driver"]; socket: Promise<Socket> } {
  let connects: (socket: Socket) => void = () => undefined;
  const socket = new Promise<Socket>((resolve) => {
    connects = resolve;
  });
  let attempted = false;
  const { driver } = new PostgresConnection({
    url,
    postgresOptions: {
      max: 1,
      max_lifetime: null,
      // The driver does not catch the error of a connection that is lost while it fetches types.
      fetch_types: false,
      types: pgliteCompatibleTypes,
      transform: { undefined: null },
      onnotice: () => undefined,
      // Within a minute the server notices that this process is gone, and releases the lock.
      connection: { DateStyle: "ISO", tcp_keepalives_idle: 20, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 },
      socket: async ({ path, host, port }: { path?: string; host: string[]; port: number[] }) => {
        if (attempted) return new Promise(() => undefined);
        attempted = true;
        // The driver reads `host` to check the server's certificate.
        const open = Object.assign(path ? connect(path) : connect(port[0] ?? 5432, host[0]), { host: host[0] });
        connects(open);
        await once(open, "connect");
        return open;
      },
    } as object,
  });
  return { driver, socket };
}
