import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allFaults, type Fault, faults } from "../support/fault-proxy.ts";
import { getHref, listButtons } from "../support/page-parts.ts";
import {
  createPdf,
  expectNoInternals,
  getTestApp,
  getText,
  noStorePattern,
  type ParsedPage,
  parsePage,
  unavailableText,
} from "../support/test-app.ts";

const app = await getTestApp();
const client = app.browser();
await client.signUpAndLogIn("Patient");
let path = await client.createShipment("Tea");
afterEach(() => app.proxy.fail("none"));

/** Expects an error page of the portal whose toast has this title, and that the client is still signed in. */
function expectFailure(page: ParsedPage, title: string): void {
  expect([502, 503]).toContain(page.status);
  expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  expect(page.toasts.at(-1)).toEqual({ title, description: unavailableText, variant: "destructive" });
  expect(listButtons(page)).toContain("Sign out");
  expect(getText(page.all("footer")[0])).toContain("Head office, Nairobi");
  expect(client.cookies.has("session")).toBe(true);
  expectNoInternals(page);
}

test.each<Fault>([...allFaults, "other json"])(
  "The portal shows an error instead of shipments while the backend fails (%s), and the shipments afterwards.",
  async (fault) => {
    app.proxy.fail(fault, /^GET \/rest\/v1\/rpc\/portal_page/);
    const list = await client.open("/portal");
    expectFailure(list, "Error fetching shipments");
    expect(list.h1).toBe("My Shipments");
    expect(list.text).not.toContain("You have no shipments yet");
    const shipment = await client.open(path);
    expectFailure(shipment, "Error fetching shipments");
    expect(getHref(shipment, "Try again")).toBe(path);
    app.proxy.fail("none");
    const again = await client.open("/portal");
    expect([again.status, again.text.includes(path.slice(8, 16))]).toEqual([200, true]);
    expect((await client.open(path)).h1).toBe("Tea");
  },
);

test("A client with a valid access token works without any call of Supabase Auth.", async () => {
  const calls = await app.proxy.during(async () => {
    expect((await client.open(path)).h1).toBe("Tea");
    const form = await client.open("/portal/new");
    expect((await client.submit(form, "Create Shipment", { name: "Created without auth" })).status).toBe(303);
  });
  client.cookies.delete("flash");
  expect(calls.filter((call) => call.includes("/auth/"))).toEqual([]);
});

describe("creating a shipment", () => {
  async function countDocuments(name: string): Promise<number[]> {
    const { data, error } = await app.company.from("shipments").select("id, documents (name)").eq("name", name);
    if (error) throw error;
    return data.map(({ documents }) => documents.length);
  }

  const createCases = [
    ["the check of the session", faults, /get_viewer/],
    ["the write of the shipment", allFaults, /^POST \/rest\/v1\/shipments/],
  ] as const;
  test.each(createCases.flatMap(([calls, kinds, pattern]) => kinds.map((fault) => [calls, fault, pattern] as const)))(
    "No shipment is created while %s fails (%s), and the same form creates a shipment afterwards.",
    async (calls, fault, pattern) => {
      const name = `Beans & <peas>, ${calls} ${fault}`;
      const form = await client.open("/portal/new");
      app.proxy.fail(fault, pattern);
      const page = await parsePage(await client.submit(form, "Create Shipment", { name }));
      expectFailure(page, "Failed to create shipment");
      expect(page.title).toMatch(/^Error: Create Shipment/);
      expect(page.value("name")).toBe(name);
      app.proxy.fail("none");
      expect(await countDocuments(name)).toEqual([]);
      expect((await client.follow(await client.submit(page, "Create Shipment"))).h1).toBe(name);
      expect(await countDocuments(name)).toEqual([4]);
    },
  );

  test("A form that is sent again after a lost response leads to the shipment of the first request.", async () => {
    const form = await client.open("/portal/new");
    app.proxy.fail("lost answer", /^POST \/rest\/v1\/shipments/);
    const page = await parsePage(await client.submit(form, "Create Shipment", { name: "Found again" }));
    expectFailure(page, "Failed to create shipment");
    app.proxy.fail("none");
    expect((await client.follow(await client.submit(page, "Create Shipment"))).h1).toBe("Found again");
    expect(await countDocuments("Found again")).toEqual([4]);
  });
});

