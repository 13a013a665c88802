import { setTimeout } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { allFaults, type Fault, faults } from "../support/fault-proxy.ts";
import { noFile, setUpInvoice } from "../support/invoice-fixtures.ts";
import { getHref, listButtons } from "../support/page-parts.ts";
import { changeSession } from "../support/session-cookie.ts";
import {
  createPdf,
  expectNoInternals,
  getText,
  noStorePattern,
  type ParsedPage,
  parsePage,
  unavailableText,
} from "../support/test-app.ts";

const invoice = await setUpInvoice("Patient");
const { app, client, owner, readDocument, listFiles } = invoice;
afterEach(() => app.proxy.fail("none"));

/**
 * Checks that `page` is an error page of the portal with the toast title `title`, and that the client is still signed
 * in.
 */
function expectFailure(page: ParsedPage, fault: Fault, title: string): void {
  expect([fault, [502, 503].includes(page.status)]).toEqual([fault, true]);
  expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  expect(page.toasts.at(-1)).toEqual({ title, description: unavailableText, variant: "destructive" });
  expect(listButtons(page)).toContain("Sign out");
  expect(getText(page.all("footer")[0])).toContain("Head office, Nairobi");
  expect(client.cookies.has("session")).toBe(true);
  expectNoInternals(page);
}

test("While the backend fails, the portal shows an error instead of shipments. Afterwards, the portal shows the shipments.", async () => {
  for (const fault of [...allFaults, "other json"] as const) {
    app.proxy.fail(fault, /^GET \/rest\/v1\/rpc\/portal_page/);
    const [list, shipment] = await Promise.all([client.open("/portal"), client.open(invoice.path)]);
    for (const page of [list, shipment]) expectFailure(page, fault, "Error fetching shipments");
    expect(list.h1).toBe("My Shipments");
    expect(list.text).not.toContain("You have no shipments yet");
    expect(getHref(shipment, "Try again")).toBe(invoice.path);
  }
  app.proxy.fail("none");
  const again = await client.open("/portal");
  expect([again.status, again.text.includes(invoice.path.slice(8, 16))]).toEqual([200, true]);
  expect((await client.open(invoice.path)).h1).toBe("Documents");
});

test("While a client's access token is valid, the portal makes no call to Supabase Auth.", async () => {
  const calls = await app.proxy.during(async () => {
    expect((await client.open(invoice.path)).h1).toBe("Documents");
    const form = await client.open("/portal/new");
    expect((await client.submit(form, "Create Shipment", { name: "Created without auth" })).status).toBe(303);
  });
  client.cookies.delete("flash");
  expect(calls.filter((call) => call.includes("/auth/"))).toEqual([]);
});

describe("Creating a shipment", () => {
  async function countDocuments(name: string): Promise<number[]> {
    const { data, error } = await app.company.from("shipments").select("id, documents (name)").eq("name", name);
    if (error) throw error;
    return data.map(({ documents }) => documents.length);
  }

  test.each([
    ["the check of the session", faults, /get_viewer/],
    ["the write of the shipment", allFaults, /^POST \/rest\/v1\/shipments/],
  ] as const)(
    "While %s fails, no shipment is created. Afterwards, the same form creates a shipment.",
    async (calls, kinds, pattern) => {
      const name = `Beans & <peas>, ${calls}`;
      const form = await client.open("/portal/new");
      for (const fault of kinds) {
        app.proxy.fail(fault, pattern);
        const page = await parsePage(await client.submit(form, "Create Shipment", { name }));
        expectFailure(page, fault, "Failed to create shipment");
        expect(page.title).toMatch(/^Error: Create Shipment/);
        expect(page.value("name")).toBe(name);
      }
      app.proxy.fail("none");
      expect(await countDocuments(name)).toEqual([]);
      expect((await client.follow(await client.submit(form, "Create Shipment", { name }))).h1).toBe(name);
      expect(await countDocuments(name)).toEqual([4]);
    },
  );

  test("A form for a new shipment that is sent again after a lost response redirects to the shipment of the first request.", async () => {
    const form = await client.open("/portal/new");
    app.proxy.fail("lost answer", /^POST \/rest\/v1\/shipments/);
    const page = await parsePage(await client.submit(form, "Create Shipment", { name: "Found again" }));
    expectFailure(page, "lost answer", "Failed to create shipment");
    app.proxy.fail("none");
    expect((await client.follow(await client.submit(page, "Create Shipment"))).h1).toBe("Found again");
    expect(await countDocuments("Found again")).toEqual([4]);
  });
});

