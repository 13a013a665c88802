import { afterAll, beforeAll, expect, test } from "vitest";
import { Authenticator } from "../support/authenticator.ts";
import { freePort } from "../support/free-port.ts";
import { getConfirmationLink, readEmailsTo } from "../support/outbox.ts";
import { createServiceRoleClient } from "../support/service-role.ts";
import { killProcess, type SiteProcess } from "../support/site-process.ts";
import { createSiteSandbox, demoCredentials } from "../support/site-sandbox.ts";
import { createPdf, parsePage, pdfEnd } from "../support/test-app.ts";

let sandbox: Awaited<ReturnType<typeof createSiteSandbox>>;
let site: SiteProcess;
let metricsPort: string;
beforeAll(async () => {
  metricsPort = String(await freePort());
  sandbox = await createSiteSandbox({
    TRUSTED_PROXIES: "127.0.0.1",
    MAIL_FROM: "Mizigo <desk@sender.example>",
    METRICS_PORT: metricsPort,
  });
  site = sandbox.start();
  await site.waitUntilReady();
});
afterAll(() => sandbox.leave());

async function readMetrics(): Promise<string[]> {
  return (await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).split("\n");
}

test("The metrics contain the numbers of responses, backend calls and transfers, and the numbers of emails in the database.", async () => {
  const browser = sandbox.browser();
  for (let visit = 0; visit < 2; visit += 1) await browser.get("/about");
  await browser.post("/login", demoCredentials);
  const created = await browser.post("/portal/new", { name: "Measured", idempotencyKey: crypto.randomUUID() });
  const upload = { file: createPdf() };
  await browser.submit(await browser.open(created.headers.get("Location") ?? ""), "Upload the Packing List", upload);
  const serviceRole = createServiceRoleClient(sandbox.dataDir);
  await serviceRole.rpc("record_failed_email", { kind: "client ID", sent_to: "unknown@client.example" });
  const metrics = await readMetrics();
  expect(metrics).toEqual(
    expect.arrayContaining([
      'site_cached_responses_total{status="200"} 1',
      'site_request_duration_seconds_count{method="POST",route="/login",status="303"} 1',
      'site_transfers_in_progress{kind="uploads"} 0',
      expect.stringMatching(/^emails_waiting \d+$/),
      "emails_failed 1",
      expect.stringMatching(/^backend_call_duration_seconds_count\{service="auth",status="200"\} [1-9]/),
      expect.stringMatching(/^backend_call_duration_seconds_count\{service="storage",status="200"\} 1/),
      expect.stringMatching(/^process_resident_memory_bytes \d{8,}$/),
    ]),
  );
});

/** Secret and personal values that no log line and no metric may contain, by name. */
const secrets = new Map<string, string>();
const markSecret = (what: string, value: string) => {
  secrets.set(what, value);
  return value;
};

