import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { ConfigurationError, readSettings } from "./env.server.ts";

const secret = "s3cr3t-that-must-not-be-printed-anywhere";
const hostedEnvironment = {
  SUPABASE_URL: "https://abc.supabase.example",
  SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
  SUPABASE_SECRET_KEY: secret,
  SESSION_SECRET: "x".repeat(32),
};

test("Without any environment variable, the site listens only on the loopback address and starts the embedded backend.", () => {
  const embedded = { databaseUrl: null, backend: null, sessionSecret: null, dataDir: path.resolve(".data") };
  const address = { host: "127.0.0.1", origin: "http://127.0.0.1:3000", trustedProxies: [], hasVisitorIps: true };
  expect(readSettings({})).toMatchObject({ ...embedded, ...address, smtpUrl: null, emailFrom: null });
});

test("The settings contain all sizes in bytes and all times in milliseconds.", () => {
  const { limits, deadlines } = readSettings({});
  const { formBytes, fileBytes, uploadBytes, bytesPerSecond } = limits;
  expect([formBytes, fileBytes, uploadBytes, bytesPerSecond]).toEqual([65_536, 10_485_760, 209_715_200, 2048]);
  expect(Object.values(deadlines)).toEqual([5000, 8000, 60_000, 2_400_000, 60_000, 30_000, 120_000, 0, 8000]);
});

const readFile = (file: string) => readFileSync(path.join(import.meta.dirname, "../../..", file), "utf8");
const definitions = readFile("app/lib/http/env.server.ts").matchAll(/^ {2}([A-Z_]+): (?:positiveInteger\(([\d_]+))?/gm);
const defaults = Object.fromEntries([...definitions].map(([, name = "", value]) => [name, value?.replaceAll("_", "")]));
const variables = Object.keys(defaults);

test("The table in README.md lists every environment variable that the site reads, with its numeric default.", () => {
  expect(variables.length).toBeGreaterThan(20);
  const rows = readFile("README.md").match(/^\| `.*$/gm) ?? [];
  const listed = rows.flatMap((row) => {
    const [names = [], values = []] = row
      .split("|")
      .slice(1)
      .map((cell) => cell.trim().split(", "));
    return names.map((name, index) => [name.replaceAll("`", ""), values[index] ?? values[0]]);
  });
  const { NODE_ENV: _mode, ...documented } = defaults;
  for (const [name, value] of Object.entries(documented))
    expect(listed).toContainEqual([name, value ?? expect.anything()]);
});

test("An empty environment variable has the same effect as a missing variable.", () => {
  expect(readSettings(Object.fromEntries(variables.map((name) => [name, ""])))).toEqual(readSettings({}));
});

