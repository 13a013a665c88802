import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { TestShipment } from "../support/desk-fixtures.ts";
import type { Fault } from "../support/fault-proxy.ts";
import { listButtons } from "../support/page-parts.ts";
import {
  copyBrowser,
  expectRejectedForm,
  getDocument,
  listDuplicateIds,
  listShipmentAuditEntries,
  newClient,
  newShipment,
  newStaffMember,
  replaceStoredFile,
  successToast,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { advanceShipment, verifyDocumentByName } from "../support/service-role.ts";
import { resultOrThrow, setCharge } from "../support/staff-actions.ts";
import {
  createPdf,
  expectNoInternals,
  type FormValues,
  getTestApp,
  getText,
  type ParsedPage,
  parsePage,
  unavailableText,
} from "../support/test-app.ts";

const app = await getTestApp();
const clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
const client = await newClient(app, "Baraka Mwangi");
afterEach(() => {
  app.proxy.fail("none");
  clerk.cookies.delete("flash");
});

/** Sets the IDF fee, then submits the form with this button. */
async function addCharge({ id, desk }: TestShipment, button?: string): Promise<void> {
  resultOrThrow(await setCharge(app.company, id, { item: "idf-fee", amount: 100, currency: "KES" }, {}));
  if (button) await clerk.submit(await clerk.open(desk), button);
  clerk.cookies.delete("flash");
}

const uploadFile = (shipment: TestShipment) => uploadDocument(client.browser, shipment.portal, "Packing List");
const uploadAndVerify = async (shipment: TestShipment) => {
  await uploadFile(shipment);
  await verifyDocumentByName(app.company, shipment.id, "Packing List");
};

type StaffActionCase = {
  button: string;
  fields: FormValues;
  toast: string;
  shows: string;
  /** The action's name in the audit log, and in the log on the page. */
  action: string;
  logTitle: string;
  /** The section of the page to which the redirect leads. */
  section?: "payments" | "storage" | "document";
  /** Prepares a shipment so that its page has the form. */
  prepare?: (shipment: TestShipment) => Promise<unknown>;
  /** True if a change of the shipment's stage makes the form's expected version outdated. */
  dependsOnStage?: boolean;
};

const staffActionCases: StaffActionCase[] = [
  {
    button: "Correct the stage",
    fields: { stage: "3", reason: "Entered <twice> & noticed late" },
    toast: "Stage corrected to IDF Application",
    shows: "3/10 IDF Application",
    action: "shipment correct",
    logTitle: "Stage corrected",
    dependsOnStage: true,
  },
  {
    button: "Save numbers",
    fields: { awb: "176-12345675" },
    toast: "Numbers saved",
    shows: "AWB/BL 176-12345675",
    action: "shipment set-numbers",
    logTitle: "AWB/BL and container numbers saved",
    dependsOnStage: true,
  },
  {
    button: "Save arrival",
    fields: { storageLocation: "nairobi", day: "2026-05-28", size: "40" },
    toast: "Arrival saved",
    shows: "40 ft container, arrived at Nairobi ICD on 28 May 2026. Free storage until 1 June 2026.",
    action: "shipment arrived",
    logTitle: "Container arrival saved",
    section: "storage",
    dependsOnStage: true,
  },
  {
    button: "Send note",
    fields: { note: "The vessel is late.\nWe write again on Monday." },
    toast: "Note sent",
    shows: "Note The vessel is late. We write again on Monday.",
    action: "shipment note",
    logTitle: "Note sent",
  },
  {
    button: "Save charge for IDF Fee",
    fields: { amount: "12,500,000.5", currency: "USD", due: "2026-06-30", note: "Invoice 123456" },
    toast: "IDF Fee: charge saved",
    shows: "IDF Fee USD 12,500,000.50, due 30 June 2026 Invoice 123456",
    action: "charge set",
    logTitle: "Charge saved",
    section: "payments",
  },
  {
    button: "Mark as paid for IDF Fee",
    fields: {},
    toast: "IDF Fee marked as paid",
    shows: "IDF Fee KES 100.00, paid ",
    action: "charge paid",
    logTitle: "Charge marked as paid",
    section: "payments",
    prepare: (shipment) => addCharge(shipment),
  },
  {
    button: "Mark as unpaid for IDF Fee",
    fields: { reason: "The cheque came back" },
    toast: "IDF Fee marked as unpaid",
    shows: "IDF Fee KES 100.00, unpaid",
    action: "charge unpaid",
    logTitle: "Charge marked as unpaid",
    section: "payments",
    prepare: (shipment) => addCharge(shipment, "Mark as paid for IDF Fee"),
  },
  {
    button: "Verify the Packing List",
    fields: {},
    toast: "Packing List verified",
    shows: "Packing List Verified invoice.pdf",
    action: "document verify",
    logTitle: "Document verified: Packing List",
    section: "document",
    prepare: uploadFile,
  },
  {
    button: "Request a new file for the Packing List",
    fields: { reason: "Page 2 is unreadable" },
    toast: "Packing List: new file requested",
    shows: "Packing List New file needed Requested ",
    action: "document reject",
    logTitle: "New file requested: Packing List",
    section: "document",
    prepare: uploadFile,
  },
  {
    button: "Undo verification for the Packing List",
    fields: { reason: "It is last year's" },
    toast: "Packing List: verification undone",
    shows: "Packing List To check invoice.pdf",
    action: "document unverify",
    logTitle: "Verification undone: Packing List",
    section: "document",
    prepare: uploadAndVerify,
  },
];

/** Returns a new shipment whose page has the form of a case, and that page. */
async function openCasePage({ button, prepare }: StaffActionCase) {
  const shipment = await newShipment(app, client, `For ${button}`);
  await prepare?.(shipment);
  return { shipment, page: await clerk.open(shipment.desk) };
}

async function getSectionId({ section }: StaffActionCase, shipment: TestShipment): Promise<string | undefined> {
  if (section !== "document") return section;
  return `document-${(await getDocument(app.company, shipment.id, "Packing List")).id}`;
}

const listEntries = async ({ id }: TestShipment, action: string) =>
  (await listShipmentAuditEntries(app.company, id)).filter((entry) => entry.action === action);

describe("forms on the page of a shipment", () => {
  test.each(staffActionCases)(
    '"$button" is done and logged once after three clicks, and the page shows the result.',
    async (staffAction) => {
      const { button, fields, action } = staffAction;
      const { shipment, page } = await openCasePage(staffAction);
      const entriesBefore = (await listEntries(shipment, action)).length;
      const otherTab = copyBrowser(app, clerk);
      const responses = await Promise.all([clerk, otherTab].map((browser) => browser.submit(page, button, fields)));
      responses.push(await clerk.submit(page, button, fields));
      const id = await getSectionId(staffAction, shipment);
      expect(responses.map(({ status, headers }) => [status, headers.get("Location")])).toEqual(
        Array(3).fill([303, shipment.desk + (id ? `#${id}` : "")]),
      );
      const after = await clerk.open(shipment.desk);
      if (id) expect(after.has(id)).toBe(true);
      expect(after.toasts).toEqual(successToast(staffAction.toast));
      expect(after.text).toContain(staffAction.shows);
      expect(listDuplicateIds(after)).toEqual([]);
      expect((await listEntries(shipment, action)).slice(entriesBefore)).toMatchObject([
        { actor_name: "Akinyi Odhiambo", reason: fields.reason ?? null },
      ]);
      expect(after.text).toMatch(
        new RegExp(
          `Activity log ${staffAction.logTitle} Akinyi Odhiambo \\d{1,2} [A-Z][a-z]+ \\d{4}, \\d\\d:\\d\\d EAT`,
        ),
      );
      expect((await clerk.open(shipment.desk)).toasts).toEqual([]);
    },
  );

  test.each(staffActionCases.filter(({ button }) => button !== "Send note"))(
    '"$button" is rejected if the form lacks the version of the changed record.',
    async (staffAction) => {
      const { button, fields } = staffAction;
      const { shipment, page } = await openCasePage(staffAction);
      const entriesBefore = await listShipmentAuditEntries(app.company, shipment.id);
      const { action, fields: stored } = page.form(button);
      for (const expectedVersion of ["", "1e0", undefined]) {
        const form = new URLSearchParams({ ...(stored as Record<string, string>), ...fields } as Record<
          string,
          string
        >);
        form.delete("expectedVersion");
        if (expectedVersion !== undefined) form.set("expectedVersion", expectedVersion);
        const rejected = await parsePage(await clerk.post(action, form));
        expectRejectedForm(rejected, 400, "We received only part of the form. Reload the page, then try again.");
      }
      expect(await listShipmentAuditEntries(app.company, shipment.id)).toEqual(entriesBefore);
    },
  );

  // These three forms have an expected version, an idempotency key, and no visible field.
  const retriedButtons = ["Correct the stage", "Send note", "Verify the Packing List"];
  test.each(staffActionCases.filter(({ button }) => retriedButtons.includes(button)))(
    '"$button" is not done and stays filled in while the backend fails, and is done only once after a lost response.',
    async (staffAction) => {
      const { button, fields } = staffAction;
      const { shipment, page } = await openCasePage(staffAction);
      const entriesBefore = (await listShipmentAuditEntries(app.company, shipment.id)).length;
      const submitDuring = async (fault: Fault, form: ParsedPage) => {
        app.proxy.fail(fault, /^POST .*\/rpc\/(?!take_|release_)/);
        const failed = await parsePage(await clerk.submit(form, button, fields));
        app.proxy.fail("none");
        expect(failed.status).toBe(503);
        expect([failed.toasts, failed.problems[0]?.text]).toEqual([[], unavailableText]);
        expectNoInternals(failed);
        return failed;
      };
      const failed = await submitDuring(500, page);
      for (const { id } of failed.problems) expect(failed.has(id)).toBe(true);
      expect(failed.form(button).fields).toMatchObject(fields);
      expect(await listShipmentAuditEntries(app.company, shipment.id)).toHaveLength(entriesBefore);

      const lost = await submitDuring("lost answer", failed);
      // Some forms disappear from the page after their action.
      if (listButtons(lost).includes(button)) expect((await clerk.submit(lost, button)).status).toBe(303);
      clerk.cookies.delete("flash");
      expect((await clerk.open(shipment.desk)).text).toContain(staffAction.shows);
      expect(await listShipmentAuditEntries(app.company, shipment.id)).toHaveLength(entriesBefore + 1);
    },
  );

  test.each(staffActionCases.filter(({ dependsOnStage }) => dependsOnStage))(
    '"$button" is rejected if the shipment has moved, and the page shows the new stage and the filled-in form.',
    async (staffAction) => {
      const { button, fields } = staffAction;
      const { shipment, page } = await openCasePage(staffAction);
      await advanceShipment(app.company, shipment.id);
      const rejected = await parsePage(await clerk.submit(page, button, fields));
      expectRejectedForm(rejected, 409, "Someone has changed this shipment. Check the new values, then try again.");
      for (const { id } of rejected.problems) expect(rejected.has(id)).toBe(true);
      expect(rejected.text).toContain("Stage 2/10 Document Verification");
      expect(rejected.form(button).fields).toMatchObject(fields);
      expect(await listEntries(shipment, staffAction.action)).toEqual([]);
      const response = await clerk.submit(rejected, button);
      expect((await clerk.follow(response)).toasts).toEqual(successToast(staffAction.toast));
    },
  );
});

test("A charge form is rejected if another team member has changed the charge, and the page shows the new charge.", async () => {
  const shipment = await newShipment(app, client, "Charged");
  await addCharge(shipment);
  const page = await clerk.open(shipment.desk);
  resultOrThrow(await setCharge(app.company, shipment.id, { item: "idf-fee", amount: 250, currency: "EUR" }, {}));
  for (const [button, fields] of [
    ["Mark as paid for IDF Fee", {}],
    ["Save charge for IDF Fee", { amount: "99", note: "Mine" }],
  ] as const) {
    const rejected = await parsePage(await clerk.submit(page, button, fields));
    expectRejectedForm(rejected, 409, "Someone has changed this charge. Check the new values, then try again.");
    expect(rejected.text).toContain("IDF Fee EUR 250.00, unpaid");
    expect(rejected.form(button).fields).toMatchObject(fields);
  }
});

test("A document form is rejected if another team member has verified the document, and the page shows the verification.", async () => {
  const shipment = await newShipment(app, client, "Verified", ["Packing List"]);
  const page = await clerk.open(shipment.desk);
  await verifyDocumentByName(app.company, shipment.id, "Packing List");
  for (const button of ["Request a new file for the Packing List", "Verify the Packing List"]) {
    const rejected = await parsePage(await clerk.submit(page, button, { reason: "Another file" }));
    expectRejectedForm(rejected, 409, "Someone has changed this document. Check the document, then try again.");
    expect(rejected.text).toContain("Packing List Verified");
  }
});

test("A document is not verified if its file was replaced in the file store, and the page shows the reason.", async () => {
  const shipment = await newShipment(app, client, "Replaced", ["Packing List"]);
  const page = await clerk.open(shipment.desk);
  const { storage_path } = await getDocument(app.company, shipment.id, "Packing List");
  await replaceStoredFile(app.company, storage_path ?? "");
  const rejected = await parsePage(await clerk.submit(page, "Verify the Packing List"));
  const message = "The Packing List was not verified. The stored file differs from the uploaded file.";
  expectRejectedForm(rejected, 409, message);
  expect(await getDocument(app.company, shipment.id, "Packing List")).toMatchObject({ verified: false });
});

describe("what a client sees of staff actions", () => {
  let shipment: TestShipment;
  beforeAll(async () => {
    shipment = await newShipment(app, client, "Seen from both sides", ["Packing List"]);
  });
  const submitForm = async (button: string, fields: FormValues) =>
    clerk.submit(await clerk.open(shipment.desk), button, fields);

  test("A client sees why a document was rejected, uploads another file, and then no longer sees the reason.", async () => {
    const button = "Upload the Packing List";
    expect(listButtons(await client.browser.open(shipment.portal))).not.toContain(button);
    await submitForm("Request a new file for the Packing List", { reason: "Page 2 is <unreadable>" });
    const page = await client.browser.open(shipment.portal);
    expect(page.text).toContain("Packing List New file needed: Page 2 is <unreadable>");
    const response = await client.browser.submit(page, button, { file: createPdf("Packing list, again.pdf") });
    const after = await client.browser.follow(response);
    expect(after.toasts[0]?.title).toBe("Packing List uploaded");
    expect(after.text).toContain("Packing List Uploaded. We are checking your file");
    expect(after.text).not.toContain("unreadable");
    const desk = await clerk.open(shipment.desk);
    expect(desk.text).toContain("Packing List To check Packing list, again.pdf");
    expect((await clerk.submit(desk, "Verify the Packing List")).status).toBe(303);
    expect((await client.browser.open(shipment.portal)).text).toContain("Packing List Verified");
  });

  test("A client sees notes, a corrected stage and the AWB/BL, but not the reason of the correction.", async () => {
    await submitForm("Send note", { note: "The vessel <MSC Jana> is late.\nSorry." });
    await submitForm("Correct the stage", { stage: "6", reason: "Slip of the clerk" });
    await submitForm("Save numbers", { awb: "MSCU1234567" });
    const page = await client.browser.open(shipment.portal);
    expect(page.text).toContain("Stage 6/10");
    expect(page.text).toContain("AWB/BL MSCU1234567");
    expect(page.text).not.toContain("Slip of the clerk");
    const history = page.all("main li").filter((item) => item.querySelector("time"));
    expect(history.map((item) => getText(item.querySelector("p"))).at(0)).toBe("Moved to Cargo Tracking (latest)");
    expect(getText(history.at(-1))).toContain("Note The vessel <MSC Jana> is late. Sorry.");
  });
});
