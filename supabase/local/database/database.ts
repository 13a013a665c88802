/** What the embedded backend needs of a database, in this process (PGlite) or on a server (PostgreSQL): one session. */
import type { App } from "@supabase/lite";
import { Kysely, PostgresDialect, type PostgresQueryResult } from "kysely";

/** Statements in the one session there is. Times come in ISO 8601. */
export type SqlSession = {
  query: <Row = Record<string, unknown>>(text: string, values?: unknown[]) => Promise<{ rows: Row[] }>;
  /** Several statements at once, without values; for files. */
  exec: (text: string) => Promise<unknown>;
};

export type OpenDatabase = {
  /** For the library; it shares the session with `db`. */
  connection: App["connection"];
  db: SqlSession;
  /** Opens the session again when it was lost. Rejects with DatabaseUnavailable when that fails. */
  ensureConnected: () => Promise<void>;
  /** Whether the session was lost since the last `ready`; nothing runs in it any more. */
  isLost: () => boolean;
  close: () => Promise<void>;
  /**
   * Set while a request of the data API or storage is answered: a token is good until its time is over, as for hosted
   * PostgREST and storage. Whether its session lasts is for functions and policies.
   */
  skipsSessionCheck: boolean;
};

/** PostgreSQL's own output has a blank where ISO 8601, which PostgREST sends, has a T and full offset. */
export function isoTimestamp(text: string): string {
  return text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00");
}

/**
 * By default the library grants everything on every table with policies to anon and authenticated at the first
 * request. Here migrations grant; this state makes the library only set the role.
 */
export function disableAutomaticGrants(connection: App["connection"]): void {
  (connection as unknown as { rlsState: string }).rlsState = "active";
}

export type Statement = { text: string; values: readonly unknown[] };
/**
 * Runs statements one after another, the last one only if none before it failed, and answers what it did. `role` is the role
 * that the transaction under way has taken, empty outside of one. What begins a transaction is sent whatever becomes of
 * the others, so that none runs with more rights than it was meant to.
 */
export type StatementRunner = (statements: Statement[], role: string) => Promise<PostgresQueryResult<unknown>>;

/** What the library sends at the beginning of each transaction, one by one: settings, each with its value or empty. */
const setConfigPattern = /^\s*select (set_config\('([\w.]+)', )(\$1|'')(, true\))\s*$/i;
/** What changes the role of a transaction that is under way, by itself. */
const setRolePattern = /^\s*set (?:local )?role (\S+)\s*$/i;
const transactionEndPattern = /^\s*(commit|rollback|reset role)\s*$/i;
const readOnlyPattern = /^\s*set local transaction_read_only = on\s*$/i;
/** What it asks before a request of a token, outside transactions: whether there are such an account and session. */
const sessionCheckPattern = /^select \* from "auth"\."(users|sessions)" where "id" = \$1$/;

/**
 * Makes the library send its statements by `run`. What begins a transaction waits for the first statement that needs it,
 * with the settings in one, and goes along with it: each alone takes as long as a small question.
 */
export function installStatementRunner(run: StatementRunner, database: OpenDatabase): void {
  let waiting: Statement[] = [];
  let settings: string[] = [];
  let values: unknown[] = [];
  let role = "";
  const nothing = { command: "SELECT" as const, rowCount: 0, rows: [] };
  const send = async (text: string, given: readonly unknown[] = []) => {
    if (waiting.length) {
      const [, set, name, value, end] = setConfigPattern.exec(text) ?? [];
      if (set && (value !== "$1" || typeof given[0] === "string")) {
        if (name === "role") role = String(given[0] ?? "");
        if (value === "$1") values.push(given[0]);
        settings.push(`${set}${value === "$1" ? `$${values.length}` : value}${end}`);
        return nothing;
      }
      if (readOnlyPattern.test(text)) {
        waiting.push({ text, values: [] });
        return nothing;
      }
    } else if (database.skipsSessionCheck && sessionCheckPattern.test(text))
      return { ...nothing, rows: [{ id: given[0] }] };
    const statements = waiting;
    if (settings.length) statements.push({ text: `select ${settings.join(", ")}`, values });
    [waiting, settings, values] = [[], [], []];
    if (text.toLowerCase() === "begin") {
      waiting = [{ text, values: given }];
      role = "";
      return nothing;
    }
    const [, , name, value] = setConfigPattern.exec(text) ?? [];
    if (name === "role") role = String(value === "$1" ? given[0] : "");
    role = setRolePattern.exec(text)?.[1] ?? (transactionEndPattern.test(text) ? "" : role);
    return run([...statements, { text, values: given }], role);
  };
  const client = { query: send, release: () => undefined };
  const pool = { connect: async () => client, end: async () => undefined };
  database.connection.kysely = new Kysely({ dialect: new PostgresDialect({ pool: pool as never }) });
}
