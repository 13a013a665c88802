/** PostgreSQL in this process (PGlite) as the embedded backend's database: one session, in which statements stay prepared. */
import { mkdirSync } from "node:fs";
import path from "node:path";
import { type messages, PGlite, protocol } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { PgliteConnection } from "@supabase/lite/pglite";
import { LRUCache } from "lru-cache";
import {
  disableAutomaticGrants,
  installStatementRunner,
  isoTimestamp,
  type OpenDatabase,
  type Statement,
  type StatementRunner,
} from "./database.ts";

/** PGlite reads how many values a statement has as a signed number of 16 bits; after a larger one no answer is right. */
const maxStatementValues = 32_767;
/** How many statements stay prepared; the site's own are some eighty. */
const maxPreparedStatements = 300;
/** In characters: what is longer, such as many rows at once, comes hardly again, and would take much memory. */
const maxPreparedLength = 4000;

/** Arrays of other types than these arrive as PostgreSQL writes them: of rows, ranges and shapes, which nobody asks for. */
const unusedArrayTypesQuery = `select typarray from pg_type where typarray <> 0
  and (typtype <> 'b' or typcategory not in ('B', 'D', 'N', 'S') and typname not in ('json', 'jsonb', 'uuid'))`;

/** PGlite copies all its parsers at each step of each statement; six of seven are for arrays of rows of system tables. */
async function removeUnusedParsers(driver: PGlite): Promise<void> {
  const { rows } = await driver.query<{ typarray: number }>(unusedArrayTypesQuery);
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
  disableAutomaticGrants(connection);
  const { driver } = connection;
  await driver.waitReady;
  await removeUnusedParsers(driver);
  const { run, forget } = createStatementRunner(driver);
  const database: OpenDatabase = {
    connection,
    db: {
      query: async <Row>(text: string, values: unknown[] = []) => {
        const { rows } = await run([{ text, values }], "");
        return { rows: rows as Row[] };
      },
      exec: async (text) => {
        try {
          return await driver.exec(text);
        } finally {
          await forget();
        }
      },
    },
    ensureConnected: async () => undefined,
    isLost: () => false,
    close: () => connection.close(),
    skipsSessionCheck: false,
  };
  installStatementRunner(run, database);
  return database;
}

type ProtocolMessage = messages.BackendMessage;
type ResultColumn = { name: string; dataTypeID: number };
type PreparedStatement = { name: string; parameters: number[]; fields: ResultColumn[] };

/** What only steers a transaction is read faster than it is found again, and has no values. */
const transactionControlPattern = /^\s*(begin|commit|rollback|savepoint|release|set)\b/i;

/**
 * Runs statements in as few steps as there can be: what ran before in the same role is not read and planned again, and
 * what is known goes in one message. PGlite's own `query` takes six steps for one statement, and prepares nothing.
 * `forget` lets go of all that is prepared: for changes of the schema, after which an answer may have other columns.
 */
function createStatementRunner(driver: PGlite): { run: StatementRunner; forget: () => Promise<void> } {
  const { serialize } = protocol;
  const ended: string[] = [];
  // The role too: that a role may call a function is looked at when a statement is planned.
  const known = new LRUCache<string, PreparedStatement>({
    max: maxPreparedStatements,
    dispose: ({ name }) => ended.push(name),
  });
  let made = 0;

  const exchange = (parts: Uint8Array[]): Promise<ProtocolMessage[]> =>
    driver.execProtocolStream(Buffer.concat([...parts, serialize.sync()]), { syncToFs: false });

  async function prepare(name: string, text: string, before: Uint8Array[]): Promise<PreparedStatement> {
    const closed = ended.splice(0).map((old) => serialize.close({ type: "S", name: old }));
    const answers = await exchange([
      ...closed,
      ...before,
      serialize.parse({ name, text }),
      serialize.describe({ type: "S", name }),
    ]);
    const parameters = answers.findLast((message) => message.name === "parameterDescription");
    const fields = answers.findLast((message) => message.name === "rowDescription" || message.name === "noData");
    return {
      name,
      parameters: (parameters as messages.ParameterDescriptionMessage).dataTypeIDs,
      fields: (fields as Partial<messages.RowDescriptionMessage>).fields ?? [],
    };
  }

  async function found(role: string, text: string, parts: Uint8Array[]): Promise<PreparedStatement> {
    if (text.length > maxPreparedLength) return prepare("", text, parts.splice(0));
    const key = `${role} ${text}`;
    let statement = known.get(key);
    if (!statement) {
      statement = await prepare(`s${made++}`, text, parts.splice(0));
      known.set(key, statement);
    }
    return statement;
  }

  const written = (value: unknown, type: number | undefined) => {
    if (value === null || value === undefined) return null;
    const serializer = driver.serializers[type ?? 0];
    return serializer ? serializer(value) : String(value);
  };

  async function inOrder(statements: Statement[], role: string) {
    const parts: Uint8Array[] = [];
    let fields: ResultColumn[] = [];
    try {
      for (const { text, values } of statements) {
        if (values.length > maxStatementValues) {
          throw Object.assign(new Error(`A statement has at most ${maxStatementValues} values.`), { code: "54023" });
        }
        if (transactionControlPattern.test(text)) {
          fields = [];
          parts.push(serialize.parse({ text }), serialize.bind(), serialize.execute());
          continue;
        }
        const statement = await found(role, text, parts);
        fields = statement.fields;
        const texts = values.map((value, place) => written(value, statement.parameters[place]));
        parts.push(serialize.bind({ statement: statement.name, values: texts }), serialize.execute());
      }
    } catch (error) {
      // A value that cannot be written: what begins the transaction is sent all the same.
      if (parts.length) await exchange(parts).catch(() => undefined);
      throw error;
    }
    try {
      return toQueryResult(await exchange(parts), fields, driver.parsers);
    } catch (error) {
      // "cached plan must not change result type": a table has other columns by now.
      if ((error as { code?: string }).code === "0A000") {
        for (const { text } of statements) known.delete(`${role} ${text}`);
      }
      throw error;
    }
  }

  return {
    run: (statements, role) => driver.runExclusive(() => inOrder(statements, role)),
    forget: () =>
      driver.runExclusive(async () => {
        known.clear();
        await exchange(ended.splice(0).map((name) => serialize.close({ type: "S", name })));
      }),
  };
}

/** What the last of several statements answered: its rows, and how many it changed. */
function toQueryResult(messages: ProtocolMessage[], fields: ResultColumn[], parsers: PGlite["parsers"]) {
  const last = messages.slice(messages.findLastIndex(({ name }) => name === "bindComplete"));
  const rows = last.flatMap((message) => {
    if (message.name !== "dataRow") return [];
    const texts = (message as messages.DataRowMessage).fields;
    return [
      Object.fromEntries(
        fields.map(({ name, dataTypeID }, place) => {
          const text = texts[place] ?? null;
          const parser = parsers[dataTypeID];
          return [name, text === null || !parser ? text : parser(text, dataTypeID)];
        }),
      ),
    ];
  });
  const complete = last.find(({ name }) => name === "commandComplete") as messages.CommandCompleteMessage | undefined;
  const [command, ...counts] = complete?.text.split(" ") ?? [];
  // As PGlite counts: rows that a question answers are not among them, and what changes a table counts none.
  const rowCount = /^(INSERT|UPDATE|DELETE|MERGE|COPY)$/.test(command ?? "") ? Number(counts.at(-1)) : 0;
  return { command: "UPDATE" as const, rowCount, rows };
}