describe("uploading a file", () => {
  const button = "Upload the Commercial Invoice";
  const noFile = { uploaded: false, storagePath: null };
  const withFile = {
    uploaded: true,
    storagePath: expect.stringMatching(/\/commercial-invoice-[0-9a-f]{12}-invoice\.pdf$/),
  };
  beforeEach(async () => {
    path = await client.createShipment("Tea");
  });

  async function readInvoice() {
    const { data, error } = await app.company
      .from("documents")
      .select("user_id, uploaded, storage_path")
      .eq("shipment_id", path.replace("/portal/", ""))
      .eq("name", "Commercial Invoice")
      .single();
    if (error) throw error;
    const folder = path.replace("/portal", data.user_id);
    const { data: files } = await app.company.storage.from("documents").list(folder);
    const paths = files?.map(({ name }) => `${folder}/${name.split("/").at(-1)}`) ?? [];
    return { invoice: { uploaded: data.uploaded, storagePath: data.storage_path }, files: paths };
  }

  /** Uploads a file while some calls fail, and returns the page of the response. */
  async function uploadDuring(fault: Fault, calls: RegExp): Promise<ParsedPage> {
    const form = await client.open(path);
    app.proxy.fail(fault, calls);
    const page = await parsePage(await client.submit(form, button, { file: createPdf() }));
    app.proxy.fail("none");
    return page;
  }

  const uploadCases = [
    ["the check of the document", faults, /\/rpc\/require_upload_allowed/, "Upload failed"],
    ["the file store", allFaults, /\/storage\/v1\/object/, "Upload failed"],
    [
      "the update of the document",
      [...faults, "other json"],
      /^PATCH \/rest\/v1\/documents/,
      "Failed to update document status",
    ],
  ] as const;
  test.each(uploadCases.flatMap(([calls, kinds, ...rest]) => kinds.map((fault) => [calls, fault, ...rest] as const)))(
    "A document gets no file while %s fails (%s), and the same form uploads the file afterwards.",
    async (_calls, fault, pattern, title) => {
      const page = await uploadDuring(fault, pattern);
      expectFailure(page, title);
      expect(page.title).toMatch(/^Error: Tea/);
      for (const { id } of page.problems) expect(page.has(id)).toBe(true);
      expect(page.text).toContain("Commercial Invoice Not uploaded");
      expect((await readInvoice()).invoice).toEqual(noFile);
      const again = await client.follow(await client.submit(page, button, { file: createPdf() }));
      expect(again.text).toContain("Commercial Invoice Uploaded. We are checking your file");
      const { invoice, files } = await readInvoice();
      expect(invoice).toEqual(withFile);
      expect(files).toContain(invoice.storagePath);
    },
  );

  test("A file that is sent again after a lost response of the file store is the document's file.", async () => {
    const page = await uploadDuring("lost answer", /^POST \/storage\/v1\/object/);
    expectFailure(page, "Upload failed");
    expect((await readInvoice()).invoice).toEqual(noFile);
    expect((await client.submit(page, button, { file: createPdf("invoice.pdf", 3000) })).status).toBe(303);
    const { invoice } = await readInvoice();
    expect(invoice).toEqual(withFile);
    const file = await app.company.storage.from("documents").download(invoice.storagePath ?? "");
    expect(file.data?.size).toBe(3000);
  });

  test("A document has its file if only the response to its update was lost.", async () => {
    const page = await uploadDuring("lost answer", /^PATCH \/rest\/v1\/documents/);
    expect(page.toasts[0]?.title).toBe("Failed to update document status");
    for (const { id } of page.problems) expect(page.has(id), `the link to #${id}`).toBe(true);
    const { invoice, files } = await readInvoice();
    expect([invoice, files]).toEqual([withFile, [invoice.storagePath]]);
    expect((await client.open(path)).text).toContain("Commercial Invoice Uploaded. We are checking your file");
  });

  test("The second of two parallel uploads is rejected even if its file cannot be deleted.", async () => {
    const form = await client.open(path);
    app.proxy.fail(503, /^DELETE \/storage/);
    const responses = await Promise.all(
      [1000, 2000].map((size) => client.submit(form, button, { file: createPdf("invoice.pdf", size) })),
    );
    const pages = await Promise.all(responses.filter(({ status }) => status !== 303).map(parsePage));
    expect(pages.map(({ status, toasts }) => [status, toasts[0]?.description])).toEqual([
      [409, "This document already has a file."],
    ]);
    const { invoice, files } = await readInvoice();
    expect(invoice).toEqual(withFile);
    expect(files).toContain(invoice.storagePath);
  });
});