test("The log has one JSON line for each event and contains no secrets or personal data.", async () => {
  const browser = sandbox.browser();
  const issued = await sandbox.staff(["client-id", "issue", "--json"]);
  const clientId = markSecret("the client ID", JSON.parse(issued.stdout)[0]);
  const email = markSecret("the email address", "marked.person@client.example");
  const password = markSecret("the password", "m4rked-passw0rd");
  const fullName = markSecret("the name", "Marked Njoroge");
  await browser.post("/signup", { clientId, fullName, email, password });

  const link = new URL(await getConfirmationLink(sandbox.dataDir, email));
  markSecret("the confirmation token", link.searchParams.get("token_hash") ?? "");
  await browser.submit(await browser.open(link.pathname + link.search), "Confirm and log in", { email, password });
  const loggedOut = sandbox.browser();
  await loggedOut.post("/login", { email, password: markSecret("a wrong password", "m4rked-wr0ng") });
  await loggedOut.post("/login?next=/portal&q=m4rked-query", { email, password });
  markSecret("a query", "m4rked-query");
  const cookie = browser.cookies.get("session") ?? "";
  const session = JSON.parse(Buffer.from(cookie.replace("base64-", ""), "base64url").toString());
  for (const what of ["access_token", "refresh_token"] as const) markSecret(`the ${what}`, session[what]);
  markSecret("the cookie", cookie.slice(20, 60));

  const name = markSecret("the shipment's name", "m4rked goods");
  const created = await browser.submit(await browser.open("/portal/new"), "Create Shipment", { name });
  const shipment = await browser.open(created.headers.get("Location") ?? "");
  const file = new File([markSecret("a file", "%PDF-1.4 m4rked-content"), pdfEnd], "m4rked-file.pdf");
  markSecret("a file's name", "m4rked-file");
  await browser.submit(shipment, "Upload the Packing List", { file });
  const setup = await parsePage(await browser.submit(await browser.open("/portal/2fa"), "Set up 2FA"));
  markSecret("the authenticator's key", setup.value("secret"));
  const authenticator = new Authenticator(setup.value("secret"));
  await browser.submit(setup, "Enable 2FA", { code: markSecret("a wrong code", await authenticator.wrongCode()) });
  await browser.submit(setup, "Enable 2FA", { code: markSecret("a code", await authenticator.freshCode()) });
  const message = markSecret("a message", "m4rked-message");
  await browser.post("/contact", { name: fullName, email, subject: "m4rked", message });
  await browser.post("/portal/sign-out", {}, { Origin: "https://evil.example" });
  await browser.post("/portal/sign-out", {});
  const damaged = sandbox.browser();
  for (const value of ["m4rked-damage", "base64-m4rked&&", cookie.slice(0, 200)]) {
    damaged.cookies.set("session", value);
    await damaged.get("/portal");
  }
  markSecret("a damaged cookie", "m4rked-damage");
  for (let guess = 0; guess < 7; guess += 1) await browser.post("/login", { email, password: "m4rked-wr0ng" });
  const metrics = await readMetrics();
  expect(metrics).toContain('site_rate_limits_exceeded_total{limit="login browser"} 2');
  killProcess(sandbox.backendPid());
  await browser.post("/signup", { clientId, fullName, email, password });
  await expect.poll(() => site.output, { timeout: 30_000 }).toContain('"backend ended"');

  const lines = (site.output + issued.stderr).split("\n").filter((line) => line.trim() !== "");
  const introduction = /^ {2}(The site is at|Demo client|Demo lead| {2}2FA code|Unused Client ID|Emails go to) /;
  expect(lines.filter((line) => !line.startsWith("{") && !introduction.test(line))).toEqual([]);
  const time = expect.stringMatching(/^\d{4}-.*Z$/);
  const level = expect.stringMatching(/^(info|warn|error)$/);
  for (const line of site.jsonLines) expect(line).toMatchObject({ time, level });
  // Removes the number at the end of each metric, because this number can contain the digits of a code by chance.
  const texts = [...lines, ...metrics.map((metric) => metric.replace(/ \S+$/, ""))];
  const leaked = [...secrets].filter(([, secret]) => texts.some((line) => line.includes(secret)));
  expect(leaked).toEqual([]);

  const events = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line).event);
  expect(events).toEqual(
    expect.arrayContaining([
      ...["request", "sign-up", "sign-in", "sign-in failed", "code failed", "code accepted", "sign-out", "denied"],
      ...["limit", "backend ended", "staff action"],
    ]),
  );
  for (const line of site.jsonLines.filter(({ event }) => event === "request")) {
    expect(line).toMatchObject({
      requestId: expect.stringMatching(/^[0-9a-f]{12}$/),
      route: expect.stringMatching(/^\//),
    });
    expect(typeof line.status === "number" && (line.cached || typeof line.ms === "number")).toBe(true);
  }
});

test("The sender of the embedded backend's sign-up email is MAIL_FROM.", async () => {
  const [email] = await readEmailsTo(sandbox.dataDir, "marked.person@client.example");
  expect(email?.subject).toBe("Confirm your email address");
  expect(email?.from).toMatchObject({ name: "Mizigo", address: "desk@sender.example" });
});
