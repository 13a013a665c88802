import { setTimeout } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Fault } from "../support/fault-proxy.ts";
import { createPdf, getTestApp, type TestBrowser } from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let client: TestBrowser;
let email: string;
let shipment: string;
beforeAll(async () => {
  app = await getTestApp();
  client = app.browser();
  email = await client.signUpAndLogIn("Retried");
  shipment = await client.createShipment("Tea");
});
afterEach(() => app.proxy.fail("none"));

/** How many matching calls, all failing, the backend gets during an act, and how many milliseconds it takes. */
async function measureCalls(fault: Fault, of: RegExp, act: () => Promise<unknown>) {
  app.proxy.fail(fault, of);
  const begun = performance.now();
  const calls = await app.proxy.during(act);
  return { times: calls.filter((call) => of.test(call)).length, ms: performance.now() - begun };
}

/** A browser whose session has to be renewed. */
async function newExpiredBrowser(): Promise<TestBrowser> {
  const browser = app.browser();
  await browser.logIn(email);
  const kept = Buffer.from((browser.cookies.get("session") ?? "").replace("base64-", ""), "base64url").toString();
  const ended = JSON.stringify({ ...JSON.parse(kept), expires_at: 1 });
  browser.cookies.set("session", `base64-${Buffer.from(ended).toString("base64url")}`);
  return browser;
}

describe("a backend that comes back within a moment is noticed by nobody:", () => {
  test.each<Fault>([502, 503, 504, "close"])("what only reads is asked three times: %s", async (fault) => {
    const { times, ms } = await measureCalls(fault, /^GET \/rest\/v1\/rpc\/portal_page/, () => client.get("/portal"));
    expect(times).toBe(3);
    expect(ms).toBeGreaterThan(590);
  });

  test.each<Fault>([502, 503, 504, "close"])("so is the renewal of a session: %s", async (fault) => {
    const browser = await newExpiredBrowser();
    const { times } = await measureCalls(fault, /grant_type=refresh_token/, async () => {
      expect((await browser.get("/portal")).status).toBe(503);
      // No further attempt follows after the answer.
      await setTimeout(1000);
    });
    expect(times).toBe(3);
  });

  test.each<Fault>([500, 404, "html"])("what is an answer is not asked for again: %s", async (fault) => {
    const { times } = await measureCalls(fault, /^GET \/rest\/v1\/rpc\/portal_page/, () => client.get("/portal"));
    expect(times).toBe(1);
  });
});

describe("a write that may have succeeded is not repeated:", () => {
  const acts = [
    {
      what: "a shipment",
      of: /^POST \/rest\/v1\/shipments/,
      prepare: async () => {
        const form = await client.open("/portal/new");
        return () => client.submit(form, "Create Shipment", { name: "Once" });
      },
    },
    {
      what: "a file",
      of: /^POST \/storage/,
      prepare: async () => {
        const page = await client.open(shipment);
        return () => client.submit(page, "Upload the Commercial Invoice", { file: createPdf() });
      },
    },
    {
      what: "the mark of a document",
      of: /^PATCH \/rest\/v1\/documents/,
      prepare: async () => {
        const page = await client.open(shipment);
        return () => client.submit(page, "Upload the Packing List", { file: createPdf() });
      },
    },
    {
      what: "a login",
      of: /grant_type=password/,
      prepare: async () => () => app.browser().post("/login", { email, password: "not the password" }),
    },
  ];
  test.each(acts.flatMap((act) => ([503, "close"] as const).map((fault) => ({ ...act, fault }))))(
    "$what, when the backend answers $fault",
    async ({ of, fault, prepare }) => {
      expect((await measureCalls(fault, of, await prepare())).times).toBe(1);
    },
  );
});
