import type { JWK } from "jose";
import type { Mailbox } from "./email-delivery.ts";

export type BackendProcessOptions = {
  dataDir: string;
  /** The URL of a PostgreSQL server, or null to use PGlite in dataDir. */
  databaseUrl: string | null;
  /** 0 chooses any free port. */
  port: number;
  siteUrl: string;
  smtpUrl: string | null;
  emailFrom: Mailbox;
  publishableKey: string;
  secretKey: string;
  /** The secret that signs tokens for @supabase/lite. These tokens do not leave the backend's process. */
  jwtSecret: string;
  signingKey: JWK;
};

export type BackendProcessReport = { ready: string } | { failed: string };

/** The longest time that the database may take to close. Ending the process after this time loses no data. */
export const backendCloseTimeoutMs = 1500;
