import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { Fault } from "../support/fault-proxy.ts";
import { createPdf, getTestApp, type TestBrowser } from "../support/test-app.ts";

const app = await getTestApp();
const client = app.browser();
const email = await client.signUpAndLogIn("Retried");
const shipment = await client.createShipment("Tea");
afterEach(() => app.proxy.fail("none"));

const pageCall = /^GET \/rest\/v1\/rpc\/portal_page/;

/** Makes matching calls fail while a job runs. Returns the number of these calls and the duration in milliseconds. */
async function measureCalls(fault: Fault, pattern: RegExp, run: () => Promise<unknown>) {
  app.proxy.fail(fault, pattern);
  const start = performance.now();
  const calls = await app.proxy.during(run);
  return { count: calls.filter((call) => pattern.test(call)).length, ms: performance.now() - start };
}

async function newExpiredBrowser(): Promise<TestBrowser> {
  const browser = app.browser();
  await browser.logIn(email);
  const session = Buffer.from((browser.cookies.get("session") ?? "").replace("base64-", ""), "base64url").toString();
  const expired = JSON.stringify({ ...JSON.parse(session), expires_at: 1 });
  browser.cookies.set("session", `base64-${Buffer.from(expired).toString("base64url")}`);
  return browser;
}

test.each<Fault>([502, 503, 504, "close"])(
  "A failing call that only reads data is made three times (%s).",
  async (fault) => {
    const { count, ms } = await measureCalls(fault, pageCall, () => client.get("/portal"));
    expect(count).toBe(3);
    expect(ms).toBeGreaterThan(590);
  },
);

test.each<Fault>([502, 503, 504, "close"])(
  "A failing refresh of a session is tried three times, all before the response (%s).",
  async (fault) => {
    const browser = await newExpiredBrowser();
    const { count } = await measureCalls(fault, /grant_type=refresh_token/, async () => {
      expect((await browser.get("/portal")).status).toBe(503);
      await setTimeout(1000);
    });
    expect(count).toBe(3);
  },
);

test.each<Fault>([500, 404, "html"])("A call that the backend rejects is not repeated (%s).", async (fault) => {
  expect((await measureCalls(fault, pageCall, () => client.get("/portal"))).count).toBe(1);
});

const upload = async (document: string) => {
  const page = await client.open(shipment);
  return () => client.submit(page, `Upload the ${document}`, { file: createPdf() });
};
const writes: [string, RegExp, () => Promise<() => Promise<Response>>][] = [
  [
    "a new shipment",
    /^POST \/rest\/v1\/shipments/,
    async () => {
      const form = await client.open("/portal/new");
      return () => client.submit(form, "Create Shipment", { name: "Once" });
    },
  ],
  ["a file", /^POST \/storage/, () => upload("Commercial Invoice")],
  ["a document's update", /^PATCH \/rest\/v1\/documents/, () => upload("Packing List")],
  [
    "a login",
    /grant_type=password/,
    async () => () => app.browser().post("/login", { email, password: "not the password" }),
  ],
];
test.each(
  writes.flatMap(([what, ...rest]) => ([503, "close"] as const).map((fault) => [what, fault, ...rest] as const)),
)("The call for %s, which may have succeeded, is not repeated (%s).", async (_what, fault, pattern, prepare) => {
  expect((await measureCalls(fault, pattern, await prepare())).count).toBe(1);
});
