import type { JWK } from "jose";
import type { Mailbox } from "./email-delivery.ts";

export type BackendProcessOptions = {
  dataDir: string;
  /** A PostgreSQL server, or null for the database in dataDir. */
  databaseUrl: string | null;
  /** 0 chooses any free port. */
  port: number;
  siteUrl: string;
  smtpUrl: string | null;
  emailFrom: Mailbox;
  publishableKey: string;
  secretKey: string;
  /** Signs the tokens for @supabase/lite. These tokens do not leave the process. */
  jwtSecret: string;
  signingKey: JWK;
};

export type BackendProcessReport = { ready: string } | { failed: string };

/** The longest time that the database may take to close. Ending the process after this time loses no data. */
export const backendCloseTimeoutMs = 1500;
