import { afterEach, expect, test } from "vitest";
import type { TestShipment } from "../support/desk-fixtures.ts";
import type { Fault } from "../support/fault-proxy.ts";
import { listButtons } from "../support/page-parts.ts";
import {
  expectRejectedForm,
  getDocument,
  listDuplicateIds,
  listShipmentAuditEntries,
  newClient,
  newShipment,
  newStaffMember,
  successToast,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { advanceShipment, verifyDocumentByName } from "../support/service-role.ts";
import { resultOrThrow, saveArrival, setCharge } from "../support/staff-actions.ts";
import {
  createPdf,
  expectNoInternals,
  type FormValues,
  getTestApp,
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

/** Sets the IDF fee of a shipment. Then submits the form that has the button `button`, if any. */
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
  /** The action's name in the page's list of activities. */
  logTitle: string;
  /** The id of the page's section to which the response redirects. */
  section?: "payments" | "storage" | "document";
  /** The last part of the URL path of the page that has the form. */
  page?: string;
  /** Brings a shipment into the state in which its page has the form. */
  prepare?: (shipment: TestShipment) => Promise<unknown>;
};

const staffActionCases: StaffActionCase[] = [
  {
    button: "Correct the stage",
    fields: { stage: "3", reason: "Entered <twice> & noticed late" },
    toast: "Stage corrected to IDF Application",
    shows: "3/10 IDF Application",
    logTitle: "Stage corrected",
  },
  {
    button: "Save numbers",
    fields: { awb: "176-12345675" },
    toast: "AWB/BL and container numbers saved",
    shows: "AWB/BL 176-12345675",
    logTitle: "AWB/BL and container numbers saved",
  },
  {
    button: "Save arrival",
    page: "/arrival",
    fields: { storageLocation: "nairobi", cargo: "container-40", day: "2026-05-28" },
    toast: "Arrival saved",
    shows:
      "40 ft container, import to Kenya: arrived at Nairobi ICD on 28 May 2026. Free storage until 1 June 2026. Change arrival",
    logTitle: "Arrival saved",
    section: "storage",
  },
  {
    button: "Remove arrival",
    page: "/arrival",
    fields: { reason: "Another ship" },
    toast: "Arrival removed",
    shows: "Add arrival",
    logTitle: "Arrival removed",
    section: "storage",
    prepare: async ({ id }) => {
      const arrival = { storage_location: "malaba", day: "2026-05-28", cargo: "loose" };
      resultOrThrow(await saveArrival(app.company, id, arrival, {}));
    },
  },
  {
    button: "Send note",
    fields: { note: "The vessel is late.\nWe write again on Monday." },
    toast: "Note sent",
    shows: "Note The vessel is late. We write again on Monday.",
    logTitle: "Note sent",
  },
  {
    button: "Save charge: IDF Fee",
    fields: { amount: "12,500,000.5", currency: "USD", due: "2026-06-30", note: "Invoice 123456" },
    toast: "IDF Fee: charge saved",
    shows: "IDF Fee USD 12,500,000.50, due 30 June 2026 Invoice 123456",
    logTitle: "Charge saved",
    section: "payments",
  },
  {
    button: "Mark as paid: IDF Fee",
    fields: {},
    toast: "IDF Fee marked as paid",
    shows: "IDF Fee KES 100.00, paid ",
    logTitle: "Charge marked as paid",
    section: "payments",
    prepare: (shipment) => addCharge(shipment),
  },
  {
    button: "Mark as unpaid: IDF Fee",
    fields: { reason: "The cheque came back" },
    toast: "IDF Fee marked as unpaid",
    shows: "IDF Fee KES 100.00, unpaid",
    logTitle: "Charge marked as unpaid",
    section: "payments",
    prepare: (shipment) => addCharge(shipment, "Mark as paid: IDF Fee"),
  },
  {
    button: "Verify: Packing List",
    fields: {},
    toast: "Packing List verified",
    shows: "Packing List Verified invoice.pdf",
    logTitle: "Document verified: Packing List",
    section: "document",
    prepare: uploadFile,
  },
  {
    button: "Request a new file: Packing List",
    fields: { reason: "Page 2 is unreadable" },
    toast: "Packing List: new file requested",
    shows: "Packing List New file needed New file requested on ",
    logTitle: "New file requested: Packing List",
    section: "document",
    prepare: uploadFile,
  },
  {
    button: "Undo verification: Packing List",
    fields: { reason: "It is last year's" },
    toast: "Packing List: verification undone",
    shows: "Packing List To check invoice.pdf",
    logTitle: "Verification undone: Packing List",
    section: "document",
    prepare: uploadAndVerify,
  },
];

/** Creates a shipment whose page has the form of the test case. Returns the shipment and its page. */
async function openCasePage({ button, page = "", prepare }: StaffActionCase) {
  const shipment = await newShipment(app, client, `For ${button}`);
  await prepare?.(shipment);
  return { shipment, page: await clerk.open(shipment.desk + page) };
}

async function getSectionId({ section }: StaffActionCase, shipment: TestShipment): Promise<string | undefined> {
  if (section !== "document") return section;
  return `document-${(await getDocument(app.company, shipment.id, "Packing List")).id}`;
}

test.each(staffActionCases)(
  'If the form "$button" arrives twice, the action is performed and logged once, and the page shows the result.',
  async (staffAction) => {
    const { button, fields } = staffAction;
    const { shipment, page } = await openCasePage(staffAction);
    const listEntries = () => listShipmentAuditEntries(app.company, shipment.id);
    const entriesBefore = (await listEntries()).length;
    const responses = [await clerk.submit(page, button, fields), await clerk.submit(page, button, fields)];
    const id = await getSectionId(staffAction, shipment);
    const target = shipment.desk + (id ? `#${id}` : "");
    for (const { status, headers } of responses) expect([status, headers.get("Location")]).toEqual([303, target]);
    const after = await clerk.open(shipment.desk);
    if (id) expect(after.has(id)).toBe(true);
    expect(after.toasts).toEqual(successToast(staffAction.toast));
    expect(after.text).toContain(staffAction.shows);
    expect(listDuplicateIds(after)).toEqual([]);
    expect((await listEntries()).slice(entriesBefore)).toMatchObject([
      { actor_name: "Akinyi Odhiambo", reason: fields.reason ?? null },
    ]);
    expect(after.text).toMatch(
      new RegExp(`Activity log ${staffAction.logTitle} Akinyi Odhiambo \\d{1,2} [A-Z][a-z]+ \\d{4}, \\d\\d:\\d\\d EAT`),
    );
  },
);

test("A form of the desk is rejected if it lacks the expected version of the record.", async () => {
  const { desk } = await newShipment(app, client, "Unversioned");
  const { action, fields } = (await clerk.open(desk)).form("Correct the stage");
  const { expectedVersion: _, ...otherFields } = fields as Record<string, string>;
  const unversioned = { ...otherFields, stage: "3", reason: "Slip" };
  for (const form of [
    unversioned,
    { ...unversioned, expectedVersion: "" },
    { ...unversioned, expectedVersion: "1e0" },
  ]) {
    const rejected = await parsePage(await clerk.post(action, form));
    expectRejectedForm(rejected, 400, "We received only part of the form. Reload the page, then try again.");
  }
});

// The button of a form with an expected version, and the button of a form with an idempotency key.
const retriedButtons = ["Correct the stage", "Send note"];
test.each(staffActionCases.filter(({ button }) => retriedButtons.includes(button)))(
  'While the backend fails, the form "$button" changes nothing and shows the typed texts. A lost response repeats no action.',
  async ({ button, fields, shows }) => {
    const shipment = await newShipment(app, client, `Failed ${button}`);
    const countEntries = async () => (await listShipmentAuditEntries(app.company, shipment.id)).length;
    const submitDuring = async (fault: Fault, form: ParsedPage) => {
      app.proxy.fail(fault, /^POST .*\/rpc\/(?!take_|release_)/);
      const failed = await parsePage(await clerk.submit(form, button, fields));
      app.proxy.fail("none");
      expect([failed.status, failed.toasts, failed.problems[0]?.text]).toEqual([503, [], unavailableText]);
      expectNoInternals(failed);
      return failed;
    };
    const failed = await submitDuring(500, await clerk.open(shipment.desk));
    for (const { id } of failed.problems) expect(failed.has(id)).toBe(true);
    expect(failed.form(button).fields).toMatchObject(fields);
    expect(await countEntries()).toBe(0);

    const lost = await submitDuring("lost answer", failed);
    expect((await clerk.submit(lost, button)).status).toBe(303);
    expect((await clerk.open(shipment.desk)).text).toContain(shows);
    expect(await countEntries()).toBe(1);
  },
);

const stageChanged = "Someone has changed this shipment. Check the new values, then try again.";
const chargeChanged = "Someone has changed this charge. Check the new values, then try again.";
const documentChanged = "Someone has changed this document. Check the document, then try again.";
const moveOn = ({ id }: TestShipment) => advanceShipment(app.company, id);
const changeCharge = async ({ id }: TestShipment) =>
  resultOrThrow(await setCharge(app.company, id, { item: "idf-fee", amount: 250, currency: "EUR" }, {}));
const verify = ({ id }: TestShipment) => verifyDocumentByName(app.company, id, "Packing List");
test.each<[string, FormValues, (shipment: TestShipment) => Promise<unknown>, string, string]>([
  ["Correct the stage", { stage: "3", reason: "Slip" }, moveOn, stageChanged, "Stage 2/10 Document Verification"],
  ["Save numbers", { awb: "176-12345675" }, moveOn, stageChanged, "Stage 2/10 Document Verification"],
  ["Mark as paid: IDF Fee", {}, changeCharge, chargeChanged, "IDF Fee EUR 250.00, unpaid"],
  ["Save charge: IDF Fee", { amount: "99", note: "Mine" }, changeCharge, chargeChanged, "IDF Fee EUR 250.00, unpaid"],
  ["Verify: Packing List", {}, verify, documentChanged, "Packing List Verified"],
  ["Request a new file: Packing List", { reason: "Torn" }, verify, documentChanged, "Packing List Verified"],
])(
  'The form "%s" with %j is rejected if the record has changed. The page shows the new state and the typed texts.',
  async (button, fields, change, message, shown) => {
    const shipment = await newShipment(app, client, "Changed", ["Packing List"]);
    await addCharge(shipment);
    const page = await clerk.open(shipment.desk);
    await change(shipment);
    const rejected = await parsePage(await clerk.submit(page, button, fields));
    expectRejectedForm(rejected, 409, message);
    expect(rejected.text).toContain(shown);
    if (change === verify) return expect(listButtons(rejected)).not.toContain(button);
    for (const { id } of rejected.problems) expect(rejected.has(id)).toBe(true);
    expect(rejected.form(button).fields).toMatchObject(fields);
    if (change === moveOn) expect((await clerk.submit(rejected, button)).status).toBe(303);
  },
);

test("A client sees why a document was rejected until the client uploads another file.", async () => {
  const button = "Upload the Packing List";
  const shipment = await newShipment(app, client, "Seen from both sides", ["Packing List"]);
  expect(listButtons(await client.browser.open(shipment.portal))).not.toContain(button);
  const reason = "Page 2 is <unreadable>";
  await clerk.submit(await clerk.open(shipment.desk), "Request a new file: Packing List", { reason });
  const page = await client.browser.open(shipment.portal);
  expect(page.text).toContain(`Packing List New file needed: ${reason}`);
  const response = await client.browser.submit(page, button, { file: createPdf("Packing list, again.pdf") });
  const after = await client.browser.follow(response);
  expect(after.toasts[0]?.title).toBe("Packing List uploaded");
  expect(after.text).toContain("Packing List Uploaded. We are checking your file");
  expect(after.text).not.toContain("unreadable");
  const desk = await clerk.open(shipment.desk);
  expect(desk.text).toContain("Packing List To check Packing list, again.pdf");
  expect((await clerk.submit(desk, "Verify: Packing List")).status).toBe(303);
  expect((await client.browser.open(shipment.portal)).text).toContain("Packing List Verified");
});
