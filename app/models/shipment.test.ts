import { expect, test } from "vitest";
import { lastStage, PAYMENTS, STAGES, shortId } from "./shipment.ts";
import { stages } from "./stage.server.ts";

test("a shipment has ten stages, each of another name", () => {
  expect(lastStage).toBe(10);
  expect(new Set(STAGES).size).toBe(10);
});

test.each(STAGES.map((name, index) => ({ stage: index + 1, name })))(
  "at stage $stage ($name) a client is told what happens next and who acts",
  ({ stage }) => {
    const { who, text } = stages[stage - 1] ?? { who: "", text: "" };
    expect(text).toMatch(/^[A-Z].{10,}\.$/);
    expect(who).toBe({ 1: "you", 5: "you", 10: "done" }[stage] ?? "us");
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
