import process from "node:process";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { issueClientIds } from "../../app/models/client-id.server.ts";
import { type Browser, keptByNobody, password, pdf, read, theApp, unavailable, words } from "../support/routes.ts";

let app: Awaited<ReturnType<typeof theApp>>;
let client: Browser;
let email: string;
let shipment: string;
beforeAll(async () => {
  process.env.WRITE_SECONDS = "4";
  process.env.UPLOAD_SECONDS = "4";
  app = await theApp();
  client = app.browser();
  email = await client.signUpAndIn("Waiting");
  shipment = await client.createShipment("Tea");
});
afterEach(() => app.proxy.fail("none"));
afterAll(() => app.proxy.close());

/** The page that a person gets while the backend hangs, and after how many milliseconds. */
async function whileItHangs(of: RegExp, act: () => Promise<Response>) {
  app.proxy.fail("hang", of);
  const begun = performance.now();
  const page = await read(await act());
  app.proxy.fail("none");
  return { page, ms: performance.now() - begun };
}

describe("when the backend hangs, the portal says so within 6 seconds, and one can still sign out", () => {
  test.each([
    ["in everything", /./],
    ["as the session is checked", /\/auth\/v1\/user/],
    ["as the page is read", /portal_page/],
  ])("%s", async (_where, of) => {
    for (const path of ["/portal", shipment]) {
      const { page, ms } = await whileItHangs(of, () => client.get(path));
      expect(ms).toBeLessThan(6000);
      expect(page.status).toBe(503);
      expect(page.headers.get("Cache-Control") ?? "").toMatch(keptByNobody);
      expect(page.toasts).toEqual([
        { title: "Error fetching shipments", description: unavailable, variant: "destructive" },
      ]);
      expect(page.all("header button").map(words)).toContain("Sign out");
    }
  });
});

test("when the backend hangs, the login shows its form within 6 seconds to who has a session", async () => {
  const { page, ms } = await whileItHangs(/./, () => client.get("/login"));
  expect([page.status, page.h1]).toEqual([200, "Client Login"]);
  expect(ms).toBeLessThan(6000);
  expect(client.cookies.has("session")).toBe(true);
});

describe("when the backend hangs, a form is answered in its time", () => {
  const acts = [
    {
      what: "a login",
      of: /grant_type=password/,
      act: () => app.browser().post("/login", { email, password }),
    },
    {
      what: "a login whose attempts cannot be counted",
      of: /take_attempt/,
      act: () => app.browser().post("/login", { email, password }),
    },
    {
      what: "a sign-up",
      of: /\/auth\/v1\/signup/,
      act: async () => {
        const [clientId = ""] = await issueClientIds(app.company, 1);
        return app.browser().post("/signup", { clientId, fullName: "Late", email: "late@client.example", password });
      },
    },
    {
      what: "a confirmation",
      of: /\/auth\/v1\/verify/,
      act: () => app.browser().post("/auth/confirm", { token: "0123456789abcdef0123456789abcdef" }),
    },
    {
      what: "a new shipment",
      of: /^POST \/rest\/v1\/shipments/,
      act: () => client.post("/portal/new", { name: "Beans", requestId: crypto.randomUUID() }),
    },
    {
      what: "an upload",
      of: /\/storage\/v1\/object/,
      act: async () => client.press(await client.open(shipment), "Upload the Packing List", { file: pdf() }),
    },
  ];
  test.each(acts)("$what", async ({ of, act }) => {
    const { page, ms } = await whileItHangs(of, act);
    expect(page.status).toBe(503);
    expect(page.toasts.at(-1)).toMatchObject({ description: unavailable, variant: "destructive" });
    expect(ms).toBeLessThan(8000);
  });
});
