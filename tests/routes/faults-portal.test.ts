import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ambiguousStatuses, type Fault, faults } from "../support/fault-proxy.ts";
import {
  createPdf,
  expectNoInternals,
  getTestApp,
  getText,
  noStorePattern,
  type ParsedPage,
  parsePage,
  type TestBrowser,
  unavailableText,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let client: TestBrowser;
let path: string;
beforeAll(async () => {
  app = await getTestApp();
  client = app.browser();
  await client.signUpAndLogIn("Patient");
  path = await client.createShipment("Tea");
});
afterEach(() => app.proxy.fail("none"));

/** Expects a 502 or 503 with this toast, navigation, footer and 'Sign out', and the session kept. */
function expectFailure(page: ParsedPage, title: string) {
  expect([502, 503]).toContain(page.status);
  expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  expect(page.toasts.at(-1)).toEqual({ title, description: unavailableText, variant: "destructive" });
  expect(page.all("header button").map(getText)).toContain("Sign out");
  expect(getText(page.all("footer")[0])).toContain("Head office, Nairobi");
  expect(client.cookies.has("session")).toBe(true);
  expectNoInternals(page);
}

const readSteps = [
  { step: "the page is read", of: /^GET \/rest\/v1\/rpc\/portal_page/ },
  { step: "anything is asked", of: /./ },
];
const withEveryFault = <Step>(steps: Step[]) =>
  steps.flatMap((step) => faults.map((fault: Fault) => ({ ...step, fault })));

/** Valid JSON of another shape: a fault for the call of the page only. */
const otherJsonCase = { step: "the page is read", of: /portal_page/, fault: "other json" } as const;
const createAnyCallCases = (kinds: Fault[]) => kinds.map((fault) => ({ step: "anything is asked", of: /./, fault }));

describe("the list says that it cannot be fetched, and is there again afterwards", () => {
  test.each([...withEveryFault(readSteps), otherJsonCase, ...createAnyCallCases([...ambiguousStatuses])])(
    "when the backend fails as $step: $fault",
    async ({ of, fault }) => {
      app.proxy.fail(fault, of);
      const page = await client.open("/portal");
      expectFailure(page, "Error fetching shipments");
      expect(page.h1).toBe("My Shipments");
      expect(page.text).not.toContain("You have no shipments yet");
      app.proxy.fail("none");
      const again = await client.open("/portal");
      expect(again.status).toBe(200);
      expect(again.text).toContain(path.slice(8, 16));
    },
  );
});

describe("a shipment says that it cannot be fetched, and is there again afterwards", () => {
  test.each([...withEveryFault(readSteps), otherJsonCase, ...createAnyCallCases([...ambiguousStatuses])])(
    "when the backend fails as $step: $fault",
    async ({ of, fault }) => {
      app.proxy.fail(fault, of);
      const page = await client.open(path);
      expectFailure(page, "Error fetching shipments");
      const [again] = page.all("main a").filter((link) => getText(link) === "Try again");
      expect(again?.getAttribute("href")).toBe(path);
      app.proxy.fail("none");
      expect((await client.open(path)).h1).toBe("Tea");
    },
  );
});

describe("auth that fails stops nobody whose token is good:", () => {
  test.each([...faults, ...ambiguousStatuses])("%s", async (fault) => {
    app.proxy.fail(fault, /\/auth\//);
    expect((await client.open(path)).h1).toBe("Tea");
    const form = await client.open("/portal/new");
    const made = await client.follow(await client.submit(form, "Create Shipment", { name: `Made at ${fault}` }));
    expect([made.status, made.h1]).toEqual([200, `Made at ${fault}`]);
  });
});

describe("a shipment is not made and its name is kept when the session cannot be checked:", () => {
  test.each([...faults])("%s", async (fault) => {
    app.proxy.fail(fault, /get_viewer/);
    const form = { name: "Unsent", idempotencyKey: crypto.randomUUID() };
    const page = await parsePage(await client.post("/portal/new", form));
    expectFailure(page, "Failed to create shipment");
    expect(page.value("name")).toBe("Unsent");
    expect(await countShipments("Unsent")).toEqual([]);
  });
});

/** How many shipments have this name. */
async function countShipments(name: string) {
  const { data, error } = await app.company.from("shipments").select("id, documents (name)").eq("name", name);
  if (error) throw error;
  return data.map(({ documents }) => documents.length);
}

describe("a shipment is not made, its name is kept, and the same form makes one", () => {
  const steps = [
    { step: "the shipment is written", of: /^POST \/rest\/v1\/shipments/ },
    { step: "anything is asked", of: /./ },
  ];
  const others = steps.slice(0, 1).flatMap((step) => ambiguousStatuses.map((fault) => ({ ...step, fault })));
  test.each([...withEveryFault(steps), ...others, ...createAnyCallCases([...ambiguousStatuses])])(
    "when the backend fails as $step: $fault",
    async ({ of, fault, step }) => {
      const name = `Beans & <peas>, ${step} ${fault}`;
      const form = await client.open("/portal/new");
      app.proxy.fail(fault, of);
      const page = await parsePage(await client.submit(form, "Create Shipment", { name }));
      expectFailure(page, "Failed to create shipment");
      expect(page.title).toMatch(/^Error: Create Shipment/);
      expect(page.value("name")).toBe(name);
      app.proxy.fail("none");
      expect(await countShipments(name)).toEqual([]);
      const again = await client.follow(await client.submit(page, "Create Shipment"));
      expect(again.h1).toBe(name);
      expect(await countShipments(name)).toEqual([4]);
    },
  );

  test("when only its answer was lost: the same form finds the one that was made", async () => {
    const form = await client.open("/portal/new");
    app.proxy.fail("lost answer", /^POST \/rest\/v1\/shipments/);
    const page = await parsePage(await client.submit(form, "Create Shipment", { name: "Found again" }));
    expect(page.status).toBe(503);
    expect(page.toasts[0]?.title).toBe("Failed to create shipment");
    expect(await countShipments("Found again")).toEqual([4]);
    app.proxy.fail("none");
    const again = await client.follow(await client.submit(page, "Create Shipment"));
    expect(again.h1).toBe("Found again");
    expect(await countShipments("Found again")).toEqual([4]);
  });
});

/** The invoice as the backend has it, with the paths of the files kept for the shipment. */
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
  return { uploaded: data.uploaded, kept: data.storage_path, files: paths };
}

describe("a file is not taken, its document still waits, and the same form takes it", () => {
  beforeEach(async () => {
    path = await client.createShipment("Tea");
  });
  const button = "Upload the Commercial Invoice";
  const awaited = { uploaded: false, kept: null };
  const done = { uploaded: true, kept: expect.stringMatching(/\/commercial-invoice-[0-9a-f]{12}-invoice\.pdf$/) };
  const steps = [
    { step: "the document is asked for", of: /\/rpc\/require_upload_allowed/, title: "Upload failed" },
    { step: "the file is stored", of: /\/storage\/v1\/object/, title: "Upload failed" },
    { step: "the document is marked", of: /^PATCH \/rest\/v1\/documents/, title: "Failed to update document status" },
  ];
  const others = steps.flatMap((step) => ambiguousStatuses.map((fault) => ({ ...step, fault })));
  test.each([...withEveryFault(steps), ...others])(
    "when the backend fails as $step: $fault",
    async ({ of, fault, title }) => {
      const form = await client.open(path);
      app.proxy.fail(fault, of);
      const page = await parsePage(await client.submit(form, button, { file: createPdf() }));
      expectFailure(page, title);
      expect(page.title).toMatch(/^Error: Tea/);
      for (const { id } of page.problems) expect(page.has(id)).toBe(true);
      expect(page.text).toContain("Commercial Invoice Not uploaded");
      app.proxy.fail("none");
      expect(await readInvoice()).toMatchObject(awaited);
      const again = await client.follow(await client.submit(page, button, { file: createPdf() }));
      expect(again.text).toContain("Commercial Invoice Uploaded, we check it next");
      const { kept, files, ...rest } = await readInvoice();
      expect({ kept, ...rest }).toEqual(done);
      expect(files).toContain(kept);
    },
  );

  test("when only the answer of the store was lost: the file that counts is the one that was sent again", async () => {
    const form = await client.open(path);
    app.proxy.fail("lost answer", /^POST \/storage\/v1\/object/);
    const page = await parsePage(await client.submit(form, button, { file: createPdf() }));
    expectFailure(page, "Upload failed");
    expect(await readInvoice()).toMatchObject(awaited);
    app.proxy.fail("none");
    expect((await client.submit(page, button, { file: createPdf("invoice.pdf", 3000) })).status).toBe(303);
    const { kept, ...rest } = await readInvoice();
    expect({ kept, uploaded: rest.uploaded }).toEqual(done);
    const file = await app.company.storage.from("documents").download(kept ?? "");
    expect(file.data?.size).toBe(3000);
  });

  test("and when only the answer of the mark was lost, the document has its file and says so", async () => {
    const form = await client.open(path);
    app.proxy.fail("lost answer", /^PATCH \/rest\/v1\/documents/);
    const page = await parsePage(await client.submit(form, button, { file: createPdf() }));
    expect(page.toasts[0]?.title).toBe("Failed to update document status");
    for (const { id } of page.problems) expect(page.has(id), `the link to #${id}`).toBe(true);
    app.proxy.fail("none");
    const { kept, files, uploaded } = await readInvoice();
    expect({ kept, uploaded }).toEqual(done);
    expect(files).toEqual([kept]);
    expect((await client.open(path)).text).toContain("Commercial Invoice Uploaded, we check it next");
  });

  test("the loser of two uploads at once is told, also when its file cannot be taken back", async () => {
    const form = await client.open(path);
    app.proxy.fail(503, /^DELETE \/storage/);
    const answers = await Promise.all(
      [1, 2].map((size) => client.submit(form, button, { file: createPdf("invoice.pdf", size * 1000) })),
    );
    const pages = await Promise.all(answers.filter(({ status }) => status !== 303).map(parsePage));
    app.proxy.fail("none");
    expect(pages.map(({ status, toasts }) => [status, toasts[0]?.description])).toEqual([
      [409, "This document has been uploaded already."],
    ]);
    const { kept, files, uploaded } = await readInvoice();
    expect({ kept, uploaded }).toEqual(done);
    expect(files).toContain(kept);
  });
});
