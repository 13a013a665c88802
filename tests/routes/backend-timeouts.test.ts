import process from "node:process";
import { afterEach, expect, test } from "vitest";
import { listButtons } from "../support/page-parts.ts";
import { issueClientIds } from "../support/service-role.ts";
import {
  createPdf,
  expectNoInternals,
  getTestApp,
  noStorePattern,
  parsePage,
  password,
  unavailableText,
} from "../support/test-app.ts";

const deadlineSeconds = 4;

const seconds = String(deadlineSeconds);
Object.assign(process.env, { PAGE_SECONDS: seconds, WRITE_SECONDS: seconds, UPLOAD_SECONDS: seconds });
const app = await getTestApp();
const client = app.browser();
const email = await client.signUpAndLogIn("Waiting");
const shipment = await client.createShipment("Tea");
afterEach(() => app.proxy.fail("none"));

/** Sends a request while matching calls hang. Expects the response in less than twice the deadline of a call. */
async function sendWhileHanging(calls: RegExp, send: () => Promise<Response>) {
  app.proxy.fail("hang", calls);
  const start = performance.now();
  const response = await send();
  expect(performance.now() - start).toBeLessThan(2000 * deadlineSeconds);
  app.proxy.fail("none");
  return parsePage(response);
}

test.each([
  ["every call", /./],
  ["the call of the page", /portal_page/],
])("The portal shows an error at the deadline while %s hangs, and the page afterwards.", async (_calls, pattern) => {
  for (const path of ["/portal", shipment]) {
    const page = await sendWhileHanging(pattern, () => client.get(path));
    expect(page.status).toBe(503);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(page.toasts).toEqual([
      { title: "Error fetching shipments", description: unavailableText, variant: "destructive" },
    ]);
    expect(listButtons(page)).toContain("Sign out");
    expect(page.text).not.toContain("You have no shipments yet");
    expect(client.cookies.has("session")).toBe(true);
    expectNoInternals(page);
    expect((await client.get(path)).status).toBe(200);
  }
});

test("The portal opens while only Supabase Auth hangs.", async () => {
  for (const path of ["/portal", shipment]) {
    const page = await sendWhileHanging(/\/auth\//, () => client.get(path));
    expect([page.status, page.text.includes("Tea")]).toEqual([200, true]);
  }
});

test("The login page shows its form to a client with a session while the backend hangs.", async () => {
  const page = await sendWhileHanging(/./, () => client.get("/login"));
  expect([page.status, page.h1]).toEqual([200, "Client Login"]);
  expect(client.cookies.has("session")).toBe(true);
});

const prepareLogin = async () => () => app.browser().post("/login", { email, password });
test.each<[string, RegExp, () => Promise<() => Promise<Response>>]>([
  ["a login", /grant_type=password/, prepareLogin],
  ["a login whose attempt is being counted", /consume_rate_limit/, prepareLogin],
  [
    "a sign-up",
    /\/auth\/v1\/signup/,
    async () => {
      const [clientId = ""] = await issueClientIds(app.company, 1);
      const form = { clientId, fullName: "Late", email: "late@client.example", password };
      return () => app.browser().post("/signup", form);
    },
  ],
  [
    "a confirmation",
    /grant_type=password/,
    async () => () => app.browser().post("/auth/confirm", { token: "0123456789abcdef".repeat(2), email, password }),
  ],
  [
    "a new shipment",
    /^POST \/rest\/v1\/shipments/,
    async () => () => client.post("/portal/new", { name: "Beans", idempotencyKey: crypto.randomUUID() }),
  ],
  [
    "an upload",
    /\/storage\/v1\/object/,
    async () => {
      const page = await client.open(shipment);
      return () => client.submit(page, "Upload the Packing List", { file: createPdf() });
    },
  ],
])("The form of %s shows an error at the deadline while the backend hangs.", async (_what, calls, prepare) => {
  const page = await sendWhileHanging(calls, await prepare());
  expect(page.status).toBe(503);
  expect(page.toasts.at(-1)).toMatchObject({ description: unavailableText, variant: "destructive" });
});
