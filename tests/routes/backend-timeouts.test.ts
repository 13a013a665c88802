import process from "node:process";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { issueClientIds } from "../support/service-role.ts";
import {
  createPdf,
  expectNoInternals,
  getTestApp,
  getText,
  noStorePattern,
  parsePage,
  password,
  type TestBrowser,
  unavailableText,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let client: TestBrowser;
let email: string;
let shipment: string;
beforeAll(async () => {
  Object.assign(process.env, { PAGE_SECONDS: "4", WRITE_SECONDS: "4", UPLOAD_SECONDS: "4" });
  app = await getTestApp();
  client = app.browser();
  email = await client.signUpAndLogIn("Waiting");
  shipment = await client.createShipment("Tea");
});
afterEach(() => app.proxy.fail("none"));

/** In milliseconds: less than two deadlines in a row. */
const twoDeadlinesMs = 8000;

/** The page that a request gets while the backend hangs, and after how many milliseconds. */
async function measureWhileHanging(of: RegExp, act: () => Promise<Response>) {
  app.proxy.fail("hang", of);
  const begun = performance.now();
  const answer = await act();
  const ms = performance.now() - begun;
  app.proxy.fail("none");
  return { page: await parsePage(answer), ms };
}

describe("when the backend hangs, the portal says so at its deadline, one can still sign out, and it is there again", () => {
  test.each([
    ["in everything", /./],
    ["as the page is read", /portal_page/],
  ])("%s", async (_where, of) => {
    for (const path of ["/portal", shipment]) {
      const { page, ms } = await measureWhileHanging(of, () => client.get(path));
      expect(ms).toBeLessThan(twoDeadlinesMs);
      expect(page.status).toBe(503);
      expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
      expect(page.toasts).toEqual([
        { title: "Error fetching shipments", description: unavailableText, variant: "destructive" },
      ]);
      expect(page.all("header button").map(getText)).toContain("Sign out");
      expect(page.text).not.toContain("You have no shipments yet");
      expect(client.cookies.has("session")).toBe(true);
      expectNoInternals(page);
      expect((await client.get(path)).status).toBe(200);
    }
  });
});

test("when only auth hangs, the portal is there", async () => {
  for (const path of ["/portal", shipment]) {
    const { page } = await measureWhileHanging(/\/auth\//, () => client.get(path));
    expect(page.status).toBe(200);
    expect(page.text).toContain("Tea");
  }
});

test("when the backend hangs, the login shows its form after one deadline to who has a session", async () => {
  const { page, ms } = await measureWhileHanging(/./, () => client.get("/login"));
  expect([page.status, page.h1]).toEqual([200, "Client Login"]);
  expect(ms).toBeLessThan(twoDeadlinesMs);
  expect(client.cookies.has("session")).toBe(true);
});

describe("when the backend hangs, a form is answered in its time", () => {
  const logIn = async () => () => app.browser().post("/login", { email, password });
  const acts = [
    { what: "a login", of: /grant_type=password/, ready: logIn },
    { what: "a login whose attempts cannot be counted", of: /consume_rate_limit/, ready: logIn },
    {
      what: "a sign-up",
      of: /\/auth\/v1\/signup/,
      ready: async () => {
        const [clientId = ""] = await issueClientIds(app.company, 1);
        const form = { clientId, fullName: "Late", email: "late@client.example", password };
        return () => app.browser().post("/signup", form);
      },
    },
    {
      what: "a confirmation",
      of: /grant_type=password/,
      ready: async () => () =>
        app.browser().post("/auth/confirm", { token: "0123456789abcdef0123456789abcdef", email, password }),
    },
    {
      what: "a new shipment",
      of: /^POST \/rest\/v1\/shipments/,
      ready: async () => () => client.post("/portal/new", { name: "Beans", idempotencyKey: crypto.randomUUID() }),
    },
    {
      what: "an upload",
      of: /\/storage\/v1\/object/,
      ready: async () => {
        const page = await client.open(shipment);
        return () => client.submit(page, "Upload the Packing List", { file: createPdf() });
      },
    },
  ];
  test.each(acts)("$what", async ({ of, ready }) => {
    const { page, ms } = await measureWhileHanging(of, await ready());
    expect(page.status).toBe(503);
    expect(page.toasts.at(-1)).toMatchObject({ description: unavailableText, variant: "destructive" });
    expect(ms).toBeLessThan(twoDeadlinesMs);
  });
});
