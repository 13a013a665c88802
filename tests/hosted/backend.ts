/**
 * The backend of `npm run test:hosted` if no Supabase project is configured: a new PostgreSQL server with PostgREST,
 * and the auth and storage services of the embedded backend.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { createOutboxDelivery } from "../../supabase/contract/email-delivery.ts";
import { createBackend } from "../../supabase/local/backend.ts";
import { serve } from "../../supabase/local/http.ts";
import { backendKeys } from "../support/backend-keys.ts";
import { createDatabase } from "../support/database.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { createAuthenticator, withPostgrest } from "../support/postgrest.ts";

const { BACKEND_PORT, PORT, EMAILS_DIR = "" } = process.env;
const postgres = await startPostgres();
process.once("exit", () => postgres.remove());
const { url } = await createDatabase(postgres.url);
const objectsDir = mkdtempSync(path.join(tmpdir(), "objects-"));
const embedded = await createBackend({
  dataDir: null,
  databaseUrl: url,
  objectsDir,
  siteUrl: `http://127.0.0.1:${PORT}`,
  emailFrom: { name: "The company", address: "office@company.example" },
  ...backendKeys,
  deliver: createOutboxDelivery(EMAILS_DIR),
  seed: false,
});
await createAuthenticator(postgres.url);
const backend = withPostgrest(embedded, url);
const server = serve(backend.fetch);
server.listen(Number(BACKEND_PORT), "127.0.0.1");

process.once("SIGTERM", async () => {
  server.close();
  server.closeAllConnections();
  await backend.close();
  rmSync(objectsDir, { recursive: true, force: true });
  process.exit(0);
});
