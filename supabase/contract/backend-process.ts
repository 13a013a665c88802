/** Messages between the site and the process of the embedded backend, supabase/local/main.ts. */
import type { JWK } from "jose";

/** The first message that the site sends. */
export type BackendProcessOptions = {
  dataDir: string;
  /** Database on a PostgreSQL server; null stores the database in dataDir. */
  databaseUrl: string | null;
  /** 0 takes any free port. */
  port: number;
  siteUrl: string;
  smtpUrl: string | null;
  publishableKey: string;
  secretKey: string;
  jwtSecret: string;
  signingKey: JWK;
};

/** The reply: the backend's URL, or the reason why it could not start. */
export type BackendProcessReport = { ready: string } | { failed: string };

/** How long the database may take to close. Killing the process afterwards loses no data. */
export const backendCloseTimeoutMs = 1500;
