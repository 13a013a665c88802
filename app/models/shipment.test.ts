import { expect, test } from "vitest";
import { formatCharge, lastStage, type NextAction, nextAction, PAYMENTS, STAGES, shortId } from "./shipment.ts";
import { stages } from "./stage.server.ts";

test("a shipment has ten stages, each of another name", () => {
  expect(lastStage).toBe(10);
  expect(new Set(STAGES).size).toBe(10);
});

test.each(STAGES.map((name, index) => ({ stage: index + 1, name })))(
  "at stage $stage ($name) a client is told what happens next and who acts",
  ({ stage }) => {
    const { waitingOn, text } = stages[stage - 1] ?? { waitingOn: "", text: "" };
    expect(text).toMatch(/^[A-Z].{10,}\.$/);
    expect(waitingOn).toBe({ 1: "client", 5: "client", 10: "nobody" }[stage] ?? "company");
  },
);

test("every stage has a text of its own", () => {
  expect(new Set(stages.map(({ text }) => text)).size).toBe(10);
});

test("the short id is the first eight characters of the id", () => {
  expect(shortId("5a000000-0000-4000-8000-000000000001")).toBe("5a000000");
  expect(shortId("5a00")).toBe("5a00");
});

test("a shipment has the three payments of the specification", () => {
  expect(PAYMENTS.map(({ name }) => name)).toEqual(["IDF Fee", "Duties & Taxes", "Agent Fee"]);
});

test.each([
  [{}, "KES 1,284,300.00."],
  [{ due_on: "2026-05-04" }, "KES 1,284,300.00, due 4 May 2026."],
  [{ note: "Invoice 1042" }, "KES 1,284,300.00. Invoice 1042"],
  [{ due_on: "2026-05-04", note: "Invoice 1042" }, "KES 1,284,300.00, due 4 May 2026. Invoice 1042"],
  [{ due_on: "2026-05-04", paid_at: "2026-05-03T09:00:00Z" }, "KES 1,284,300.00, Paid."],
])("a charge with %j is told as %j", (known, words) => {
  const charge = { amount: 1284300, currency: "KES", due_on: null, note: null, paid_at: null };
  expect(formatCharge({ ...charge, ...known })).toBe(words);
});

const createDocument = (name: string, state: "here" | "missing" | "sent back") => ({
  name,
  uploaded: state === "here",
  rejected_at: state === "sent back" ? "2026-05-12T09:00:00Z" : null,
});
const createDocuments = (...states: Parameters<typeof createDocument>[1][]) =>
  ["Commercial Invoice", "Packing List", "Insurance Certificate", "Bill of Lading"].map((name, index) =>
    createDocument(name, states[index] ?? "here"),
  );
const due = { item: "idf-fee", due_on: "2026-05-04", paid_at: null };
const paid = { ...due, paid_at: "2026-05-03T09:00:00Z" };
const getStage = (stage: number): NextAction & { ours?: string } =>
  stages[stage - 1] ?? { waitingOn: "company", text: "" };

test.each([
  [1, createDocuments("missing", "missing", "missing", "missing"), [], "client", getStage(1).text],
  [
    1,
    createDocuments("missing", "here", "missing"),
    [],
    "client",
    "Upload the Commercial Invoice and Insurance Certificate.",
  ],
  [1, createDocuments(), [], "company", getStage(1).ours],
  [3, createDocuments("sent back"), [], "client", "Send us another file for the Commercial Invoice."],
  [
    4,
    createDocuments("sent back", "missing"),
    [due],
    "client",
    "Send us another file for the Commercial Invoice. Upload the Packing List. Pay the IDF Fee by 4 May 2026.",
  ],
  [4, createDocuments(), [{ ...due, due_on: null }], "client", "Pay the IDF Fee."],
  [4, createDocuments(), [paid], "company", getStage(4).text],
  [5, createDocuments(), [due], "client", "Pay the IDF Fee by 4 May 2026."],
  [5, createDocuments(), [], "company", getStage(5).ours],
  [8, createDocuments("here", "missing"), [paid], "client", "Upload the Packing List."],
  [10, createDocuments("missing"), [due], "nobody", getStage(10).text],
] as const)(
  "at stage %i the move is told from documents and charges: %j %j",
  (stage, documents, charges, who, text) => {
    const { waitingOn: acts, text: said } = nextAction(
      { stage, documents: [...documents], charges: [...charges] },
      getStage(stage),
    );
    expect([acts, said]).toEqual([who, text]);
  },
);
