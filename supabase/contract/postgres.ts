/** Connects to a PostgreSQL server. The session holds an advisory lock, so that only one program uses the database. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import path from "node:path";
import postgres, { type Sql } from "postgres";
import { projectRoot } from "./data-dir.ts";

const connectTimeoutMs = 4000;
/** The key of the advisory lock. The value is arbitrary, but the same in every program of this project. */
const advisoryLockKey = 7_301_925_548;

/** Thrown if the database is unreachable. The message contains no password, so that it can be logged. */
export class DatabaseUnavailableError extends Error {}

export class DatabaseInUseError extends DatabaseUnavailableError {
  constructor() {
    super("The database at DATABASE_URL is in use by another process of this site. Stop that process first.");
  }
}

export type PostgresSession = { driver: Sql; socket: Socket };
type CreateDriver = (url: string, options: object) => Sql;

/** Opens a session with the advisory lock. Throws DatabaseUnavailableError or DatabaseInUseError (lock taken). */
export async function openPostgresSession(url: string, create: CreateDriver = postgres): Promise<PostgresSession> {
  const { driver, socket } = createDriver(url, create);
  let isLate = false;
  const timer = setTimeout(async () => {
    isLate = true;
    (await socket).destroy();
  }, connectTimeoutMs);
  try {
    // Without this promise, the driver would retry forever if the server closed each connection.
    const closed = socket
      .then((openSocket) => once(openSocket, "close"))
      .then(() => Promise.reject(new Error("the connection was closed")));
    const [row] = await Promise.race([
      driver.unsafe("select pg_try_advisory_lock($1) as locked", [advisoryLockKey]),
      closed,
    ]);
    if (!row?.locked) throw new DatabaseInUseError();
    return { driver, socket: await socket };
  } catch (error) {
    socket.then((openSocket) => openSocket.destroy());
    if (error instanceof DatabaseInUseError) throw error;
    const { message, code } = error as { message?: string; code?: string };
    const reason = isLate ? "the server does not respond" : message || code;
    throw new DatabaseUnavailableError(`The site cannot connect to the database at DATABASE_URL: ${reason}.`);
  } finally {
    clearTimeout(timer);
  }
}

/** Creates a driver that never reconnects, because the next statements would then run outside their transaction. */
function createDriver(url: string, create: CreateDriver): { driver: Sql; socket: Promise<Socket> } {
  let resolveSocket: (socket: Socket) => void = () => undefined;
  const socket = new Promise<Socket>((resolve) => {
    resolveSocket = resolve;
  });
  let hasTriedToConnect = false;
  const driver = create(url, {
    max: 1,
    max_lifetime: null,
    // While the driver fetches types, it does not catch the error of a lost connection.
    fetch_types: false,
    onnotice: () => undefined,
    // With these keepalives, the server detects a lost connection within a minute and releases the advisory lock.
    connection: { DateStyle: "ISO", tcp_keepalives_idle: 20, tcp_keepalives_interval: 10, tcp_keepalives_count: 3 },
    socket: async ({ path, host, port }: { path?: string; host: string[]; port: number[] }) => {
      if (hasTriedToConnect) return new Promise(() => undefined);
      hasTriedToConnect = true;
      // The driver reads `host` to check the server's certificate.
      const openSocket = Object.assign(path ? connect(path) : connect(port[0] ?? 5432, host[0]), { host: host[0] });
      resolveSocket(openSocket);
      await once(openSocket, "connect");
      return openSocket;
    },
  });
  return { driver, socket };
}

export async function createRoles(execute: (sql: string) => Promise<unknown>): Promise<void> {
  const file = "supabase/contract/roles.sql";
  try {
    await execute(readFileSync(path.join(projectRoot, file), "utf8"));
  } catch (error) {
    throw new Error(
      `The database user cannot create the required roles (${(error as Error).message}). As a superuser, run ${file} and grant the roles to this user.`,
      { cause: error },
    );
  }
}
