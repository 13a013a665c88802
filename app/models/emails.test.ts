import { expect, test } from "vitest";
import { emailChangedEmail, passwordChangedEmail, type ShipmentEmail, shipmentUpdateEmail } from "./emails.ts";

const sender = {
  name: "The company",
  email: "office@company.example",
  phone: "+254 700 000 001",
  origin: "http://site.example",
};
type ShipmentUpdate = ShipmentEmail["events"][number];
const stage = (number: number): ShipmentUpdate => ({ kind: "stage", detail: String(number), reason: null });
const rejected = (reason: string | null): ShipmentUpdate => ({ kind: "rejected", detail: "Packing List", reason });
const charge: ShipmentUpdate = { kind: "charge", detail: "duties", reason: null };
const storage: ShipmentUpdate = { kind: "storage", detail: "2026-05-14", reason: null };
const note: ShipmentUpdate = { kind: "note", detail: "note", reason: null };

/** Returns the email about a shipment at stage 4 with the given events. */
function createUpdateEmail(...events: ShipmentUpdate[]) {
  const status = { stage: 4, status: "Customs Declaration", waiting_on: "company" } as const;
  return shipmentUpdateEmail(
    sender,
    { shipment_id: "5a0", name: "Tea", ...status, numbers: [["AWB/BL", "MSKU-9001"]], events },
    "http://site.example/stop",
  );
}

test.each([
  [[stage(2), note, stage(3), stage(4)], "It moved to Customs Declaration.", /Document Verification|IDF Application/],
  [[stage(4), stage(4)], "It moved to Customs Declaration.", /corrected/],
  [[stage(6), stage(3)], "We corrected its stage: it is IDF Application.", /Cargo Tracking/],
  [[stage(6), stage(3), stage(4)], "We corrected its stage: it is Customs Declaration.", /Cargo Tracking/],
])("A shipment update with several stages names only the last stage: %j", (events, sentence, passedStages) => {
  const { text } = createUpdateEmail(...events);
  expect(text.match(/^(It moved to|We corrected its stage).*$/gm)).toEqual([sentence]);
  expect(text).not.toMatch(passedStages);
  expect(text.includes("We wrote you a note.")).toBe(events.includes(note));
});

test("A shipment update starts with the most urgent event and mentions several notes once.", () => {
  const { text } = createUpdateEmail(note, stage(4), note, rejected("Blurred"), note);
  expect(text).toMatch(/We sent the Packing List back.*It moved to.*We wrote you a note/s);
  expect(text.match(/We wrote you a note/g)).toHaveLength(1);
});

test("The subject of a shipment update is its most urgent event, in any order of events.", () => {
  const subjects: [ShipmentUpdate, string][] = [
    [rejected("Blurred"), "Tea: Packing List sent back"],
    [charge, "Tea: Duties & Taxes to pay"],
    [storage, "Tea: free storage until 14 May 2026"],
    [stage(4), "Tea: Customs Declaration (4 of 10)"],
    [note, "Tea: a note from us"],
  ];
  for (const [index, [, subject]] of subjects.entries()) {
    const events = subjects.slice(index).map(([event]) => event);
    const rotations = events.map((_, first) => [...events.slice(first), ...events.slice(0, first)]);
    for (const order of [...rotations, events.toReversed()])
      expect(createUpdateEmail(...order).subject, order.map(({ kind }) => kind).join()).toBe(subject);
  }
  expect(createUpdateEmail().subject).toBe("Tea: Customs Declaration");
});

test.each([
  ["Page 2 is unreadable", "Page 2 is unreadable"],
  ["Page 2 is unreadable.", "Page 2 is unreadable"],
  ["It is blurred. Scan it again! ", "It is blurred. Scan it again"],
  ["Is it yours?", "Is it yours"],
  ["Torn...", "Torn"],
  [null, "the page says why"],
])("The reason %j for a rejected document ends with one full stop.", (reason, words) => {
  const { text } = createUpdateEmail(rejected(reason));
  expect(text).toContain(`\nWe sent the Packing List back: ${words}. Send us another file.\n`);
});

test.each([
  ["password", passwordChangedEmail, "Your password", "The password of your account"],
  ["address", emailChangedEmail, "Your e-mail address", "The e-mail address of your account"],
] as const)(
  "An email about a changed %s says 'perhaps' only if the change is uncertain.",
  (_what, create, name, fullName) => {
    const [certain, uncertain] = [create(sender), create(sender, "perhaps")];
    expect([certain.subject, uncertain.subject]).toEqual([`${name} was changed`, `${name} was perhaps changed`]);
    expect(certain.text).toContain(`${fullName} was changed a moment ago.`);
    expect(uncertain.text).toContain(`${fullName} was perhaps changed a moment ago.`);
    expect(certain.text).not.toContain("perhaps");
    for (const { text } of [certain, uncertain]) expect(text).toContain("If that was not you, call us at once.");
  },
);
