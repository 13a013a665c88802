import { afterAll, beforeAll, expect, test } from "vitest";
import { theApp } from "../support/routes.ts";

let app: Awaited<ReturnType<typeof theApp>>;
beforeAll(async () => {
  app = await theApp();
});
afterAll(() => app.proxy.close());

test("a visitor who asks for the portal is sent to the login", async () => {
  const response = await app.browser().get("/portal");
  expect(response.status).toBe(303);
  expect(response.headers.get("Location")).toBe("/login");
});

test("a client who signed up, confirmed and logged in sees the welcome with the full name", async () => {
  const browser = app.browser();
  await browser.signUpAndIn("Wanjiru");
  const page = await (await browser.get("/portal")).text();
  expect(page).toContain("Wanjiru");
  expect(page).toContain("You have no shipments yet. Click &quot;Create Shipment&quot; to get started!");
});
