/** Only env.server.ts reads environment variables. The README lists all variables except NODE_ENV. */
import { isIP } from "node:net";
import path from "node:path";
import process from "node:process";
import { z } from "zod";
import { compileTrustedProxies, isLoopbackHost } from "./ip-address.server.ts";

/** The error message is one line and never contains a key, a password or the URL of an SMTP server or database. */
export class ConfigurationError extends Error {}

// Each error message of the schemas continues a sentence that starts with the variable's name.
const originSchema = z
  .url({ protocol: /^https?$/, error: "must be an http or https address", abort: true })
  .refine(
    (value) => new URL(value).origin === value,
    "must look like https://www.example.com or http://127.0.0.1:3000, without a path or a final slash",
  );
const positiveInteger = (defaultValue: number, max = 1_000_000) =>
  z.preprocess(
    (value) => (value === "" || value === undefined ? String(defaultValue) : value),
    z
      .string()
      .refine((value) => /^\d{1,7}$/.test(value) && Number(value) >= 1 && Number(value) <= max, {
        error: `must be a whole number from 1 to ${max}`,
      })
      .transform(Number),
  );
const ipAddresses = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter(Boolean))
  .refine(areIpAddresses, "must be IP addresses or ranges such as 10.0.0.0/8, separated by commas");
const mailboxPattern = /^(?:([^\r\n<>]*)<)?([^\s<>@]+@[^\s<>@]+?)>?$/;
const mailbox = z
  .string()
  .regex(mailboxPattern, "must look like Name <name@example.com>")
  .transform((value) => {
    const [, name = "", address = ""] = mailboxPattern.exec(value) ?? [];
    return { name: name.trim().replace(/^"(.*)"$/, "$1"), address };
  });
const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (value === "" ? undefined : value), schema.optional());

function areIpAddresses(list: string[]): boolean {
  try {
    compileTrustedProxies(list);
    return true;
  } catch {
    return false;
  }
}

