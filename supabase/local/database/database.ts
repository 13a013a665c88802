import type { App } from "@supabase/lite";
import { Kysely, PostgresDialect, type PostgresQueryResult } from "kysely";

/** The only database session of the backend. Queries return times in ISO 8601. */
export type SqlSession = {
  query: <Row = Record<string, unknown>>(text: string, values?: unknown[]) => Promise<{ rows: Row[] }>;
  exec: (text: string) => Promise<unknown>;
};

export type OpenDatabase = {
  /** The connection of @supabase/lite, which shares the session with `db`. */
  connection: App["connection"];
  db: SqlSession;
  /** Reconnects a lost session, or rejects with DatabaseUnavailableError. */
  ensureConnected: () => Promise<void>;
  isLost: () => boolean;
  close: () => Promise<void>;
  /** True during data API and storage requests, for which Supabase accepts the access token of an ended session. */
  skipsSessionCheck: boolean;
};

export function isoTimestamp(text: string): string {
  return text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00");
}

/** Stops @supabase/lite from granting all privileges on tables with policies. */
export function disableAutomaticGrants(connection: App["connection"]): void {
  (connection as unknown as { rlsState: string }).rlsState = "active";
}

export type Statement = { text: string; values: readonly unknown[] };
/** Runs statements in order until one fails, and returns the result of the last statement. */
export type StatementRunner = (statements: Statement[], role: string) => Promise<PostgresQueryResult<unknown>>;

/** @supabase/lite sends set_config calls one by one at the start of each transaction. */
const setConfigPattern = /^\s*select (set_config\('([\w.]+)', )(\$1|'')(, true\))\s*$/i;
const setRolePattern = /^\s*set (?:local )?role (\S+)\s*$/i;
const transactionEndPattern = /^\s*(commit|rollback|reset role)\s*$/i;
const readOnlyPattern = /^\s*set local transaction_read_only = on\s*$/i;
/** The query by which @supabase/lite checks, outside transactions, that an account or a session exists. */
const sessionCheckPattern = /^select \* from "auth"\."(users|sessions)" where "id" = \$1$/;

/** Makes @supabase/lite send statements through `run`. Sends `begin` and settings together with the next statement. */
export function installStatementRunner(run: StatementRunner, database: OpenDatabase): void {
  let pending: Statement[] = [];
  let settings: string[] = [];
  let values: unknown[] = [];
  let role = "";
  const emptyResult = { command: "SELECT" as const, rowCount: 0, rows: [] };
  const send = async (text: string, parameters: readonly unknown[] = []) => {
    if (pending.length) {
      const [, set, name, value, end] = setConfigPattern.exec(text) ?? [];
      if (set && (value !== "$1" || typeof parameters[0] === "string")) {
        if (name === "role") role = String(parameters[0] ?? "");
        if (value === "$1") values.push(parameters[0]);
        settings.push(`${set}${value === "$1" ? `$${values.length}` : value}${end}`);
        return emptyResult;
      }
      if (readOnlyPattern.test(text)) {
        pending.push({ text, values: [] });
        return emptyResult;
      }
    } else if (database.skipsSessionCheck && sessionCheckPattern.test(text))
      return { ...emptyResult, rows: [{ id: parameters[0] }] };
    const statements = pending;
    if (settings.length) statements.push({ text: `select ${settings.join(", ")}`, values });
    [pending, settings, values] = [[], [], []];
    if (text.toLowerCase() === "begin") {
      pending = [{ text, values: parameters }];
      role = "";
      return emptyResult;
    }
    const [, , name, value] = setConfigPattern.exec(text) ?? [];
    if (name === "role") role = String(value === "$1" ? parameters[0] : "");
    role = setRolePattern.exec(text)?.[1] ?? (transactionEndPattern.test(text) ? "" : role);
    return run([...statements, { text, values: parameters }], role);
  };
  const client = { query: send, release: () => undefined };
  const pool = { connect: async () => client, end: async () => undefined };
  database.connection.kysely = new Kysely({ dialect: new PostgresDialect({ pool: pool as never }) });
}

export type SessionMutex = {
  runExclusive: <T>(job: () => Promise<T>) => Promise<T>;
  /** Lets other jobs run during `work`, which must not use the database. Must not be called in a transaction. */
  runUnlocked: <T>(work: () => Promise<T>) => Promise<T>;
};

/** Returns a mutex for the only database session, because parallel requests would share a transaction and its role. */
export function createSessionMutex(): SessionMutex {
  let last: Promise<void> = Promise.resolve();
  let release = (): void => undefined;
  const acquire = async () => {
    const previous = last;
    let finish = (): void => undefined;
    last = new Promise((resolve) => {
      finish = resolve;
    });
    await previous;
    release = finish;
  };
  return {
    runExclusive: async (job) => {
      await acquire();
      try {
        return await job();
      } finally {
        release();
      }
    },
    runUnlocked: async (work) => {
      release();
      try {
        return await work();
      } finally {
        await acquire();
      }
    },
  };
}
