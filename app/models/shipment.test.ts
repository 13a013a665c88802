import { expect, onTestFinished, test, vi } from "vitest";
import { stages } from "./portal.server.ts";
import { formatCharge, getRetentionEnd, lastStage, nextAction, PAYMENTS, STAGES, shortId } from "./shipment.ts";

test("A shipment has ten stages, each with a different name and text.", () => {
  expect(lastStage).toBe(10);
  expect(new Set(STAGES).size).toBe(10);
  expect(new Set(stages.map(({ text }) => text)).size).toBe(10);
});

test.each(stages)("One sentence explains the stage $name, and the next action is one sentence.", ({ text, ours }) => {
  for (const sentence of [text, ours ?? text]) expect(sentence).toMatch(/^[A-Z][^.!?:;]{10,}\.$/);
});

test("If we must act next, the next action says what we do, in every stage.", () => {
  for (const [index, stageTexts] of stages.slice(0, -1).entries()) {
    const { waitingOn, text } = nextAction({ stage: index + 1, documents: [], charges: [] }, stageTexts);
    expect([waitingOn, text]).toEqual(["company", expect.stringMatching(/\bwe\b/i)]);
  }
});

test("A shipment has the three payment items of the specification, and its short id has eight characters.", () => {
  expect(PAYMENTS.map(({ name }) => name)).toEqual(["IDF Fee", "Duties & Taxes", "Agent Fee"]);
  expect(shortId("5a000000-0000-4000-8000-000000000001")).toBe("5a000000");
});

test.each([
  [{ due_on: "2026-05-04" }, "KES 1,284,300.00, due 4 May 2026."],
  [{ note: "Invoice 1042" }, "KES 1,284,300.00. Invoice 1042"],
  [{ due_on: "2026-05-04", note: "Invoice 1042" }, "KES 1,284,300.00, due 4 May 2026. Invoice 1042"],
  [{ due_on: "2026-05-04", paid_at: "2026-05-03T09:00:00Z" }, "KES 1,284,300.00, paid."],
])("A charge with the values %j is displayed as %j.", (values, words) => {
  const charge = { amount: 1284300, currency: "KES", due_on: null, note: null, paid_at: null };
  expect(formatCharge({ ...charge, ...values })).toBe(words);
});

const createDocuments = (...states: ("uploaded" | "missing" | "rejected")[]) =>
  ["Commercial Invoice", "Packing List", "Insurance Certificate", "Bill of Lading"].map((name, index) => {
    const state = states[index] ?? "uploaded";
    const rejected_at = state === "rejected" ? "2026-05-12T09:00:00Z" : null;
    return { name, uploaded: state === "uploaded", rejected_at };
  });
const due = { item: "idf-fee", due_on: "2026-05-04", paid_at: null };
const paid = { ...due, paid_at: "2026-05-03T09:00:00Z" };
const getStage = (stage: number) => stages[stage - 1] ?? { text: "" };

test.each([
  [
    1,
    createDocuments("missing", "missing", "missing", "missing"),
    [],
    "client",
    "Upload the Commercial Invoice, Packing List, Insurance Certificate, and Bill of Lading.",
  ],
  [
    1,
    createDocuments("missing", "uploaded", "missing"),
    [],
    "client",
    "Upload the Commercial Invoice and Insurance Certificate.",
  ],
  [1, createDocuments(), [], "company", "We have your documents, and we start work within one working day."],
  [
    4,
    createDocuments("rejected", "missing"),
    [due],
    "client",
    "Upload a new file for the Commercial Invoice. Upload the Packing List. Pay the IDF Fee by 4 May 2026.",
  ],
  [4, createDocuments(), [{ ...due, due_on: null }], "client", "Pay the IDF Fee."],
  [4, createDocuments(), [paid], "company", getStage(4).text],
  [
    5,
    createDocuments(),
    [],
    "company",
    "You have nothing to pay now, and we continue the clearance with customs within one working day.",
  ],
  [10, createDocuments("missing"), [paid], "nobody", getStage(10).text],
  [
    10,
    createDocuments("missing"),
    [due, { ...due, item: "duties", due_on: null }],
    "nobody",
    "A payment is still due. Pay the IDF Fee by 4 May 2026. Pay the Duties & Taxes.",
  ],
  [
    10,
    createDocuments(),
    [
      { ...due, amount: 642_000.1, currency: "KES" },
      { ...due, item: "duties", amount: 779.9, currency: "KES" },
      { ...due, item: "agent-fee", amount: 50, currency: "USD" },
      { ...paid, amount: 9, currency: "USD" },
    ],
    "nobody",
    "KES 642,780.00 and USD 50.00 are still due. Pay the IDF Fee by 4 May 2026. Pay the Duties & Taxes by 4 May 2026. Pay the Agent Fee by 4 May 2026.",
  ],
] as const)("At stage %i with the documents %j and the charges %j, the shipment is waiting on %s: %s", (...row) => {
  const [stage, documents, charges, waitingOn, text] = row;
  const shipment = { stage, documents: [...documents], charges: [...charges] };
  expect(nextAction(shipment, getStage(stage))).toMatchObject({ waitingOn, text });
});

test("A retention period lasts until the end of its last day in UTC.", () => {
  vi.useFakeTimers({ now: new Date("2033-05-04T23:59:00Z") });
  onTestFinished(() => void vi.useRealTimers());
  expect(["2033-05-04", "2033-05-03", null].map(getRetentionEnd)).toEqual(["2033-05-04", null, null]);
});
