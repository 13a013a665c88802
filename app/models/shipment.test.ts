import { expect, onTestFinished, test, vi } from "vitest";
import { stages } from "./portal.server.ts";
import {
  formatCharge,
  getRetentionEnd,
  lastStage,
  type NextAction,
  nextAction,
  PAYMENTS,
  STAGES,
  shortId,
} from "./shipment.ts";

test("A shipment has ten stages, each with a different name and text.", () => {
  expect(lastStage).toBe(10);
  expect(new Set(STAGES).size).toBe(10);
  expect(new Set(stages.map(({ text }) => text)).size).toBe(10);
});

test.each(STAGES.map((name, index) => ({ stage: index + 1, name })))(
  "At stage $stage ($name), the next action says what happens next and who acts.",
  ({ stage }) => {
    const { waitingOn, text } = stages[stage - 1] ?? { waitingOn: "", text: "" };
    expect(text).toMatch(/^[A-Z].{10,}\.$/);
    expect(waitingOn).toBe({ 1: "client", 5: "client", 10: "nobody" }[stage] ?? "company");
  },
);

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
const getStage = (stage: number): NextAction & { ours?: string } =>
  stages[stage - 1] ?? { waitingOn: "company", text: "" };

test.each([
  [1, createDocuments("missing", "missing", "missing", "missing"), [], "client", getStage(1).text],
  [
    1,
    createDocuments("missing", "uploaded", "missing"),
    [],
    "client",
    "Upload the Commercial Invoice and Insurance Certificate.",
  ],
  [1, createDocuments(), [], "company", getStage(1).ours],
  [
    4,
    createDocuments("rejected", "missing"),
    [due],
    "client",
    "Upload a new file for the Commercial Invoice. Upload the Packing List. Pay the IDF Fee by 4 May 2026.",
  ],
  [4, createDocuments(), [{ ...due, due_on: null }], "client", "Pay the IDF Fee."],
  [4, createDocuments(), [paid], "company", getStage(4).text],
  [5, createDocuments(), [], "company", getStage(5).ours],
  [10, createDocuments("missing"), [paid], "nobody", getStage(10).text],
  [10, createDocuments("missing"), [due], "nobody", "A payment is still due."],
  [
    10,
    createDocuments(),
    [
      { ...due, amount: 642_000.1, currency: "KES" },
      { ...due, amount: 779.9, currency: "KES" },
      { ...due, amount: 50, currency: "USD" },
      { ...paid, amount: 9, currency: "USD" },
    ],
    "nobody",
    "KES 642,780.00 and USD 50.00 are still due.",
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
