import process from "node:process";
import { afterEach, expect, test } from "vitest";
import { listButtons } from "../support/page-parts.ts";
import { issueClientIds } from "../support/service-role.ts";
import {
  createPdf,
  expectNoInternals,
  getTestApp,
  noStorePattern,
  type ParsedPage,
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

/**
 * Sends `requests` in parallel while the backend calls that match `calls` hang. Checks that all responses arrive within
 * twice the deadline. Returns the pages.
 */
async function sendWhileHanging(calls: RegExp, requests: (() => Promise<Response>)[]): Promise<ParsedPage[]> {
  app.proxy.fail("hang", calls);
  const start = performance.now();
  const responses = await Promise.all(requests.map((send) => send()));
  expect(performance.now() - start).toBeLessThan(2000 * deadlineSeconds);
  app.proxy.fail("none");
  return Promise.all(responses.map(parsePage));
}

const openWhileHanging = (calls: RegExp, paths: string[]) =>
  sendWhileHanging(
    calls,
    paths.map((path) => () => client.get(path)),
  );

test.each([
  ["every backend call", /./],
  ["the page's own backend call", /portal_page/],
])(
  "While %s hangs, the portal shows an error at the deadline. Afterwards, the portal shows its page again.",
  async (_calls, pattern) => {
    for (const page of await openWhileHanging(pattern, ["/portal", shipment])) {
      expect(page.status).toBe(503);
      expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
      expect(page.toasts).toEqual([
        { title: "Error fetching shipments", description: unavailableText, variant: "destructive" },
      ]);
      expect(listButtons(page)).toContain("Sign out");
      expect(page.text).not.toContain("You have no shipments yet");
      expectNoInternals(page);
    }
    expect(client.cookies.has("session")).toBe(true);
    for (const path of ["/portal", shipment]) expect((await client.get(path)).status).toBe(200);
  },
);

test("The portal works while only Supabase Auth hangs.", async () => {
  for (const page of await openWhileHanging(/\/auth\//, ["/portal", shipment]))
    expect([page.status, page.text.includes("Tea")]).toEqual([200, true]);
});

test("While the backend hangs, the login page shows its form to a client with a session.", async () => {
  const [page] = await openWhileHanging(/./, ["/login"]);
  expect([page?.status, page?.h1]).toEqual([200, "Client Login"]);
  expect(client.cookies.has("session")).toBe(true);
});

test("Every form shows an error at the deadline while the form's backend call hangs.", async () => {
  const [clientId = ""] = await issueClientIds(app.company, 1);
  const signUp = { clientId, fullName: "Late", email: "late@client.example", password };
  const confirmation = { token: "0123456789abcdef".repeat(2), email, password };
  const newShipment = { name: "Beans", idempotencyKey: crypto.randomUUID() };
  const page = await client.open(shipment);
  const logIn = () => app.browser().post("/login", { email, password });
  const forms = [
    logIn,
    () => app.browser().post("/signup", signUp),
    () => app.browser().post("/auth/confirm", confirmation),
    () => client.post("/portal/new", newShipment),
    () => client.submit(page, "Upload the Packing List", { file: createPdf() }),
  ];
  const calls = /grant_type=password|\/auth\/v1\/signup|^POST \/rest\/v1\/shipments|\/storage\/v1\/object/;
  const pages = [...(await sendWhileHanging(calls, forms)), ...(await sendWhileHanging(/consume_rate_limit/, [logIn]))];
  const toast = expect.objectContaining({ description: unavailableText, variant: "destructive" });
  expect(pages.map(({ status, toasts }) => [status, toasts.at(-1)])).toEqual(Array(6).fill([503, toast]));
});
