import { describe, expect, test } from "vitest";
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

/** Returns the email about a shipment at stage 4 with these updates, in this order. */
function createUpdateEmail(...happened: ShipmentUpdate[]) {
  const told = {
    shipment_id: "5a0",
    name: "Tea",
    stage: 4,
    status: "Customs Declaration",
    waiting_on: "company",
  } as const;
  return shipmentUpdateEmail(sender, { ...told, events: happened }, "http://site.example/stop");
}
/** What its text says of stages. */
const listStageSentences = ({ text }: { text: string }) => text.match(/^(It moved to|We corrected its stage).*$/gm);

describe("a mail about a shipment that went through several stages", () => {
  test("Of several stage updates, the email names only the last one, and all other updates.", () => {
    const mail = createUpdateEmail(stage(2), note, stage(3), stage(4));
    expect(listStageSentences(mail)).toEqual(["It moved to Customs Declaration."]);
    expect(mail.text).toContain("We wrote you a note.");
    for (const passed of ["Document Verification", "IDF Application"]) expect(mail.text).not.toContain(passed);
  });

  test("says that we corrected its stage when it went back, also when it moved on after that", () => {
    const back = createUpdateEmail(stage(6), stage(3));
    expect(listStageSentences(back)).toEqual(["We corrected its stage: it is IDF Application."]);
    const onward = createUpdateEmail(stage(6), stage(3), stage(4));
    expect(listStageSentences(onward)).toEqual(["We corrected its stage: it is Customs Declaration."]);
    for (const { text } of [back, onward]) expect(text).not.toContain("Cargo Tracking");
  });
});

test("An email names the most urgent update first, and mentions several notes once.", () => {
  const { text } = createUpdateEmail(note, stage(4), note, rejected("Blurred"), note);
  const places = ["We sent the Packing List back", "It moved to", "We wrote you a note"].map((words) =>
    text.indexOf(words),
  );
  expect(places).toEqual([...places].sort((one, other) => one - other));
  expect(places).not.toContain(-1);
  expect(text.match(/We wrote you a note/g)).toHaveLength(1);
});

test("The subject of an email is the update that asks most of the client, in any order.", () => {
  const subjects: [ShipmentUpdate, string][] = [
    [rejected("Blurred"), "Tea: Packing List sent back"],
    [charge, "Tea: Duties & Taxes to pay"],
    [storage, "Tea: free storage until 14 May 2026"],
    [stage(4), "Tea: Customs Declaration (4 of 10)"],
    [note, "Tea: a note from us"],
  ];
  for (const [index, [, subject]] of subjects.entries()) {
    const rest = subjects.slice(index).map(([happening]) => happening);
    const turned = rest.map((_, first) => [...rest.slice(first), ...rest.slice(0, first)]);
    for (const order of [...turned, rest.toReversed()])
      expect([order.map(({ kind }) => kind), createUpdateEmail(...order).subject]).toEqual([
        order.map(({ kind }) => kind),
        subject,
      ]);
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
])("the reason %j of a document that was sent back ends in one full stop", (reason, words) => {
  const { text } = createUpdateEmail(rejected(reason));
  expect(text).toContain(`\nWe sent the Packing List back: ${words}. Send us another file.\n`);
});

test.each([
  ["password", passwordChangedEmail, "Your password", "The password of your account"],
  ["address", emailChangedEmail, "Your e-mail address", "The e-mail address of your account"],
] as const)('The email about a changed %s says "perhaps" only if the result is unknown.', (_what, mail, of, its) => {
  const [sure, unsure] = [mail(sender), mail(sender, "perhaps")];
  expect([sure.subject, unsure.subject]).toEqual([`${of} was changed`, `${of} was perhaps changed`]);
  expect(sure.text).toContain(`${its} was changed a moment ago.`);
  expect(unsure.text).toContain(`${its} was perhaps changed a moment ago.`);
  expect(sure.text).not.toContain("perhaps");
  for (const { text } of [sure, unsure]) expect(text).toContain("If that was not you, call us at once.");
});