const toOrigin = (host: string, port: number) => `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

const Environment = z.object({
  NODE_ENV: optional(z.string()),
  PORT: positiveInteger(3000, 65_535),
  HOST: optional(
    z
      .string()
      .refine(
        (host) => isIP(host) > 0 || /^[\w.-]+$/.test(host),
        "must be an IP address, such as 127.0.0.1, or a host name",
      ),
  ),
  APP_ORIGIN: optional(originSchema),
  DATA_DIR: optional(z.string()),
  BACKEND_PORT: positiveInteger(54_321, 65_535),
  METRICS_PORT: optional(positiveInteger(0, 65_535)),
  HSTS_SUBDOMAINS: optional(z.literal("yes", "must be yes or empty")),
  DATABASE_URL: optional(
    z.url({ protocol: /^postgres(ql)?$/, error: "must look like postgres://user:password@host:5432/database" }),
  ),
  SUPABASE_URL: optional(z.url({ protocol: /^https?$/, error: "must be an http or https address" })),
  SUPABASE_PUBLISHABLE_KEY: optional(z.string()),
  SUPABASE_SECRET_KEY: optional(z.string()),
  SESSION_SECRET: optional(z.string().min(32, "must have at least 32 characters")),
  SMTP_URL: optional(z.url({ protocol: /^smtps?$/, error: "must look like smtps://user:password@host:465" })),
  MAIL_FROM: optional(mailbox),
  TRUSTED_PROXIES: optional(ipAddresses),
  LOGINS_PER_EMAIL: positiveInteger(5),
  LOGINS_PER_ADDRESS: positiveInteger(20),
  LOGINS_PER_ACCOUNT: positiveInteger(100),
  EMAILS_PER_RECIPIENT: positiveInteger(5),
  EMAILS_PER_ADDRESS: positiveInteger(20),
  CLIENT_ID_GUESSES: positiveInteger(10),
  CODE_GUESSES: positiveInteger(5),
  WRITES_PER_MINUTE: positiveInteger(60),
  FORM_KIB: positiveInteger(64, 1024),
  FILE_MIB: positiveInteger(10, 10),
  UPLOADS_PER_CLIENT: positiveInteger(3),
  UPLOADS_PER_ADDRESS: positiveInteger(6),
  UPLOADS_MIB: positiveInteger(200, 100_000),
  PAGE_SECONDS: positiveInteger(5, 60),
  WRITE_SECONDS: positiveInteger(8, 60),
  UPLOAD_SECONDS: positiveInteger(60, 900),
  FORM_SECONDS: positiveInteger(60, 900),
  SLOWEST_KIB: positiveInteger(2, 1024),
  SLOWEST_UPLOAD_SECONDS: positiveInteger(2400, 7200),
  HEADER_SECONDS: positiveInteger(30, 120),
  SILENCE_SECONDS: positiveInteger(120, 3600),
  STOP_NOTICE_SECONDS: optional(positiveInteger(0, 60)),
  DRAIN_SECONDS: positiveInteger(8, 900),
});

export type BackendAccess = { url: string; publishableKey: string; secretKey: string };

export type Settings = ReturnType<typeof readSettings>;

export function readSettings(source: NodeJS.ProcessEnv = process.env) {
  const parsed = Environment.safeParse(source);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ConfigurationError(`Configuration: ${issue?.path.join(".")}: ${issue?.message}`);
  }
  const env = parsed.data;
  const smallestUploadsMib = Math.ceil(2 * (env.FILE_MIB + env.FORM_KIB / 1024));
  if (env.UPLOADS_MIB < smallestUploadsMib)
    throw new ConfigurationError(
      `Configuration: UPLOADS_MIB: must be at least ${smallestUploadsMib}, because half of UPLOADS_MIB must be at least FILE_MIB plus FORM_KIB.`,
    );
  const port = env.PORT;
  const host = env.HOST ?? "127.0.0.1";
  const origin = env.APP_ORIGIN ?? toOrigin(host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host, port);
  const { protocol, hostname } = new URL(origin);
  if (env.NODE_ENV === "production" && protocol !== "https:" && !isLoopbackHost(hostname))
    throw new ConfigurationError(
      `Configuration: APP_ORIGIN: must be an https address, because ${origin} is not on this machine.`,
    );
  const hosted = {
    SUPABASE_PUBLISHABLE_KEY: env.SUPABASE_PUBLISHABLE_KEY,
    SUPABASE_SECRET_KEY: env.SUPABASE_SECRET_KEY,
    SESSION_SECRET: env.SESSION_SECRET,
  };
  const missing = Object.entries(hosted).flatMap(([name, value]) => (value ? [] : [name]));
  if (env.SUPABASE_URL && missing.length > 0)
    throw new ConfigurationError(
      `Configuration: SUPABASE_URL is set, so ${new Intl.ListFormat("en").format(missing)} must be set too.`,
    );
  if (env.SUPABASE_URL && env.DATABASE_URL)
    throw new ConfigurationError(
      "Configuration: DATABASE_URL and SUPABASE_URL are both set. To use Supabase, remove DATABASE_URL. To use the embedded backend, remove SUPABASE_URL.",
    );
  const backend: BackendAccess | null = env.SUPABASE_URL
    ? {
        url: env.SUPABASE_URL,
        publishableKey: env.SUPABASE_PUBLISHABLE_KEY ?? "",
        secretKey: env.SUPABASE_SECRET_KEY ?? "",
      }
    : null;
  return {
    port,
    host,
    origin,
    dataDir: path.resolve(env.DATA_DIR ?? ".data"),
    backendPort: env.BACKEND_PORT,
    metricsPort: env.METRICS_PORT ?? null,
    hasHttpsSubdomains: env.HSTS_SUBDOMAINS === "yes",
    databaseUrl: env.DATABASE_URL ?? null,
    backend,
    sessionSecret: env.SESSION_SECRET ?? null,
    smtpUrl: env.SMTP_URL ?? null,
    emailFrom: env.MAIL_FROM ?? null,
    trustedProxies: env.TRUSTED_PROXIES ?? [],
    /** False on https without TRUSTED_PROXIES, because all requests then have the IP address of the https proxy. */
    hasVisitorIps: protocol === "http:" || (env.TRUSTED_PROXIES ?? []).length > 0,
    limits: {
      loginsPerEmail: env.LOGINS_PER_EMAIL,
      loginsPerAddress: env.LOGINS_PER_ADDRESS,
      loginsPerAccount: env.LOGINS_PER_ACCOUNT,
      emailsPerRecipient: env.EMAILS_PER_RECIPIENT,
      emailsPerAddress: env.EMAILS_PER_ADDRESS,
      clientIds: env.CLIENT_ID_GUESSES,
      codes: env.CODE_GUESSES,
      writes: env.WRITES_PER_MINUTE,
      formBytes: env.FORM_KIB * 1024,
      fileBytes: env.FILE_MIB * 1024 * 1024,
      uploadsPerClient: env.UPLOADS_PER_CLIENT,
      uploadsPerAddress: env.UPLOADS_PER_ADDRESS,
      uploadBytes: env.UPLOADS_MIB * 1024 * 1024,
      /** The minimum speed of an upload or download after the first seconds. */
      bytesPerSecond: env.SLOWEST_KIB * 1024,
    },
    deadlines: {
      page: env.PAGE_SECONDS * 1000,
      write: env.WRITE_SECONDS * 1000,
      upload: env.UPLOAD_SECONDS * 1000,
      request: env.SLOWEST_UPLOAD_SECONDS * 1000,
      form: env.FORM_SECONDS * 1000,
      headers: env.HEADER_SECONDS * 1000,
      idle: env.SILENCE_SECONDS * 1000,
      stopNotice: (env.STOP_NOTICE_SECONDS ?? 0) * 1000,
      drain: env.DRAIN_SECONDS * 1000,
    },
  };
}

export function setBackendAccess(access: BackendAccess, sessionSecret: string): void {
  process.env.SUPABASE_URL = access.url;
  delete process.env.DATABASE_URL;
  process.env.SUPABASE_PUBLISHABLE_KEY = access.publishableKey;
  process.env.SUPABASE_SECRET_KEY = access.secretKey;
  process.env.SESSION_SECRET = sessionSecret;
}

export function getChildEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}

export type AppSettings = Settings & { backend: BackendAccess; sessionSecret: string };

let cachedSettings: AppSettings | undefined;

export function env(): AppSettings {
  if (cachedSettings) return cachedSettings;
  const settings = readSettings();
  const { backend, sessionSecret } = settings;
  if (!backend || !sessionSecret)
    throw new ConfigurationError(
      "Configuration: SUPABASE_URL is missing. To use the embedded backend, start the site with npm start or npm run dev.",
    );
  cachedSettings = { ...settings, backend, sessionSecret };
  return cachedSettings;
}

export function deadlines(): Settings["deadlines"] {
  return (cachedSettings ?? readSettings()).deadlines;
}
