import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Fault } from "../support/fault-proxy.ts";
import {
  allDocuments,
  copyBrowser,
  expectRejectedForm,
  getDocument,
  getField,
  type LoggedInClient,
  listDuplicateIds,
  listShipmentAuditEntries,
  newClient,
  newShipment,
  newShipments,
  newStaffMember,
  replaceStoredFile,
  successToast,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { advanceShipment, verifyDocumentByName } from "../support/service-role.ts";
import { moveShipment, resultOrThrow, setCharge } from "../support/staff-actions.ts";
import {
  createPdf,
  expectNoInternals,
  type FormValues,
  getTestApp,
  getText,
  origin,
  type ParsedPage,
  parsePage,
  type TestBrowser,
  unavailableText,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let clerk: TestBrowser;
let client: LoggedInClient;
beforeAll(async () => {
  app = await getTestApp();
  clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
  client = await newClient(app, "Baraka Mwangi");
});
afterEach(() => app.proxy.fail("none"));

type TestShipment = Awaited<ReturnType<typeof newShipment>>;

/** Sets what the client has to pay for the IDF, and perhaps that it was paid. */
async function addCharge(shipment: TestShipment, button?: string) {
  resultOrThrow(await setCharge(app.company, shipment.id, { item: "idf-fee", amount: 100, currency: "KES" }, {}));
  if (button) await clerk.submit(await clerk.open(shipment.desk), button);
  clerk.cookies.delete("flash");
}

type StaffActionCase = {
  what: string;
  button: string;
  typed: FormValues;
  /** What the toast says, what stands on the page then, and what the log calls it: there, and in words. */
  toast: string;
  shows: string;
  logged: string;
  line: string;
  /** The part of the page that the answer leads to. */
  at?: "payments" | "storage" | "document";
  /** Brings a shipment to where the form is on its page. */
  prepare?: (shipment: TestShipment) => Promise<unknown>;
  /** What the form asks for besides once the act was done. */
  again?: FormValues;
  /** Whether it is based on the shipment's own state, which a move changes. */
  ofShipment?: boolean;
};

const uploadFile = (shipment: TestShipment) => uploadDocument(client.browser, shipment.portal, "Packing List");
const uploadAndVerify = async (shipment: TestShipment) => {
  await uploadFile(shipment);
  await verifyDocumentByName(app.company, shipment.id, "Packing List");
};

const staffActionCases: StaffActionCase[] = [
  {
    what: "a stage that is corrected",
    button: "Correct the stage",
    typed: { stage: "3", reason: "Entered <twice> & noticed late" },
    toast: "Stage corrected to IDF Application",
    shows: "3/10 IDF Application",
    logged: "shipment correct",
    line: "Stage corrected",
    ofShipment: true,
  },
  {
    what: "an AWB/BL",
    button: "Save numbers",
    typed: { awb: "176-12345675" },
    toast: "Numbers saved",
    shows: "AWB/BL 176-12345675",
    logged: "shipment set-numbers",
    line: "Numbers saved",
    again: { reason: "The line was cut" },
    ofShipment: true,
  },
  {
    what: "an arrival",
    button: "Save arrival",
    typed: { place: "nairobi", day: "2026-05-28", size: "40" },
    toast: "Arrival saved",
    shows: "Nairobi ICD, 40 ft, arrived 28 May 2026. Free storage until 1 June 2026.",
    logged: "shipment arrived",
    line: "Arrival saved",
    at: "storage",
    ofShipment: true,
  },
  {
    what: "a note",
    button: "Send note",
    typed: { note: "The vessel is late.\nWe write again on Monday." },
    toast: "Note sent",
    shows: "Note The vessel is late. We write again on Monday.",
    logged: "shipment note",
    line: "Note sent",
  },
  {
    what: "a charge",
    button: "Save the IDF Fee",
    typed: { amount: "12 500,000.5", currency: "USD", due: "2026-06-30", note: "Invoice 123456" },
    toast: "Charge saved",
    shows: "IDF Fee USD 12,500,000.50, due 30 June 2026 Invoice 123456",
    logged: "charge set",
    line: "Charge set",
    at: "payments",
  },
  {
    what: "a payment",
    button: "Mark as paid for IDF Fee",
    typed: {},
    toast: "Marked as paid",
    shows: "IDF Fee KES 100.00, paid ",
    logged: "charge paid",
    line: "Marked as paid",
    at: "payments",
    prepare: (shipment) => addCharge(shipment),
  },
  {
    what: "a payment that was none",
    button: "Mark as not paid for IDF Fee",
    typed: { reason: "The cheque came back" },
    toast: "Due again",
    shows: "IDF Fee KES 100.00, due ",
    logged: "charge unpaid",
    line: "Marked as not paid",
    at: "payments",
    prepare: (shipment) => addCharge(shipment, "Mark as paid for IDF Fee"),
  },
  {
    what: "a verification",
    button: "Verify the Packing List",
    typed: {},
    toast: "Verified",
    shows: "Packing List Verified invoice.pdf",
    logged: "document verify",
    line: "Verified: Packing List",
    at: "document",
    prepare: uploadFile,
  },
  {
    what: "a document that is sent back",
    button: "Send back the Packing List",
    typed: { reason: "Page 2 is unreadable" },
    toast: "Sent back",
    shows: "Packing List Sent back, waiting for another file Sent back ",
    logged: "document reject",
    line: "Sent back: Packing List",
    at: "document",
    prepare: uploadFile,
  },
  {
    what: "a verification that is taken back",
    button: "Take the verification back the Packing List",
    typed: { reason: "It is last year's" },
    toast: "Verification taken back",
    shows: "Packing List To check invoice.pdf",
    logged: "document unverify",
    line: "Verification taken back: Packing List",
    at: "document",
    prepare: uploadAndVerify,
  },
];

/** A shipment on whose page the form of an act stands, and that page. */
async function openCasePage({ what, prepare: ready }: StaffActionCase) {
  const shipment = await newShipment(app, client, `For ${what}`);
  await ready?.(shipment);
  return { shipment, page: await clerk.open(shipment.desk) };
}

/** The place on its page that an act leads to, as it stands behind the address of the page. */
async function getSectionHash({ at }: StaffActionCase, shipment: TestShipment): Promise<string> {
  if (at !== "document") return at ? `#${at}` : "";
  return `#document-${(await getDocument(app.company, shipment.id, "Packing List")).id}`;
}

const listLogged = async (shipment: TestShipment, act: string) =>
  (await listShipmentAuditEntries(app.company, shipment.id)).filter((one) => one.action === act);

describe("on the page of a shipment, $what", () => {
  test.each(staffActionCases)("$what is done, said, shown, and logged with who did it", async (act) => {
    const { shipment, page } = await openCasePage(act);
    const before = (await listLogged(shipment, act.logged)).length;
    const answer = await clerk.submit(page, act.button, act.typed);
    const place = await getSectionHash(act, shipment);
    expect([answer.status, answer.headers.get("Location")]).toEqual([303, shipment.desk + place]);
    const after = await clerk.follow(answer);
    if (place) expect(after.has(place.slice(1))).toBe(true);
    expect(after.toasts).toEqual(successToast(act.toast));
    expect(after.text).toContain(act.shows);
    expect(listDuplicateIds(after)).toEqual([]);
    const [line, ...more] = (await listLogged(shipment, act.logged)).slice(before);
    expect(more).toEqual([]);
    expect(line).toMatchObject({ actor_name: "Akinyi Odhiambo", reason: act.typed.reason ?? null });
    expect(after.text).toMatch(
      new RegExp(`Log ${act.line} Akinyi Odhiambo \\d{1,2} [A-Z][a-z]+ \\d{4}, \\d\\d:\\d\\d EAT`),
    );
    expect((await clerk.open(shipment.desk)).toasts).toEqual([]);
  });

  test.each(staffActionCases)(
    "$what is done once when the button is pressed twice, and nobody is told off",
    async (act) => {
      const { shipment, page } = await openCasePage(act);
      const before = (await listLogged(shipment, act.logged)).length;
      const other = copyBrowser(app, clerk);
      const answers = await Promise.all([
        clerk.submit(page, act.button, act.typed),
        other.submit(page, act.button, act.typed),
      ]);
      answers.push(await clerk.submit(page, act.button, act.typed));
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
      clerk.cookies.delete("flash");
      expect((await clerk.open(shipment.desk)).text).toContain(act.shows);
      expect(await listLogged(shipment, act.logged)).toHaveLength(before + 1);
    },
  );

  test.each(staffActionCases)(
    "$what is not done while the backend fails, keeps what was typed, and is done once though its answer is lost next",
    async (act) => {
      const { shipment, page } = await openCasePage(act);
      const before = (await listShipmentAuditEntries(app.company, shipment.id)).length;
      const press = async (on: ParsedPage, fault: Fault) => {
        app.proxy.fail(fault, /^POST .*\/rpc\/(?!take_|release_)/);
        const refused = await parsePage(await clerk.submit(on, act.button, act.typed));
        app.proxy.fail("none");
        expect(refused.status).toBe(503);
        expect(refused.toasts.at(-1)).toEqual({
          title: "Not done",
          description: unavailableText,
          variant: "destructive",
        });
        expectNoInternals(refused);
        return refused;
      };
      const refused = await press(page, 500);
      for (const { id } of refused.problems) expect(refused.has(id)).toBe(true);
      expect(refused.form(act.button).fields).toMatchObject(act.typed);
      expect(await listShipmentAuditEntries(app.company, shipment.id)).toHaveLength(before);

      const lost = await press(refused, "lost answer");
      // Where the form is still there, it is pressed again; where it is gone, the page shows that it was done.
      const isThere = lost.all("button").some((button) => getText(button) === act.button);
      if (isThere) expect((await clerk.submit(lost, act.button, act.again)).status).toBe(303);
      clerk.cookies.delete("flash");
      expect((await clerk.open(shipment.desk)).text).toContain(act.shows);
      expect(await listShipmentAuditEntries(app.company, shipment.id)).toHaveLength(before + 1);
    },
  );

  test.each(staffActionCases.filter(({ ofShipment }) => ofShipment))(
    "$what is refused when somebody else moved the shipment meanwhile; the page shows where it is, and what was typed",
    async (act) => {
      const { shipment, page } = await openCasePage(act);
      await advanceShipment(app.company, shipment.id);
      const refused = await parsePage(await clerk.submit(page, act.button, act.typed));
      expectRejectedForm(refused, 409, "This shipment has changed since you opened it.");
      for (const { id } of refused.problems) expect(refused.has(id)).toBe(true);
      expect(refused.text).toContain("Stage 2/10 Document Verification");
      expect(refused.form(act.button).fields).toMatchObject(act.typed);
      expect(await listLogged(shipment, act.logged)).toEqual([]);
      expect((await clerk.follow(await clerk.submit(refused, act.button))).toasts).toEqual(successToast(act.toast));
    },
  );
});

test("the note of a charge asks for the number of the invoice, which alone says where to pay", async () => {
  const shipment = await newShipment(app, client, "To be charged");
  const page = await clerk.open(shipment.desk);
  const hints = page.all("#payments [id*=-note-]").map(getText);
  expect(hints).toEqual(Array(3).fill("For the client, such as the number of our invoice"));
});

test("a charge that somebody else changed meanwhile is neither changed nor paid; the page shows the present one", async () => {
  const shipment = await newShipment(app, client, "Charged");
  await addCharge(shipment);
  const page = await clerk.open(shipment.desk);
  resultOrThrow(await setCharge(app.company, shipment.id, { item: "idf-fee", amount: 250, currency: "EUR" }, {}));
  for (const [button, typed] of [
    ["Mark as paid for IDF Fee", {}],
    ["Save the IDF Fee", { amount: "99", note: "Mine" }],
  ] as const) {
    const refused = await parsePage(await clerk.submit(page, button, typed));
    expectRejectedForm(refused, 409, "This charge has changed since you opened it.");
    expect(refused.text).toContain("IDF Fee EUR 250.00, due");
    expect(refused.form(button).fields).toMatchObject(typed);
  }
});

test("a document that somebody else judged meanwhile is judged by nobody else's old page", async () => {
  const shipment = await newShipment(app, client, "Judged", ["Packing List"]);
  const page = await clerk.open(shipment.desk);
  const other = copyBrowser(app, clerk);
  await other.submit(await other.open(shipment.desk), "Verify the Packing List");
  const refused = await parsePage(
    await clerk.submit(page, "Send back the Packing List", { reason: "It was not the one I saw" }),
  );
  expectRejectedForm(refused, 409, "This document has changed since you opened it.");
  expect(refused.text).toContain("Packing List Verified");
  const again = await parsePage(await clerk.submit(page, "Verify the Packing List"));
  expectRejectedForm(again, 409, "This document has changed since you opened it.");
  expect((await listLogged(shipment, "document verify")).length).toBe(1);
});

test("a file that was exchanged in the store is not verified, and the page says so", async () => {
  const shipment = await newShipment(app, client, "Exchanged", ["Packing List"]);
  const page = await clerk.open(shipment.desk);
  const { storage_path } = await getDocument(app.company, shipment.id, "Packing List");
  await replaceStoredFile(app.company, storage_path ?? "");
  const refused = await parsePage(await clerk.submit(page, "Verify the Packing List"));
  const why = "The Packing List is not verified: The stored file is not the one that was uploaded.";
  expectRejectedForm(refused, 409, why);
  expect(await getDocument(app.company, shipment.id, "Packing List")).toMatchObject({ verified: false });
});

describe("a form of a shipment is refused in words beside its field, keeps what was typed and stays open:", () => {
  const long = (length: number) => `${"Long words ".repeat(length / 10).slice(0, length - 1)}!`;
  const why = "Say why, in a few words.";
  const wrong: [string, FormValues, string, string][] = [
    ["Correct the stage", { stage: "4", reason: " " }, "correct-reason", why],
    ["Correct the stage", { stage: "11", reason: "Typed by hand" }, "correct-stage", "Choose the stage."],
    ["Correct the stage", { stage: "0", reason: "Typed by hand" }, "correct-stage", "Choose the stage."],
    ["Correct the stage", { stage: "2.5", reason: "Typed by hand" }, "correct-stage", "Choose the stage."],
    ["Correct the stage", { stage: "4", reason: long(501) }, "correct-reason", "Use at most 500 characters."],
    ["Save numbers", { awb: long(65) }, "numbers-awb", "Use at most 64 characters for the AWB/BL."],
    [
      "Save numbers",
      { awb: "176\u202e57654321" },
      "numbers-awb",
      "This holds a character that cannot be seen, such as a line break. Type it again.",
    ],
    ["Save arrival", { place: "", day: "2026-05-28", size: "20" }, "arrival-place", "Choose the place."],
    ["Save arrival", { place: "mombasa", day: "", size: "20" }, "arrival-day", "Give the day."],
    [
      "Save arrival",
      { place: "mombasa", day: "31.05.2026", size: "20" },
      "arrival-day",
      "Give a day such as 2026-05-31.",
    ],
    ["Save arrival", { place: "mombasa", day: "2026-02-30", size: "20" }, "arrival-day", "There is no such day."],
    ["Save arrival", { place: "mombasa", day: "2026-05-28", size: "" }, "arrival-size", "Choose the size."],
    ["Send note", { note: "\n " }, "note-note", "Write the note."],
    ["Send note", { note: long(1001) }, "note-note", "Use at most 1,000 characters."],
    ["Save the Duties & Taxes", { amount: "" }, "charge-duties-amount", "Enter the amount."],
    ["Save the Duties & Taxes", { amount: "0.00" }, "charge-duties-amount", "Enter an amount above nothing."],
    [
      "Save the Duties & Taxes",
      { amount: "5", due: "2026-13-01" },
      "charge-duties-due",
      "Give a day such as 2026-05-31.",
    ],
    ["Save the Duties & Taxes", { amount: "5", note: long(301) }, "charge-duties-note", "Use at most 300 characters."],
    ["Save the Duties & Taxes", { amount: "5", currency: "XAU" }, "charge-duties-currency", "Choose the currency."],
    ...["twelve", "1.234,50", "-5", "1e5", "123456789012", "5.005"].map(
      (amount): [string, FormValues, string, string] => [
        "Save the Duties & Taxes",
        { amount, note: "Kept" },
        "charge-duties-amount",
        "Enter an amount such as 12,500 or 12500.50.",
      ],
    ),
  ];
  let shipment: TestShipment;
  let page: ParsedPage;
  beforeAll(async () => {
    shipment = await newShipment(app, client, "Refused", ["Packing List", "Bill of Lading"]);
    await verifyDocumentByName(app.company, shipment.id, "Bill of Lading");
    await addCharge(shipment, "Mark as paid for IDF Fee");
    page = await clerk.open(shipment.desk);
  });

  async function expectKept(button: string, typed: FormValues, id: string, said: string) {
    const before = await listShipmentAuditEntries(app.company, shipment.id);
    const refused = await parsePage(await clerk.submit(page, button, typed));
    expect(refused.status).toBe(400);
    expect(refused.title).toMatch(/^Error: /);
    const field = getField(refused, id);
    expect(field.said.at(-1)).toEqual(said);
    expect(field.isMarked).toBe(true);
    expect(refused.problems).toEqual([{ text: said, id }]);
    const sent = refused.form(button).fields;
    for (const [name, value] of Object.entries(typed)) {
      // A list has no place for what it does not offer.
      if (said.startsWith("Choose") && id.endsWith(`-${name}`)) continue;
      expect([name, sent[name]]).toEqual([name, value]);
    }
    const folded = refused.all("main details").filter((details) => details.querySelector("form"));
    const isOpen = folded.filter((details) => details.hasAttribute("open"));
    expect(isOpen).toEqual(folded.filter((details) => details.querySelector(`[id="${id}"]`)));
    expect(await listShipmentAuditEntries(app.company, shipment.id)).toEqual(before);
  }
  test.each(wrong)("%s %j", expectKept);

  test("what a document or a payment is undone for", async () => {
    const { id } = await getDocument(app.company, shipment.id, "Packing List");
    const verifiedOne = await getDocument(app.company, shipment.id, "Bill of Lading");
    await expectKept("Send back the Packing List", { reason: "" }, `reject-${id}-reason`, why);
    await expectKept(
      "Send back the Packing List",
      { reason: long(501) },
      `reject-${id}-reason`,
      "Use at most 500 characters.",
    );
    const back = "Take the verification back the Bill of Lading";
    await expectKept(back, { reason: "" }, `unverify-${verifiedOne.id}-reason`, why);
    await expectKept("Mark as not paid for IDF Fee", { reason: "" }, "mark-unpaid-idf-fee-reason", why);
  });

  test("the stage where it is, and the number that it has, are no change", async () => {
    const same = await parsePage(await clerk.submit(page, "Correct the stage", { stage: "1", reason: "None" }));
    expectRejectedForm(same, 409, "The shipment is at this stage already.");
    const number = await parsePage(await clerk.submit(page, "Save numbers", { awb: "" }));
    expectRejectedForm(number, 409, "The shipment has these numbers already.");
  });

  test("a number that stands, which is changed with a reason alone, however the form is sent; the log keeps both", async () => {
    const own = await newShipment(app, client, "Numbered");
    await clerk.submit(await clerk.open(own.desk), "Save numbers", { awb: "176-1" });
    clerk.cookies.delete("flash");
    const form = await clerk.open(own.desk);
    const typed = { awb: "176-2", reason: "" };
    const refused = await parsePage(await clerk.submit(form, "Save numbers", typed));
    expect(refused.status).toBe(400);
    expect(refused.problems).toEqual([{ text: why, id: "numbers-reason" }]);
    expect(getField(refused, "numbers-reason")).toMatchObject({ said: [why], isMarked: true });
    expect(refused.form("Save numbers").fields).toMatchObject(typed);
    // As if none stood.
    const { action, fields } = form.form("Save numbers");
    const { hasNumbers: _, ...rest } = fields as Record<string, string>;
    for (const awb of ["176-2", ""]) {
      const forced = await parsePage(await clerk.post(action, { ...rest, awb, reason: "" }));
      expectRejectedForm(forced, 400, why);
      expect(forced.text).toContain("AWB/BL 176-1");
    }
    const changed = { awb: "176-2", reason: "A slip of the <airline>" };
    const after = await clerk.follow(await clerk.submit(refused, "Save numbers", changed));
    expect(after.toasts).toEqual(successToast("Numbers saved"));
    expect(after.text).toContain("176-1 → 176-2 Reason: A slip of the <airline>");
    expect(await listLogged(own, "shipment set-numbers")).toMatchObject([
      { before: { awb: null }, after: { awb: "176-1" }, reason: null },
      { before: { awb: "176-1" }, after: { awb: "176-2" }, reason: changed.reason },
    ]);
  });

  test("a sum that is marked as paid, which stays as it was paid", async () => {
    const refused = await parsePage(await clerk.submit(page, "Save the IDF Fee", { amount: "99" }));
    expectRejectedForm(refused, 409, "This sum is marked as paid: mark it as not paid first.");
    expect(refused.text).toContain("IDF Fee KES 100.00, paid ");
  });

  test.each(["", "toString", "constructor", "__proto__", "move"])("an act that is none: %j", async (intent) => {
    const answer = await parsePage(await clerk.post(shipment.desk, { intent, note: "x", reason: "x" }));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("This form is not known here. Open the page again.");
    expectNoInternals(answer);
  });

  test("a shipment that is not there is the page of an unknown address, for a form too", async () => {
    for (const id of ["0b51e3a8-0000-4000-8000-000000000000", "not-a-uuid"]) {
      const answers = [await clerk.open(`/desk/shipments/${id}`), await clerk.open(`/desk/shipments/${id}/move`)];
      answers.push(await parsePage(await clerk.post(`/desk/shipments/${id}`, { intent: "note", note: "Hello" })));
      answers.push(await parsePage(await clerk.post(`/desk/shipments/${id}/move`, { intent: "move" })));
      for (const page of answers) expect([page.status, page.h1]).toEqual([404, "There is no page here"]);
    }
  });
});

/** The events that a client reads, newest first: what, where and when, and the note. */
async function listHistory(portal: string) {
  const page = await client.browser.open(portal);
  return page
    .all("main li")
    .filter((item) => item.querySelector("time"))
    .map((item) => getText(item).replace(/\d{1,2} [A-Z][a-z]{2,3} \d{4}, \d\d:\d\d EAT/, "AT"));
}

describe("moving a shipment on", () => {
  let ready: TestShipment;
  beforeAll(async () => {
    ready = await newShipment(app, client, "Ready", allDocuments);
  });

  test("goes to the next stage, and its client reads where, and the note", async () => {
    const move = { location: "Port of <Mombasa>", note: "All papers are complete.\nNext is the IDF." };
    const answer = await clerk.submit(await clerk.open(ready.desk), "Move to Document Verification", move);
    expect(answer.headers.get("Location")).toBe(ready.desk);
    const page = await clerk.follow(answer);
    expect(page.toasts).toEqual(successToast("It is at Document Verification now"));
    expect(page.text).toContain("Stage 2/10 Document Verification");
    expect(page.form("Move to IDF Application").fields).toMatchObject({ location: "", note: "" });
    expect(await listHistory(ready.portal)).toEqual([
      "Document Verification (latest) All papers are complete. Next is the IDF. Port of <Mombasa>, AT",
    ]);
  });

  test("is done once for a form that is sent three times", async () => {
    const page = await clerk.open(ready.desk);
    const other = copyBrowser(app, clerk);
    const press = (browser: TestBrowser) => browser.submit(page, "Move to IDF Application", { location: "Nairobi" });
    const answers = [...(await Promise.all([press(clerk), press(other)])), await press(clerk)];
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    clerk.cookies.delete("flash");
    expect((await clerk.open(ready.desk)).text).toContain("Stage 3/10 IDF Application");
    expect(await listLogged(ready, "shipment advance")).toHaveLength(2);
  });

  test("is refused with the present state when somebody else moved it; place and note are kept, and it moves from there", async () => {
    const page = await clerk.open(ready.desk);
    await advanceShipment(app.company, ready.id);
    const move = { location: "Kilindini", note: "On its way" };
    const refused = await parsePage(await clerk.submit(page, "Move to Customs Declaration", move));
    expectRejectedForm(refused, 409, "This shipment has changed since you opened it.");
    expect(refused.form("Move to Payment Clearance").fields).toMatchObject(move);
    expect(await listLogged(ready, "shipment advance")).toHaveLength(3);
    const moved = await clerk.follow(await clerk.submit(refused, "Move to Payment Clearance"));
    expect(moved.text).toContain("Stage 5/10 Payment Clearance");
  });

  test("asks once more while documents are missing, names them, keeps place and note, and then goes on", async () => {
    const shipment = await newShipment(app, client, "Without papers", ["Packing List"]);
    const move = { location: "Eldoret", note: "The papers follow" };
    const press = await clerk.submit(await clerk.open(shipment.desk), "Move to Document Verification", move);
    const asked = await parsePage(press);
    expect([asked.status, asked.h1]).toEqual([409, "Move on without these documents?"]);
    expect(asked.all("main ul.list-disc li").map(getText).sort()).toEqual([
      "Bill of Lading",
      "Commercial Invoice",
      "Insurance Certificate",
    ]);
    const [leave] = asked.all("main a").filter((link) => getText(link) === "Leave it where it is");
    expect(leave?.getAttribute("href")).toBe(shipment.desk);
    expect((await clerk.open(shipment.desk)).text).toContain("Stage 1/10 Client Onboarding");

    const button = "Move on all the same to Document Verification";
    expect(asked.form(button).fields).toMatchObject(move);
    const other = copyBrowser(app, clerk);
    const answers = await Promise.all([clerk.submit(asked, button), other.submit(asked, button)]);
    expect(answers.map(({ status, headers }) => [status, headers.get("Location")])).toEqual(
      Array(2).fill([303, shipment.desk]),
    );
    expect((await clerk.open(shipment.desk)).text).toContain("Stage 2/10 Document Verification");
    expect(await listHistory(shipment.portal)).toEqual([
      "Document Verification (latest) The papers follow Eldoret, AT",
    ]);
  });

  test("is refused in words beside the field, with what was typed", async () => {
    const shipment = await newShipment(app, client, "Wordy");
    const move = { location: "x".repeat(121), note: "y".repeat(1001) };
    const refused = await parsePage(
      await clerk.submit(await clerk.open(shipment.desk), "Move to Document Verification", move),
    );
    expect(refused.status).toBe(400);
    expect(getField(refused, "move-location")).toMatchObject({
      value: move.location,
      said: ["Use at most 120 characters for the location."],
    });
    expect(getField(refused, "move-note")).toMatchObject({
      value: move.note,
      said: ["Use at most 1,000 characters for the note."],
    });
  });

  test("ends at the last stage: a closed shipment has no form for it, and takes none", async () => {
    const shipment = await newShipment(app, client, "Closing");
    const page = await clerk.open(shipment.desk);
    for (let stage = 1; stage < 10; stage += 1) await advanceShipment(app.company, shipment.id);
    const closed = await clerk.open(shipment.desk);
    expect(closed.text).toContain("Stage 10/10 Shipment Closed Move Closed since");
    expect(closed.all("button").filter((button) => getText(button).startsWith("Move"))).toEqual([]);
    const { fields, action } = page.form("Move to Document Verification");
    const late = await parsePage(
      await clerk.post(action, { ...(fields as Record<string, string>), expectedVersion: "9" }),
    );
    expectRejectedForm(late, 409, "This shipment is closed: stage 10 is the last.");
    expect(late.all("button").filter((button) => getText(button).startsWith("Move"))).toEqual([]);
  });
});

describe("moving many shipments on", () => {
  /** The rows of the list in view. */
  const idsOf = (page: ParsedPage) =>
    page.all("main input[name=shipment]").map((box) => box.getAttribute("value") ?? "");

  /** Ticks these rows of the list and presses the button. */
  async function press(page: ParsedPage, ids: string[], location = "") {
    const { action, fields } = page.form("Move to the next stage");
    const form = new URLSearchParams({ ...(fields as Record<string, string>), location });
    for (const id of ids) form.append("shipment", id);
    return clerk.post(action, form);
  }

  /** The same, and goes where the answer leads. */
  async function moveMany(page: ParsedPage, ids: string[], location = "") {
    const answer = await press(page, ids, location);
    return answer.status === 303 ? clerk.follow(answer) : parsePage(answer);
  }

  /** What the answer says of each shipment, by its name, under "Moved" and "Did not move". */
  const outcomes = (page: ParsedPage) =>
    Object.fromEntries(
      page
        .all("main section")
        .map((section) => [getText(section.querySelector("h2")), section.querySelectorAll("li").map(getText)]),
    );
  const closedWords = "It is closed: stage 10 is the last.";
  const changedWords = "Somebody changed it after you opened the list.";

  test("says of twenty at once which moved, which did not, and why", async () => {
    const owner = await newClient(app, "Twenty At Once");
    const names = Array.from({ length: 17 }, (_, index) => `Waiting ${index}`);
    const waiting = await newShipments(app, owner, names);
    const line = (name: string, at: string, says = "") => `${name} Twenty At Once, ${at}. ${says}`.trim();
    const [first, second] = ["1/10 Client Onboarding", "2/10 Document Verification"];
    const ready = [];
    for (const name of ["Ready one", "Ready two"]) ready.push((await newShipment(app, owner, name, allDocuments)).id);
    const changed = (await newShipment(app, owner, "Changed meanwhile", allDocuments)).id;
    const page = await clerk.open(`/desk/shipments?q=${encodeURIComponent(owner.email)}`);
    expect(idsOf(page).sort()).toEqual([...waiting, ...ready, changed].sort());
    await advanceShipment(app.company, changed);
    const [closed = ""] = waiting;
    for (let stage = 1; stage < 10; stage += 1) await advanceShipment(app.company, closed);

    const answer = await moveMany(page, idsOf(page), "Mombasa");
    expect([answer.status, answer.h1]).toEqual([200, "2 moved, 18 did not"]);
    expect(listDuplicateIds(answer)).toEqual([]);
    const missing = "Still missing: Bill of Lading, Commercial Invoice, Insurance Certificate, Packing List.";
    const { Moved, "Did not move": stayed } = outcomes(answer);
    expect(Moved).toEqual([line("Ready one", second), line("Ready two", second)]);
    expect(stayed?.sort()).toEqual(
      [
        line("Changed meanwhile", second, changedWords),
        line("Waiting 0", "10/10 Shipment Closed", closedWords),
        ...names.slice(1).map((name) => line(name, first, missing)),
      ].sort(),
    );
    const links = answer.all("main section a").map((link) => link.getAttribute("href"));
    expect(links.sort()).toEqual([...waiting, ...ready, changed].map((id) => `/desk/shipments/${id}`).sort());
    const [back] = answer.all("main a").filter((link) => getText(link) === "Back to the shipments");
    expect(back?.getAttribute("href")).toBe(`/desk/shipments?q=${encodeURIComponent(owner.email)}`);
    for (const id of ready) {
      const { data: event } = await app.company.from("tracking_events").select("location").eq("shipment_id", id);
      expect(event).toEqual([{ location: "Mombasa" }]);
    }

    const again = await moveMany(page, ready, "Mombasa");
    expect(again.h1).toBe("2 moved, 0 did not");
    const { data: stages } = await app.company.from("shipments").select("stage").in("id", ready);
    expect(stages).toEqual([{ stage: 2 }, { stage: 2 }]);

    const fresh = await clerk.open(`/desk/shipments?q=${encodeURIComponent(owner.email)}`);
    const [box] = fresh.all(`main input[value="${closed}"]`);
    expect(box?.hasAttribute("disabled")).toBe(true);
    const late = await moveMany(fresh, [closed]);
    expect([late.h1, outcomes(late)]).toEqual([
      "0 moved, 1 did not",
      { "Did not move": [line("Waiting 0", "10/10 Shipment Closed", closedWords)] },
    ]);
    const unknown = "0b51e3a8-0000-4000-8000-000000000000";
    const [waits = ""] = waiting.slice(1);
    const mixed = await press(fresh, [unknown, waits]);
    const asked = new URL(mixed.headers.get("Location") ?? "", origin).searchParams;
    expect([mixed.status, asked.get("unknown"), asked.get("missing")]).toEqual([303, unknown, waits]);
  });

  test("has an answer that is read again by its address, with what is missing by then, by colleagues alone", async () => {
    const owner = await newClient(app, "Read Again");
    const ready = await newShipment(app, owner, "Complete <tea>", allDocuments);
    const waiting = await newShipment(app, owner, "Incomplete coffee", allDocuments.slice(1));
    const page = await clerk.open(`/desk/shipments?q=${encodeURIComponent(owner.email)}`);
    const answer = await press(page, [ready.id, waiting.id]);
    const address = answer.headers.get("Location") ?? "";
    expect([answer.status, address.split("?")[0]]).toEqual([303, "/desk/shipments/bulk-move"]);
    const before = [
      await listShipmentAuditEntries(app.company, ready.id),
      await listShipmentAuditEntries(app.company, waiting.id),
    ];

    const moved = "Complete <tea> Read Again, 2/10 Document Verification.";
    const stayed = "Incomplete coffee Read Again, 1/10 Client Onboarding.";
    const other = (await newStaffMember(app, "clerk", "Reads It Too")).browser;
    for (const browser of [clerk, clerk, other]) {
      const shown = await browser.open(address);
      expect([shown.status, shown.h1, outcomes(shown)]).toEqual([
        200,
        "1 moved, 1 did not",
        { Moved: [moved], "Did not move": [`${stayed} Still missing: ${allDocuments[0]}.`] },
      ]);
    }
    await uploadDocument(owner.browser, waiting.portal, allDocuments[0] ?? "");
    const later = await clerk.open(address);
    expect(outcomes(later)["Did not move"]).toEqual([`${stayed} Documents were missing then.`]);
    expect([
      await listShipmentAuditEntries(app.company, ready.id),
      await listShipmentAuditEntries(app.company, waiting.id),
    ]).toEqual(before);

    for (const browser of [owner.browser, client.browser]) {
      const shut = await browser.open(address);
      expect([shut.status, shut.h1]).toEqual([404, "There is no page here"]);
      for (const secret of ["Complete", "Incomplete", "Read Again,", ready.id]) expect(shut.text).not.toContain(secret);
      const data = await (await browser.get(address.replace("?", ".data?"))).text();
      for (const secret of ["<tea>", "coffee"]) expect(data).not.toContain(secret);
    }
    const stranger = await app.browser().get(address);
    expect(stranger.headers.get("Location")).toBe(`/login?next=${encodeURIComponent(address)}`);
    expect(await stranger.text()).toBe("");
  });

  test("asks for a tick, and for a place that is not too long, and moves nothing", async () => {
    const { id } = await newShipment(app, client, "Ticked7Q", allDocuments);
    const page = await clerk.open("/desk/shipments?q=Ticked7Q");
    const refusals = [
      await moveMany(page, []),
      await moveMany(page, ["not-an-id"]),
      await moveMany(page, [id], "x".repeat(121)),
    ];
    expect(refusals.map(({ status, h1 }) => [status, h1])).toEqual(Array(3).fill([400, "Nothing moved"]));
    expect(refusals.map(({ text }) => /Tick the shipments|at most 120/.exec(text)?.[0])).toEqual([
      "Tick the shipments",
      "Tick the shipments",
      "at most 120",
    ]);
    expect((await clerk.open("/desk/shipments/bulk-move")).h1).toBe("Nothing moved");
    const { data } = await app.company.from("shipments").select("stage").eq("id", id).single();
    expect(data?.stage).toBe(1);
  });

  test("says so when the backend fails, and the same form moves them later, each once", async () => {
    const two: string[] = [];
    for (const name of ["Outage7Q one", "Outage7Q two"])
      two.push((await newShipment(app, client, name, allDocuments)).id);
    const page = await clerk.open("/desk/shipments?q=Outage7Q");
    expect(idsOf(page).sort()).toEqual(two.sort());
    for (const [fault, stage] of [
      [500, 1],
      ["lost answer", 2],
    ] as const) {
      app.proxy.fail(fault, /move_shipments/);
      const answer = await press(page, two).then(parsePage);
      app.proxy.fail("none");
      expect([answer.status, answer.headers.get("Location")]).toEqual([503, null]);
      expect(answer.text).toContain("Our records do not answer at the moment.");
      expect(answer.text).not.toContain("moved, ");
      expectNoInternals(answer);
      const { data: stages } = await app.company.from("shipments").select("stage").in("id", two);
      expect(stages).toEqual([{ stage }, { stage }]);
    }
    expect((await moveMany(page, two)).h1).toBe("2 moved, 0 did not");
    const { data: stages } = await app.company.from("shipments").select("stage").in("id", two);
    expect(stages).toEqual([{ stage: 2 }, { stage: 2 }]);
  });
});

describe("the client sees what the company did:", () => {
  let shipment: TestShipment;
  beforeAll(async () => {
    shipment = await newShipment(app, client, "Seen from both sides", ["Packing List"]);
  });

  test("a note, in the history", async () => {
    await clerk.submit(await clerk.open(shipment.desk), "Send note", {
      note: "The vessel <MSC Jana> is late.\nSorry.",
    });
    expect(await listHistory(shipment.portal)).toEqual(["Note (latest) The vessel <MSC Jana> is late. Sorry. AT"]);
  });

  test("why a document was sent back, beside it, and can send another file, which ends it", async () => {
    const button = "Upload the Packing List";
    await expect(() => client.browser.open(shipment.portal).then((page) => page.form(button))).rejects.toThrow(
      "No button",
    );
    await clerk.submit(await clerk.open(shipment.desk), "Send back the Packing List", {
      reason: "Page 2 is <unreadable>",
    });
    const page = await client.browser.open(shipment.portal);
    expect(page.text).toMatch(/Packing List Sent back \d{1,2} [A-Z][a-z]{2,3}: Page 2 is <unreadable>/);
    const answer = await client.browser.submit(page, button, { file: createPdf("Packing list, again.pdf") });
    const after = await client.browser.follow(answer);
    expect(after.toasts[0]?.title).toBe("Packing List uploaded");
    expect(after.text).toContain("Packing List Uploaded, we check it next");
    expect(after.text).not.toContain("unreadable");
    const desk = await clerk.open(shipment.desk);
    expect(desk.text).toContain("Packing List To check Packing list, again.pdf");
    expect((await clerk.submit(desk, "Verify the Packing List")).status).toBe(303);
    expect((await client.browser.open(shipment.portal)).text).toContain("Packing List Verified");
  });

  test("a stage that was corrected, and the AWB/BL; the reason is for the company alone", async () => {
    await clerk.submit(await clerk.open(shipment.desk), "Correct the stage", {
      stage: "6",
      reason: "Slip of the clerk",
    });
    await clerk.submit(await clerk.open(shipment.desk), "Save numbers", { awb: "MSCU1234567" });
    const page = await client.browser.open(shipment.portal);
    expect(page.text).toContain("Stage 6/10");
    expect(page.text).toContain("AWB/BL MSCU1234567");
    expect(page.text).not.toContain("Slip of the clerk");
    expect((await listHistory(shipment.portal))[0]).toBe("Corrected: Cargo Tracking (latest) AT");
    const moved = await moveShipment(app.company, shipment.id, { despiteMissing: true }, {});
    expect(moved).toEqual({ result: { stage: 7, status: "Inspection & Release" } });
  });
});
