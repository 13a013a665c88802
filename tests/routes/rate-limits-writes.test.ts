import process from "node:process";
import { expect, test } from "vitest";
import { expectRateLimited, getStatus, logIn, wrongPassword } from "../support/rate-limits.ts";
import { createPatternedPdf, createResumableUpload } from "../support/resumable-upload.ts";
import { countEmailsTo, newClient, newEmailAddress } from "../support/route-fixtures.ts";
import { createPdf, type FormValues, getTestApp, parsePage, password } from "../support/test-app.ts";

process.env.WRITES_PER_MINUTE = "6";
const app = await getTestApp();

const tooManyWrites = /^Too many changes in one minute\. Try again in \d+ seconds?\.$/;

test("After the maximum number of changes in a minute, a client can only read pages and sign out.", async () => {
  const { browser } = await newClient(app, "Busy");
  const [path = ""] = await Promise.all([1, 2, 3, 4, 5, 6].map((number) => browser.createShipment(`Number ${number}`)));
  const form = await browser.open("/portal/new");
  const calls = await app.proxy.during(async () => {
    const page = await parsePage(await browser.submit(form, "Create Shipment", { name: "One too many" }));
    expectRateLimited(page, "Failed to create shipment", tooManyWrites, 60);
    expect(page.value("name")).toBe("One too many");
    expect(page.value("idempotencyKey")).toBe(form.value("idempotencyKey"));

    const shipment = await browser.open(path);
    expect(shipment.status).toBe(200);
    const upload = await parsePage(await browser.submit(shipment, "Upload the Packing List", { file: createPdf() }));
    const toast = { title: "Upload failed", description: expect.stringMatching(tooManyWrites) };
    expect([upload.status, upload.toasts.at(-1)]).toEqual([429, expect.objectContaining(toast)]);
    const setup = await parsePage(await browser.submit(await browser.open("/portal/2fa"), "Set up 2FA"));
    expect([setup.status, setup.toasts.at(-1)?.title]).toEqual([429, "Error setting up 2FA"]);
    expect(Number(setup.headers.get("Retry-After"))).toBeGreaterThan(0);
  });
  expect(calls.filter((call) => /^POST .*(\/shipments|\/storage\/|factors)/.test(call))).toEqual([]);

  const otherClient = await newClient(app, "Calm");
  expect(await otherClient.browser.createShipment("Not limited")).toMatch(/^\/portal\/[0-9a-f-]{36}$/);
  expect(await getStatus(browser.post("/portal/sign-out", {}))).toBe(303);
  expect(browser.cookies.has("session")).toBe(false);
});

test("Each request that sends a part of a large file counts as a change. A request for the number of stored bytes does not.", async () => {
  const { browser } = await newClient(app, "Parts");
  const path = await browser.createShipment("Parts");
  const document = (await browser.open(path)).form("Upload the Packing List").fields.document as string;
  const upload = await createResumableUpload(browser, path, document, createPatternedPdf("list.pdf", 1_200_000));
  for (let start = 0; start < 1_000_000; start += 200_000) {
    expect(await upload.ask()).toMatchObject({ storedBytes: start });
    expect(await upload.send(start, start + 200_000)).toMatchObject({ status: 200 });
  }
  const calls = await app.proxy.during(async () => {
    const toast = { title: "Upload failed", description: expect.stringMatching(tooManyWrites) };
    for (const response of [await upload.send(1_000_000), await upload.finish()])
      expect(response).toMatchObject({ status: 429, toast });
  });
  expect(calls.filter((call) => call.includes("/storage/"))).toEqual([]);
  expect(await upload.ask()).toMatchObject({ status: 200, storedBytes: 1_000_000 });
});

test("Each form of the account page counts as a change, even if the form is rejected.", async () => {
  const { browser, email } = await newClient(app, "Fickle");
  const newEmail = newEmailAddress("Fickle Address", "client.example");
  const page = await browser.open("/portal/account");
  const forms: [string, FormValues, number][] = [
    ["Save email settings", { enabled: "yes" }, 303],
    ["Change password", { currentPassword: wrongPassword, password: "a new password" }, 400],
    ["Change email", { currentPassword: wrongPassword, email: newEmail }, 400],
  ];
  for (const [button, fields, status] of [...forms, ...forms])
    expect([button, await getStatus(browser.submit(page, button, fields))]).toEqual([button, status]);
  browser.cookies.delete("flash");
  const { enabled: _, ...unticked } = page.form("Save email settings").fields as Record<string, string>;
  for (const response of [
    await browser.post("/portal/account", unticked),
    await browser.submit(page, "Change password", { currentPassword: password, password: "a new password" }),
    await browser.submit(page, "Change email", { currentPassword: password, email: newEmail }),
  ]) {
    expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(0);
    const rejected = await parsePage(response);
    expect([rejected.status, rejected.problems[0]?.text]).toEqual([429, expect.stringMatching(tooManyWrites)]);
  }
  expect(await getStatus(logIn(app.browser(), email, password))).toBe(303);
  expect([await countEmailsTo(email), await countEmailsTo(newEmail)]).toEqual([0, 0]);
  const [box] = (await browser.open("/portal/account")).all("#shipment-emails input[name=enabled]");
  expect(box?.hasAttribute("checked")).toBe(true);
});

test("Requests for pages do not count towards the rate limit of changes.", async () => {
  const { browser } = await newClient(app, "Reader");
  const path = await browser.createShipment("Read");
  const calls = await app.proxy.during(async () => {
    for (const address of ["/portal", path, "/portal/new", "/portal/2fa", "/contact", "/"])
      expect([address, await getStatus(browser.get(address))]).toEqual([address, 200]);
  });
  expect(calls.filter((call) => call.includes("rate_limit"))).toEqual([]);
});
