import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { App, setExperimental } from "@supabase/lite";
import { parse } from "smol-toml";
import type { BackendProcessOptions } from "../contract/backend-process.ts";
import { projectRoot } from "../contract/data-dir.ts";
import type { DeliverEmail } from "../contract/email-delivery.ts";
import { createRoles, DatabaseUnavailableError } from "../contract/postgres.ts";
import { createAccessTokens, endSessionsAfterKeyChange } from "./auth/access-tokens.ts";
import { withApiVersion, withBodyValidation } from "./auth/api-format.ts";
import { withAuthRoutes } from "./auth/routes.ts";
import { createSessionMutex, type OpenDatabase, type SqlSession } from "./database/database.ts";
import { applyMigrations, runSeedOnce } from "./database/migrations.ts";
import { openPglite } from "./database/pglite.ts";
import { openPostgres } from "./database/postgres.ts";
import { addContentLength } from "./http.ts";
import { createTemplateMailer } from "./mailer.ts";
import { isAllowedRoute, requestLimitError } from "./request-limits.ts";
import { createRpcArgumentQuoter, withPostgrestErrors } from "./rest.ts";
import { createFileStorage, parseRange, withObjectSize } from "./storage.ts";

export type BackendOptions = Omit<BackendProcessOptions, "dataDir" | "port" | "smtpUrl"> & {
  /** The folder of the database. Null stores the database in memory. */
  dataDir: string | null;
  objectsDir: string;
  lockTimeoutMs?: number;
  deliver: DeliverEmail;
  seed: boolean;
};

export type Backend = {
  /** Responds to a request. Only one request at a time uses the database. */
  fetch: (request: Request) => Promise<Response>;
  /** A superuser session, for tests and maintenance only. */
  db: SqlSession;
  close: () => Promise<void>;
};

type ProjectConfig = {
  api: { port: number; schemas: string[]; max_rows: number };
  db: { seed: { enabled: boolean; sql_paths: string[] } };
  storage: { file_size_limit: string };
  auth: {
    jwt_expiry: number;
    minimum_password_length: number;
    email: {
      max_frequency: string;
      otp_length: number;
      otp_expiry: number;
      secure_password_change: boolean;
      template: { confirmation: { subject: string; content_path: string } };
    };
    hook: { before_user_created: { enabled: boolean; uri: string } };
  };
};