describe("Uploading a file", () => {
  /** Uploads a file while the backend calls that match `calls` fail. Returns the page in the response. */
  async function uploadDuring(fault: Fault, calls: RegExp, form?: ParsedPage): Promise<ParsedPage> {
    app.proxy.fail(fault, calls);
    const response = await invoice.upload(createPdf(), form ?? (await client.open(invoice.path)));
    app.proxy.fail("none");
    return parsePage(response);
  }

  async function expectUploaded(): Promise<void> {
    expect((await client.open(invoice.path)).text).toContain("Invoice Uploaded. We are checking your file");
    expect(await readDocument()).toMatchObject({ uploaded: true, file_name: "invoice.pdf" });
    expect(await listFiles()).toContain("commercial-invoice-invoice.pdf");
  }

  test.each([
    ["the check of the document", faults, /\/rpc\/require_upload_allowed/, "Upload failed"],
    ["the file store", allFaults, /\/storage\/v1\/object/, "Upload failed"],
    ["its update", [...faults, "other json"], /\/rpc\/record_upload/, "Failed to update document status"],
  ] as const)(
    "While %s fails, a document gets no file. Afterwards, the same form uploads the file.",
    async (_calls, kinds, pattern, title) => {
      const form = await client.open(invoice.path);
      for (const fault of kinds) {
        const page = await uploadDuring(fault, pattern, form);
        expectFailure(page, fault, title);
        expect(page.title).toMatch(/^Error: Documents/);
        for (const { id } of page.problems) expect(page.has(id)).toBe(true);
        expect(page.text).toContain("Commercial Invoice Not uploaded");
      }
      expect(await readDocument()).toMatchObject(noFile);
      expect((await invoice.upload(createPdf(), form)).status).toBe(303);
      await expectUploaded();
    },
  );

  test("If the storage's response is lost and the client sends the file again, the second file becomes the document's file.", async () => {
    const page = await uploadDuring("lost answer", /^POST \/storage\/v1\/object/);
    expectFailure(page, "lost answer", "Upload failed");
    expect(await readDocument()).toMatchObject(noFile);
    expect((await invoice.upload(createPdf("invoice.pdf", 3000), page)).status).toBe(303);
    await expectUploaded();
    expect((await (await invoice.download()).arrayBuffer()).byteLength).toBe(3000);
  });

  test("If only the response to the document's update is lost, the document has its file.", async () => {
    const page = await uploadDuring("lost answer", /\/rpc\/record_upload/);
    expect(page.toasts[0]?.title).toBe("Failed to update document status");
    for (const { id } of page.problems) expect(page.has(id), `the link to #${id}`).toBe(true);
    await expectUploaded();
  });

  test("The second of two parallel uploads is rejected, even if the second file cannot be deleted from the storage.", async () => {
    const form = await client.open(invoice.path);
    app.proxy.fail(503, /^DELETE \/storage/);
    const responses = await Promise.all([1, 2].map(() => invoice.upload(createPdf(), form)));
    const pages = await Promise.all(responses.filter(({ status }) => status !== 303).map(parsePage));
    expect(pages.map(({ status }) => status)).toEqual([409]);
    expect(pages[0]?.toasts[0]?.description).toBe(
      "This document already has a file. To upload another file, remove the current file first.",
    );
    client.cookies.delete("flash");
    await expectUploaded();
  });
});

describe("Repeated backend calls", () => {
  const pageCall = /^GET \/rest\/v1\/rpc\/portal_page/;

  /**
   * Makes the backend calls that match `pattern` fail, and executes `run`. Returns the number of these calls during
   * `run`.
   */
  async function countCalls(fault: Fault, pattern: RegExp, run: () => Promise<unknown>): Promise<number> {
    app.proxy.fail(fault, pattern);
    return (await app.proxy.during(run)).filter((call) => pattern.test(call)).length;
  }

  test.each<Fault>([502, 503, 504, "close"])(
    "The site makes a failing backend call three times if the call only reads data (%s).",
    async (fault) => {
      const start = performance.now();
      expect(await countCalls(fault, pageCall, () => client.get("/portal"))).toBe(3);
      expect(performance.now() - start).toBeGreaterThan(590);
    },
  );

  test.each<Fault>([503, "close"])(
    "The site tries a failing refresh of a session three times before it responds (%s).",
    async (fault) => {
      const browser = app.browser();
      await browser.logIn(owner.email);
      changeSession(browser, { expires_at: 1 });
      const count = await countCalls(fault, /grant_type=refresh_token/, async () => {
        expect((await browser.get("/portal")).status).toBe(503);
        await setTimeout(1000);
      });
      expect(count).toBe(3);
    },
  );

  test.each<Fault>([500, 404, "html"])(
    "The site does not repeat a call that the backend rejects (%s).",
    async (fault) => {
      expect(await countCalls(fault, pageCall, () => client.get("/portal"))).toBe(1);
    },
  );

  test.each<Fault>([503, "close"])(
    "The site does not repeat a failing call that changes data, because the call may have succeeded (%s).",
    async (fault) => {
      const form = await client.open("/portal/new");
      const page = await client.open(invoice.path);
      const upload = (document: string) => client.submit(page, `Upload the ${document}`, { file: createPdf() });
      const logIn = () => app.browser().post("/login", { email: owner.email, password: "not the password" });
      const createShipment = () => client.submit(form, "Create Shipment", { name: "Once" });
      expect(await countCalls(fault, /^POST \/rest\/v1\/shipments/, createShipment)).toBe(1);
      expect(await countCalls(fault, /^POST \/storage/, () => upload("Commercial Invoice"))).toBe(1);
      expect(await countCalls(fault, /\/rpc\/record_upload/, () => upload("Packing List"))).toBe(1);
      expect(await countCalls(fault, /grant_type=password/, logIn)).toBe(1);
    },
  );
});
