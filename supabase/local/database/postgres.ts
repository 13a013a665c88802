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

const connectTimeoutMs = 4000;
const statementTimeoutMs = 30_000;
/** An arbitrary number, the same for every backend of this project. */
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
  // A string for a JSON column is JSON already.
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
 * Opens a database in one session with a lock, so that no other backend uses it.
 * Rejects with DatabaseUnavailableError, also when the lock is held for longer than `lockTimeoutMs`.
 */
export async function openPostgres(url: string, lockTimeoutMs = 0): Promise<OpenDatabase> {
  let session: PostgresSession | null = null;
  const isLost = () => session?.socket.destroyed !== false;
  const ensureConnected = async () => {
    if (isLost()) session = await openSession(url);
  };

  async function run(text: string, values: readonly unknown[], timeoutMs?: number) {
    if (!session || isLost()) throw new DatabaseUnavailableError("The connection to the database was lost.");
    const { driver, socket } = session;
    const timeout = timeoutMs ? setTimeout(() => socket.destroy(), timeoutMs) : undefined;
    try {
      return await driver.unsafe(text, values as never[]);
    } catch (error) {
      // After a FATAL error, the server closes the connection before the socket reports it.
      if ((error as { severity?: string }).severity === "FATAL") socket.destroy();
      throw error;
    } finally {
      clearTimeout(timeout);
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
  // The library's own dialect waits forever for a reserved connection that has closed.
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

async function openSession(url: string): Promise<PostgresSession> {
  const { driver, socket } = createDriver(url);
  let hasTimedOut = false;
  const timeout = setTimeout(async () => {
    hasTimedOut = true;
    (await socket).destroy();
  }, connectTimeoutMs);
  try {
    // The driver would retry as long as the server closes its connections.
    const closed = socket
      .then((connected) => once(connected, "close"))
      .then(() => Promise.reject(new Error("the connection was closed")));
    const [row] = await Promise.race([
      driver.unsafe("select pg_try_advisory_lock($1) as acquired", [advisoryLockKey]),
      closed,
    ]);
    if (!row?.acquired) throw new DatabaseInUseError();
    return { driver, socket: await socket };
  } catch (error) {
    socket.then((connected) => connected.destroy());
    if (error instanceof DatabaseInUseError) throw error;
    const { message, code } = error as { message?: string; code?: string };
    const reason = hasTimedOut ? "it does not answer" : message || code;
    throw new DatabaseUnavailableError(`The database of DATABASE_URL cannot be reached: ${reason}.`);
  } finally {
    clearTimeout(timeout);
  }
}

/** Connects only once: after reconnecting, statements would run outside the lost transaction. */
function createDriver(url: string): { driver: PostgresConnection["driver"]; socket: Promise<Socket> } {
  let resolveSocket: (socket: Socket) => void = () => undefined;
  const socket = new Promise<Socket>((resolve) => {
    resolveSocket = resolve;
  });
  let attempted = false;
  const { driver } = new PostgresConnection({
    url,
    postgresOptions: {
      max: 1,
      max_lifetime: null,
      // The driver does not catch the loss of a connection while it fetches types.
      fetch_types: false,
      types: pgliteCompatibleTypes,
      transform: { undefined: null },
      onnotice: () => undefined,
      // The server notices within a minute that this process has ended, and releases the lock.
      connection: { DateStyle: "ISO", tcp_keepalives_idle: 20, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 },
      socket: async ({ path, host, port }: { path?: string; host: string[]; port: number[] }) => {
        if (attempted) return new Promise(() => undefined);
        attempted = true;
        // The driver reads `host` to check the server's certificate.
        const openedSocket = Object.assign(path ? connect(path) : connect(port[0] ?? 5432, host[0]), { host: host[0] });
        resolveSocket(openedSocket);
        await once(openedSocket, "connect");
        return openedSocket;
      },
    } as object,
  });
  return { driver, socket };
}