export async function createBackend(options: BackendOptions): Promise<Backend> {
  setExperimental("storage", true);
  const { databaseUrl, dataDir } = options;
  const finishFirstStart = dataDir && !databaseUrl ? markFirstStart(dataDir) : () => undefined;
  const database = databaseUrl ? await openPostgres(databaseUrl, options.lockTimeoutMs) : await openPglite(dataDir);
  try {
    const backend = await createBackendOnDatabase(database, options);
    finishFirstStart();
    return backend;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function createBackendOnDatabase(database: OpenDatabase, options: BackendOptions): Promise<Backend> {
  const config = parse(
    readFileSync(path.join(projectRoot, "supabase/config.toml"), "utf8"),
  ) as unknown as ProjectConfig;
  const { connection, db } = database;
  const { auth } = config;
  const app = new App({
    connection,
    api: { schemas: config.api.schemas, max_rows: config.api.max_rows },
    auth: {
      enabled: true,
      site_url: options.siteUrl,
      jwt_secret: options.jwtSecret,
      jwt_expiry: auth.jwt_expiry,
      publishable_key: options.publishableKey,
      secret_key: options.secretKey,
      // With rotation, parallel refreshes would end the session, because @supabase/lite has no reuse interval.
      enable_refresh_token_rotation: false,
      enable_signup: true,
      minimum_password_length: auth.minimum_password_length,
      email: {
        enable_signup: true,
        enable_confirmations: true,
        otp_length: auth.email.otp_length,
        otp_expiry: auth.email.otp_expiry,
      },
    },
    storage: { enabled: true, file_size_limit: config.storage.file_size_limit },
    studio: { enabled: false },
    options: { server: { admin: false, disableStudio: true } },
  });
  const objects = createFileStorage(options.objectsDir);
  app._storageAdapter = objects;
  const mailer = createTemplateMailer({
    from: options.emailFrom,
    siteUrl: options.siteUrl,
    subject: auth.email.template.confirmation.subject,
    template: readFileSync(path.join(projectRoot, auth.email.template.confirmation.content_path), "utf8"),
    deliver: options.deliver,
  });
  app._mailer = mailer;
  const tokens = await createAccessTokens(options.signingKey, options.jwtSecret);
  await createRoles(db.exec);
  await app.ensureSystemSchema();
  await db.exec(readFileSync(path.join(projectRoot, "supabase/local/bootstrap.sql"), "utf8"));
  await applyMigrations(database, path.join(projectRoot, "supabase/migrations"));
  await endSessionsAfterKeyChange(db, tokens);
  if (options.seed && config.db.seed.enabled) {
    for (const file of config.db.seed.sql_paths) {
      await runSeedOnce(database, path.join(projectRoot, "supabase"), file);
    }
  }
  await connection.clearSchemaCache();
  const quoteRpcArguments = await createRpcArgumentQuoter(db);
  const mutex = createSessionMutex();
  let closing = false;
  const authRoutes = withAuthRoutes({
    next: withPostgrestErrors(
      withObjectSize((request) => app.fetch(request, { peerAddress: null })),
      connection,
    ),
    db,
    mailer,
    runUnlocked: async (work) => {
      const result = await mutex.runUnlocked(work);
      if (closing) throw new DatabaseUnavailableError("The backend is shutting down.");
      await database.ensureConnected();
      return result;
    },
    tokens,
    secretKey: options.secretKey,
    jwtExpirySeconds: auth.jwt_expiry,
    siteUrl: options.siteUrl,
    securePasswordChange: auth.email.secure_password_change,
    issuer: `http://127.0.0.1:${config.api.port}/auth/v1`,
    beforeUserCreated: auth.hook.before_user_created.enabled ? auth.hook.before_user_created.uri : null,
    otpLength: auth.email.otp_length,
    resendAfterSeconds: parseDurationSeconds("auth.email.max_frequency", auth.email.max_frequency),
  });
  const handleRequest = withApiVersion(withBodyValidation(authRoutes));

  return {
    db,
    fetch: async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      if (!isAllowedRoute(request.method, pathname)) return new Response("Not found", { status: 404 });
      if (pathname === "/auth/v1/.well-known/jwks.json") return Response.json(tokens.jwks);
      const key = request.headers.get("apikey") ?? searchParams.get("apikey");
      if (key !== options.publishableKey && key !== options.secretKey) {
        return Response.json({ message: "Invalid API key" }, { status: 401 });
      }
      // Runs outside the mutex, so that checking signatures and reading long bodies does not block other requests.
      const preparedRequest = addContentLength(request).then(tokens.withLibraryToken).then(quoteRpcArguments);
      const limitError = preparedRequest.then(requestLimitError);
      limitError.catch(() => undefined);
      return mutex.runExclusive(async () => {
        if (closing) return Response.json({ message: "The backend is shutting down." }, { status: 503 });
        // The site has closed the connection and reported a failure to its user, so this request must change nothing.
        if (request.signal.aborted)
          return Response.json({ message: "The site has cancelled this request." }, { status: 503 });
        objects.range = parseRange(request.headers.get("range"));
        database.skipsSessionCheck = !pathname.startsWith("/auth/");
        return respondOrUnavailable(database, async () => {
          const response = (await limitError) ?? (await handleRequest(await preparedRequest));
          // Reads the body inside the mutex, because reading may query the database.
          const body = response.body ? await response.arrayBuffer() : null;
          return new Response(body, response);
        }).finally(() => {
          database.skipsSessionCheck = false;
          objects.range = null;
        });
      });
    },
    close: () => {
      closing = true;
      return mutex.runExclusive(database.close);
    },
  };
}

/** Returns the job's response, or 503 if the database is unreachable or was lost during the job. */
async function respondOrUnavailable(database: OpenDatabase, job: () => Promise<Response>): Promise<Response> {
  const unavailable = () => Response.json({ message: "The database does not respond." }, { status: 503 });
  try {
    await database.ensureConnected();
    const response = await job();
    return !response.ok && database.isLost() ? unavailable() : response;
  } catch (error) {
    if (!(error instanceof DatabaseUnavailableError) && !database.isLost()) throw error;
    console.error((error as Error).message);
    return unavailable();
  }
}

/** Deletes the database of an interrupted first start. Returns a function that marks the first start as finished. */
function markFirstStart(dataDir: string): () => void {
  const database = path.join(dataDir, "database");
  const unfinished = `${database}.unfinished`;
  if (existsSync(unfinished)) rmSync(database, { recursive: true, force: true });
  if (existsSync(database)) return () => undefined;
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(unfinished, "");
  return () => rmSync(unfinished);
}

/** Converts a Go duration such as 1m0s to seconds. Throws for units other than minutes and seconds. */
function parseDurationSeconds(key: string, duration: string): number {
  const match = /^(?=.)(?:(\d+)m)?(?:(\d+)s)?$/.exec(duration);
  if (!match)
    throw new Error(`supabase/config.toml: ${key} "${duration}" is not a valid duration. Use a value such as 1m0s.`);
  const [, minutes = "0", seconds = "0"] = match;
  return Number(minutes) * 60 + Number(seconds);
}
