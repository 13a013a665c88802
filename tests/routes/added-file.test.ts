import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { contents } from "../support/file-contents.ts";
import { describeCut } from "../support/labels.ts";
import { getHref, listButtons, unknownId } from "../support/page-parts.ts";
import {
  expectRejectedForm,
  getDocument,
  getField,
  listShipmentAuditEntries,
  newClient,
  newShipment,
  newStaffMember,
  successToast,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { verifyDocumentByName } from "../support/service-role.ts";
import { createPdf, expectNoInternals, getTestApp, parsePage, unavailableText } from "../support/test-app.ts";

const app = await getTestApp();
const clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
const client = await newClient(app, "Baraka Mwangi");
await client.browser.open("/portal");

let shipment: Awaited<ReturnType<typeof newShipment>>;
let address: string;
beforeEach(async () => {
  shipment = await newShipment(app, client, "Pumps for Juba");
  address = `${shipment.desk}/add-file/${(await readDocument()).id}`;
});
afterEach(() => {
  app.proxy.fail("none");
  clerk.cookies.delete("flash");
});
const readDocument = () => getDocument(app.company, shipment.id, "Packing List");
const form = { from: "whatsapp", note: "Page 2 follows" };
const addFile = async (file: File = createPdf("IMG-WA0001.jpg"), page = clerk.open(address)) =>
  clerk.submit(await page, "Add file", { ...form, file });
const listFiles = async () =>
  (await app.company.storage.from("documents").list(`${client.id}/${shipment.id}`)).data?.map(({ name }) => name);

describe("Adding a file for a client", () => {
  test("A clerk adds a file without JavaScript. The client sees who added the file and how the file came, and can open and remove the file.", async () => {
    const desk = await clerk.open(shipment.desk);
    expect(getHref(desk, "Add a file: Packing List")).toBe(address);
    const page = await clerk.open(address);
    expect(page.text).toContain("Document Packing List Shipment Pumps for Juba Client Baraka Mwangi");
    const file = createPdf("IMG-WA0001.jpg", 2048);
    const response = await addFile(file);
    const { id } = await readDocument();
    expect([response.status, response.headers.get("Location")]).toEqual([303, `${shipment.desk}#document-${id}`]);
    const after = await clerk.follow(response);
    expect(after.toasts).toEqual(successToast("Packing List: file added"));
    expect(after.text).toMatch(
      /Packing List To check IMG-WA0001\.pdf, 2 KB, [^.]+ EAT\. Added by Akinyi Odhiambo on \d+ \w+ \(from WhatsApp\)\. Note: Page 2 follows/,
    );
    expect(after.text).toContain("File added for the client: Packing List Akinyi Odhiambo");
    expect(await listShipmentAuditEntries(app.company, shipment.id)).toMatchObject([
      { action: "document add-file", actor_name: "Akinyi Odhiambo", after: { added_from: "whatsapp" } },
    ]);

    const portal = await client.browser.open(shipment.portal);
    expect(portal.text).toMatch(
      /Packing List Uploaded\. We are checking your file .+ IMG-WA0001\.pdf, 2 KB, \d\d:\d\d EAT\. Added by us on \d+ \w+ \(from WhatsApp\)\. Note: Page 2 follows/,
    );
    expect(portal.html).not.toContain("Akinyi");
    expect((await client.browser.open(`${shipment.portal}/print`)).text).toContain("(from WhatsApp)");
    const opened = await client.browser.get(`${shipment.portal}/documents/${id}`);
    expect([opened.status, await opened.text()]).toEqual([200, await file.text()]);

    const removal = await client.browser.open(`${shipment.portal}/remove-file/${id}`);
    expect((await client.browser.submit(removal, "Remove file")).status).toBe(303);
    expect((await client.browser.open(shipment.portal)).text).not.toContain("Added by us");
    expect(await listFiles()).toEqual([]);
    client.browser.cookies.delete("flash");
  });

  test("If the form arrives twice, one after another or in parallel, one file is added and stored.", async () => {
    const page = clerk.open(address);
    const file = createPdf("list.pdf", 3000);
    const responses = await Promise.all([addFile(file, page), addFile(file, page)]);
    responses.push(await addFile(file, page));
    expect(responses.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(await listFiles()).toHaveLength(1);
    expect(await listShipmentAuditEntries(app.company, shipment.id)).toHaveLength(1);
  });

  test.each<[string, Partial<typeof form> & { file?: File }, string, string]>([
    ["no file", { file: new File([], "") }, "file", "Choose a file."],
    ["an empty file", { file: new File([], "empty.pdf") }, "file", "This file is empty. Choose another file."],
    ["a program", { file: new File([contents.exe], "a.pdf") }, "file", expect.stringMatching("^Choose a PDF, photo")],
    ["an unknown source", { from: "fax" }, "from", "Choose how the file reached us."],
    ["too long a note", { note: "x".repeat(501) }, "note", `Use at most 500 characters. ${describeCut(500)}`],
  ])(
    "A form with %s is rejected with an error at the field, and stores nothing.",
    async (_what, typed, field, message) => {
      const fields = { ...form, file: createPdf(), ...typed };
      const rejected = await parsePage(await clerk.submit(await clerk.open(address), "Add file", fields));
      expect([rejected.status, rejected.title.startsWith("Error: ")]).toEqual([400, true]);
      const id = `add-file-${field}`;
      expect(rejected.problems).toEqual([{ text: message, id }]);
      if (field === "from") expect(rejected.all("fieldset")[0]?.structuredText).toContain(message);
      else expect(getField(rejected, id).descriptions).toContainEqual(message);
      const { file: _, ...shown } = rejected.form("Add file").fields;
      expect(shown).toMatchObject({ note: fields.note.slice(0, 500), ...(field !== "from" && { from: "whatsapp" }) });
      expect(await readDocument()).toMatchObject({ uploaded: false });
      expect(await listFiles()).toEqual([]);
      expect((await addFile(createPdf(), Promise.resolve(rejected))).status).toBe(303);
    },
  );

  test("A file over 10 MB is rejected at its field. The page shows the typed texts, and the form accepts a smaller file.", async () => {
    // On this page, the source is chosen. A browser sends the fields in the order of the page, so the file is last.
    const page = parsePage(await addFile(new File([], "")));
    const rejected = await parsePage(await addFile(createPdf("large.pdf", 10 * 1024 * 1024 + 1), page));
    expectRejectedForm(rejected, 413, "This file is over 10 MB. Choose a smaller file.");
    expect(rejected.problems[0]?.id).toBe("add-file-file");
    expect(rejected.form("Add file").fields).toMatchObject(form);
    expect((await addFile(createPdf("smaller.pdf"), Promise.resolve(rejected))).status).toBe(303);
  });

  test("If the client has uploaded a file meanwhile, the form is rejected. The page shows the new state and the typed texts.", async () => {
    const page = clerk.open(address);
    await page;
    await uploadDocument(client.browser, shipment.portal, "Packing List");
    const rejected = await parsePage(await addFile(createPdf(), page));
    expectRejectedForm(rejected, 409, "Someone has changed this document. Check the document, then try again.");
    expect(rejected.text).toContain("The Packing List already has a file.");
    expect(rejected.form("Add file").fields).toMatchObject(form);
    expect(await listFiles()).toHaveLength(1);
    expect(listButtons(await clerk.open(address))).not.toContain("Add file");
  });

  test("While the backend fails, nothing is stored and the page shows the typed texts. A lost response adds no second file.", async () => {
    const submitDuring = async (fault: 500 | "lost answer", page: ReturnType<typeof clerk.open>) => {
      await page;
      app.proxy.fail(fault, /^POST .*\/rpc\/add_file/);
      const failed = await parsePage(await addFile(createPdf("list.pdf"), page));
      app.proxy.fail("none");
      expect([failed.status, failed.problems[0]?.text]).toEqual([503, unavailableText]);
      expectNoInternals(failed);
      expect(failed.form("Add file").fields).toMatchObject(form);
      return failed;
    };
    const failed = await submitDuring(500, clerk.open(address));
    expect(await readDocument()).toMatchObject({ uploaded: false });
    const lost = await submitDuring("lost answer", Promise.resolve(failed));
    expect((await addFile(createPdf("list.pdf"), Promise.resolve(lost))).status).toBe(303);
    expect(await listShipmentAuditEntries(app.company, shipment.id)).toHaveLength(1);
  });

  test("The page says why a file was requested, and closed shipments and unknown documents have no form.", async () => {
    await uploadDocument(client.browser, shipment.portal, "Packing List");
    await clerk.submit(await clerk.open(shipment.desk), "Request a new file: Packing List", { reason: "Torn" });
    expect((await clerk.open(address)).text).toContain("Reason: Torn");
    expect((await addFile()).status).toBe(303);
    await app.company.from("shipments").update({ stage: 10 }).eq("id", shipment.id);
    const { id } = await getDocument(app.company, shipment.id, "Bill of Lading");
    const closed = await clerk.open(`${shipment.desk}/add-file/${id}`);
    expect(closed.text).toContain("This shipment is closed. Reopen the shipment to add a file.");
    expect(listButtons(closed)).not.toContain("Add file");
    expect((await clerk.open(shipment.desk)).text).not.toContain("Add a file");
    const other = await newShipment(app, client, "Other");
    for (const path of [`${other.desk}/add-file/${id}`, `${shipment.desk}/remove-file/${unknownId}`])
      expect((await clerk.open(path)).status).toBe(404);
  });
});

describe("Removing an added file", () => {
  test("A clerk removes a file that was added by mistake, with a reason that the portal does not show.", async () => {
    await clerk.follow(await addFile());
    const { id } = await readDocument();
    const link = getHref(await clerk.open(shipment.desk), "Remove file: Packing List") ?? "";
    const page = await clerk.open(link);
    expect(page.text).toContain("IMG-WA0001.pdf. Added by Akinyi Odhiambo on");
    const rejected = await parsePage(await clerk.submit(page, "Remove file", { reason: " " }));
    expect(rejected.problems).toEqual([{ text: "Enter a reason.", id: "remove-file-reason" }]);
    const reason = "Another client's list";
    for (const response of [
      await clerk.submit(rejected, "Remove file", { reason }),
      await clerk.submit(rejected, "Remove file", { reason }),
    ])
      expect([response.status, response.headers.get("Location")]).toEqual([303, `${shipment.desk}#document-${id}`]);
    const after = await clerk.open(shipment.desk);
    expect(after.toasts).toEqual(successToast("Packing List: file removed"));
    expect(after.text).toContain(`from WhatsApp Reason: ${reason}`);
    expect(await listFiles()).toEqual([]);
    const { text } = await client.browser.open(shipment.portal);
    expect(text).toContain("Packing List Not uploaded");
    expect(text).not.toContain(reason);
  });

  test("The page for removing an added file has no form for a missing, verified or uploaded file.", async () => {
    const { id } = await readDocument();
    const open = async () => {
      const page = await clerk.open(`${shipment.desk}/remove-file/${id}`);
      expect(listButtons(page)).not.toContain("Remove file");
      return page.text;
    };
    expect(await open()).toContain("The Packing List has no file.");
    await addFile();
    const page = await clerk.open(`${shipment.desk}/remove-file/${id}`);
    await verifyDocumentByName(app.company, shipment.id, "Packing List");
    expect(await open()).toContain("The Packing List is verified. Undo the verification first.");
    const rejected = await parsePage(await clerk.submit(page, "Remove file", { reason: "Wrong" }));
    expectRejectedForm(rejected, 409, "Someone has changed this document. Check the document, then try again.");
    expect(rejected.form("Remove file").fields).toMatchObject({ reason: "Wrong" });
    const uploaded = await newShipment(app, client, "Uploaded", ["Packing List"]);
    const document = await getDocument(app.company, uploaded.id, "Packing List");
    expect((await clerk.open(`${uploaded.desk}/remove-file/${document.id}`)).text).toContain(
      "The client uploaded the file of the Packing List. Request a new file instead.",
    );
  });
});
