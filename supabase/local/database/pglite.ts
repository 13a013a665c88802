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

/** PGlite reads the number of values as a signed 16-bit integer. With more values, all later results would be wrong. */
const maxStatementValues = 32_767;
/** The site uses about 80 different statements. The limit bounds the memory of prepared statements. */
const maxPreparedStatements = 300;
/** The limit in characters. Longer statements, such as bulk inserts, are not prepared, because they rarely repeat. */
const maxPreparedLength = 4000;

/** Finds the array types of rows, ranges and geometric shapes, which no query of the site returns. */
const unusedArrayTypesQuery = `select typarray from pg_type where typarray <> 0
  and (typtype <> 'b' or typcategory not in ('B', 'D', 'N', 'S') and typname not in ('json', 'jsonb', 'uuid'))`;

/**
 * Removes the parsers of types that no query of the site returns, because PGlite copies all parsers for each statement.
 */
async function removeUnusedParsers(driver: PGlite): Promise<void> {
  const { rows } = await driver.query<{ typarray: number }>(unusedArrayTypesQuery);
  const unusedTypes = new Set(rows.map(({ typarray }) => String(typarray)));
  driver.parsers = Object.fromEntries(Object.entries(driver.parsers).filter(([type]) => !unusedTypes.has(type)));
}

/** Opens PGlite in the folder `database` of dataDir, or in memory. Throws if PGlite cannot open the folder. */
export async function openPglite(dataDir: string | null): Promise<OpenDatabase> {
  if (dataDir) mkdirSync(dataDir, { recursive: true });
  const connection = new PgliteConnection({
    url: dataDir ? path.join(dataDir, "database") : undefined,
    pgliteOptions: {
      extensions: { pg_trgm },
      startParams: [...PGlite.defaultStartParams, "-c", "shared_buffers=16MB"],
      parsers: { 1184: isoTimestamp, 1114: isoTimestamp },
      // Postgres must check a text given for a boolean. PGlite would reject the text without Postgres's error code.
      serializers: { 16: String },
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

/** Matches statements that control transactions. Preparing such statements would not save time. */
const transactionControlPattern = /^\s*(begin|commit|rollback|savepoint|release|set)\b/i;

/** Returns a runner that, unlike PGlite's `query`, prepares statements and sends several statements in one message. */
function createStatementRunner(driver: PGlite): { run: StatementRunner; forget: () => Promise<void> } {
  const { serialize } = protocol;
  const closedNames: string[] = [];
  // The cache key contains the role, because Postgres checks execute privileges when it plans a statement.
  const preparedStatements = new LRUCache<string, PreparedStatement>({
    max: maxPreparedStatements,
    dispose: ({ name }) => closedNames.push(name),
  });
  let statementCount = 0;

  const sendMessages = (parts: Uint8Array[]): Promise<ProtocolMessage[]> =>
    driver.execProtocolStream(Buffer.concat([...parts, serialize.sync()]), { syncToFs: false });

  async function prepare(name: string, text: string, earlierMessages: Uint8Array[]): Promise<PreparedStatement> {
    const closeMessages = closedNames.splice(0).map((oldName) => serialize.close({ type: "S", name: oldName }));
    const responses = await sendMessages([
      ...closeMessages,
      ...earlierMessages,
      serialize.parse({ name, text }),
      serialize.describe({ type: "S", name }),
    ]);
    const parameters = responses.findLast((message) => message.name === "parameterDescription");
    const fields = responses.findLast((message) => message.name === "rowDescription" || message.name === "noData");
    return {
      name,
      parameters: (parameters as messages.ParameterDescriptionMessage).dataTypeIDs,
      fields: (fields as Partial<messages.RowDescriptionMessage>).fields ?? [],
    };
  }

  async function findOrPrepare(role: string, text: string, parts: Uint8Array[]): Promise<PreparedStatement> {
    if (text.length > maxPreparedLength) return prepare("", text, parts.splice(0));
    const key = `${role} ${text}`;
    let statement = preparedStatements.get(key);
    if (!statement) {
      statement = await prepare(`s${statementCount++}`, text, parts.splice(0));
      preparedStatements.set(key, statement);
    }
    return statement;
  }

  const serializeValue = (value: unknown, type: number | undefined) => {
    if (value === null || value === undefined) return null;
    const serializer = driver.serializers[type ?? 0];
    return serializer ? serializer(value) : String(value);
  };

  async function runInOrder(statements: Statement[], role: string) {
    const parts: Uint8Array[] = [];
    let fields: ResultColumn[] = [];
    try {
      for (const { text, values } of statements) {
        if (values.length > maxStatementValues) {
          throw Object.assign(new Error(`A statement can have at most ${maxStatementValues} values.`), {
            code: "54023",
          });
        }
        if (transactionControlPattern.test(text)) {
          fields = [];
          parts.push(serialize.parse({ text }), serialize.bind(), serialize.execute());
          continue;
        }
        const statement = await findOrPrepare(role, text, parts);
        fields = statement.fields;
        const texts = values.map((value, index) => serializeValue(value, statement.parameters[index]));
        parts.push(serialize.bind({ statement: statement.name, values: texts }), serialize.execute());
      }
    } catch (error) {
      // Starts the transaction despite the error, because later statements must run in the transaction's role.
      if (parts.length) await sendMessages(parts).catch(() => undefined);
      throw error;
    }
    try {
      return toQueryResult(await sendMessages(parts), fields, driver.parsers);
    } catch (error) {
      // Postgres reports "cached plan must not change result type" (0A000) after the columns of a table have changed.
      if ((error as { code?: string }).code === "0A000") {
        for (const { text } of statements) preparedStatements.delete(`${role} ${text}`);
      }
      throw error;
    }
  }

  return {
    run: (statements, role) => driver.runExclusive(() => runInOrder(statements, role)),
    // Closes all prepared statements, because a schema change can change the columns that a statement returns.
    forget: () =>
      driver.runExclusive(async () => {
        preparedStatements.clear();
        await sendMessages(closedNames.splice(0).map((name) => serialize.close({ type: "S", name })));
      }),
  };
}

function toQueryResult(messages: ProtocolMessage[], fields: ResultColumn[], parsers: PGlite["parsers"]) {
  const last = messages.slice(messages.findLastIndex(({ name }) => name === "bindComplete"));
  const rows = last.flatMap((message) => {
    if (message.name !== "dataRow") return [];
    const texts = (message as messages.DataRowMessage).fields;
    return [
      Object.fromEntries(
        fields.map(({ name, dataTypeID }, index) => {
          const text = texts[index] ?? null;
          const parser = parsers[dataTypeID];
          return [name, text === null || !parser ? text : parser(text, dataTypeID)];
        }),
      ),
    ];
  });
  const complete = last.find(({ name }) => name === "commandComplete") as messages.CommandCompleteMessage | undefined;
  const [command, ...counts] = complete?.text.split(" ") ?? [];
  // Like PGlite's own `query`, counts only changed rows.
  const rowCount = /^(INSERT|UPDATE|DELETE|MERGE|COPY)$/.test(command ?? "") ? Number(counts.at(-1)) : 0;
  return { command: "UPDATE" as const, rowCount, rows };
}