const validValues: [string, string, object][] = [
  ["PORT", "8080", { port: 8080, origin: "http://127.0.0.1:8080" }],
  ["PORT", "65535", { port: 65535 }],
  ["HOST", "0.0.0.0", { host: "0.0.0.0", origin: "http://127.0.0.1:3000" }],
  ["HOST", "::1", { host: "::1", origin: "http://[::1]:3000" }],
  ["HOST", "192.168.1.5", { host: "192.168.1.5", origin: "http://192.168.1.5:3000" }],
  ["APP_ORIGIN", "https://portal.example", { origin: "https://portal.example" }],
  ["APP_ORIGIN", "https://portal.example:8443", { origin: "https://portal.example:8443" }],
  ["DATA_DIR", "some/folder", { dataDir: path.resolve("some/folder") }],
  ["METRICS_PORT", "9464", { metricsPort: 9464 }],
  ["HSTS_SUBDOMAINS", "yes", { hasHttpsSubdomains: true }],
  ["DATABASE_URL", "postgres://user:pass@db.example/portal", { databaseUrl: "postgres://user:pass@db.example/portal" }],
  ["DATABASE_URL", "postgresql://db.example:5433/portal", { databaseUrl: "postgresql://db.example:5433/portal" }],
  [
    "TRUSTED_PROXIES",
    "10.0.0.0/8, 192.0.2.1,2001:db8::/32",
    { trustedProxies: ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"] },
  ],
  ["LOGINS_PER_EMAIL", "9", { limits: expect.objectContaining({ loginsPerEmail: 9 }) }],
  ["WRITES_PER_MINUTE", "600", { limits: expect.objectContaining({ writes: 600 }) }],
  ["UPLOADS_MIB", "21", { limits: expect.objectContaining({ uploadBytes: 22_020_096 }) }],
  ["STOP_NOTICE_SECONDS", "5", { deadlines: expect.objectContaining({ stopNotice: 5000 }) }],
  ["SESSION_SECRET", "x".repeat(32), { sessionSecret: "x".repeat(32) }],
  ["SMTP_URL", "smtps://user:pass@mail.example:465", { smtpUrl: "smtps://user:pass@mail.example:465" }],
  ["MAIL_FROM", "Mizigo <desk@mizigo.example>", { emailFrom: { name: "Mizigo", address: "desk@mizigo.example" } }],
  ["MAIL_FROM", '"Tea, Ltd" <a@b.example>', { emailFrom: { name: "Tea, Ltd", address: "a@b.example" } }],
  ["MAIL_FROM", "Tea (Kenya) <a@b.example>", { emailFrom: { name: "Tea (Kenya)", address: "a@b.example" } }],
  ["MAIL_FROM", "desk@mizigo.example", { emailFrom: { name: "", address: "desk@mizigo.example" } }],
];

test.each(validValues)("The environment variable %s accepts the value %s.", (name, value, expected) => {
  expect(readSettings({ [name]: value })).toMatchObject(expected);
});

const invalidValues: [string, string][] = [
  ["PORT", "0"],
  ["PORT", "65536"],
  ["PORT", "80.5"],
  ["HOST", "http://0.0.0.0"],
  ["HOST", "two words"],
  ["METRICS_PORT", "0"],
  ["HSTS_SUBDOMAINS", "true"],
  ["BACKEND_PORT", `${secret}`],
  ["APP_ORIGIN", "portal.example"],
  ["APP_ORIGIN", "https://portal.example/portal"],
  ["APP_ORIGIN", "javascript:alert(1)"],
  ["APP_ORIGIN", `https://user:${secret}@portal.example`],
  ["SUPABASE_URL", `ftp://user:${secret}@db.example`],
  ["DATABASE_URL", `mysql://user:${secret}@db.example`],
  ["SESSION_SECRET", secret.slice(0, 31)],
  ["SMTP_URL", `user:${secret}@mail.example`],
  ["TRUSTED_PROXIES", `10.0.0.0/99, ${secret}`],
  ["UPLOADS_MIB", "20"],
  ["DRAIN_SECONDS", secret],
];

test.each(invalidValues)("The error for %s=%s names the variable and prints no secret.", (name, value) => {
  const message = getErrorMessage({ ...hostedEnvironment, [name]: value });
  expect(message).toMatch(new RegExp(`^Configuration: .*\\b${name}\\b`));
});

test("If SUPABASE_URL is set without the keys of the hosted backend, the error names each missing variable.", () => {
  const { SUPABASE_URL: url, SUPABASE_SECRET_KEY: secretKey, SESSION_SECRET: sessionSecret } = hostedEnvironment;
  const backend = { url, publishableKey: "sb_publishable_x", secretKey };
  expect(readSettings(hostedEnvironment)).toMatchObject({ backend, sessionSecret });
  const keys = ["SUPABASE_PUBLISHABLE_KEY", "SUPABASE_SECRET_KEY", "SESSION_SECRET"];
  for (const missing of [...keys.map((name) => [name]), keys]) {
    const message = getErrorMessage({ ...hostedEnvironment, ...Object.fromEntries(missing.map((name) => [name, ""])) });
    for (const name of ["SUPABASE_URL", ...missing]) expect(message).toContain(name);
  }
});

test("If both DATABASE_URL and SUPABASE_URL are set, the error names both variables.", () => {
  const environment = { ...hostedEnvironment, DATABASE_URL: `postgres://user:${secret}@db.example/portal` };
  expect(getErrorMessage(environment)).toMatch(/^Configuration: .*DATABASE_URL.*SUPABASE_URL/);
});

test("In production, APP_ORIGIN can start with http:// only for a loopback address.", () => {
  for (const APP_ORIGIN of ["http://localhost:3000", "http://127.0.0.1:3000", "http://[::1]:3000"])
    expect(readSettings({ NODE_ENV: "production", APP_ORIGIN }).origin).toBe(APP_ORIGIN);
  for (const APP_ORIGIN of ["http://portal.example", "http://192.168.1.5:3000"])
    expect(getErrorMessage({ NODE_ENV: "production", APP_ORIGIN })).toMatch(/^Configuration: .*\bAPP_ORIGIN\b/);
});

/**
 * Returns the error message for the invalid settings in `environment`. Checks that the message is one short line
 * without a secret.
 */
function getErrorMessage(environment: NodeJS.ProcessEnv): string {
  try {
    readSettings(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    const { message } = error as Error;
    expect(message).toMatch(/^.{1,199}$/);
    expect(message).not.toContain(secret.slice(0, 12));
    return message;
  }
  throw new Error("The settings are valid, but the test expects an error.");
}

test.each([
  [true, { APP_ORIGIN: "http://127.0.0.1:3000" }],
  [true, { APP_ORIGIN: "https://portal.example", TRUSTED_PROXIES: "10.0.0.1" }],
  [false, { APP_ORIGIN: "https://portal.example" }],
  [false, { APP_ORIGIN: "https://portal.example", TRUSTED_PROXIES: " , " }],
])("The setting hasVisitorIps is %s with the environment variables %j.", (hasVisitorIps, environment) => {
  expect(readSettings(environment).hasVisitorIps).toBe(hasVisitorIps);
});
