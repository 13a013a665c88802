import { describe, expect, test } from "vitest";
import { addressChanged, passwordChanged, shipmentNotice, type Told } from "./letter.ts";

const head = {
  name: "The company",
  email: "office@company.example",
  phone: "+254 700 000 001",
  origin: "http://site.example",
};
type Happening = Told["happened"][number];
const stage = (what: string): Happening => ({ kind: "stage", what, reason: null });
const sentBack = (reason: string | null): Happening => ({ kind: "sent back", what: "Packing List", reason });
const charge: Happening = { kind: "charge", what: "duties", reason: null };
const storage: Happening = { kind: "storage", what: "2026-05-14", reason: null };
const note: Happening = { kind: "note", what: "note", reason: null };

/** The mail about a shipment at stage 4 to which these things happened, in this order. */
function noticeOf(...happened: Happening[]) {
  const told = { shipment: "5a0", name: "Tea", stage: 4, status: "Customs Declaration", turn: "company" } as const;
  return shipmentNotice(head, { ...told, happened }, "http://site.example/stop");
}
/** What its text says of stages. */
const stagesIn = ({ text }: { text: string }) => text.match(/^(It moved to|We corrected its stage).*$/gm);

describe("a mail about a shipment that went through several stages", () => {
  test("tells the last one alone, and what else happened beside it", () => {
    const mail = noticeOf(stage("Document Verification"), note, stage("IDF Application"), stage("Customs Declaration"));
    expect(stagesIn(mail)).toEqual(["It moved to Customs Declaration."]);
    expect(mail.text).toContain("We wrote you a note.");
    for (const passed of ["Document Verification", "IDF Application"]) expect(mail.text).not.toContain(passed);
  });

  test("says that we corrected its stage when it went back, also when it moved on after that", () => {
    const back = noticeOf(stage("Cargo Tracking"), stage("IDF Application"));
    expect(stagesIn(back)).toEqual(["We corrected its stage: it is IDF Application."]);
    const onward = noticeOf(stage("Cargo Tracking"), stage("IDF Application"), stage("Customs Declaration"));
    expect(stagesIn(onward)).toEqual(["We corrected its stage: it is Customs Declaration."]);
    for (const { text } of [back, onward]) expect(text).not.toContain("Cargo Tracking");
  });
});

test("a mail tells the most urgent first, and of several notes once that there are some", () => {
  const { text } = noticeOf(note, stage("Customs Declaration"), note, sentBack("Blurred"), note);
  const places = ["We sent the Packing List back", "It moved to", "We wrote you a note"].map((words) =>
    text.indexOf(words),
  );
  expect(places).toEqual([...places].sort((one, other) => one - other));
  expect(places).not.toContain(-1);
  expect(text.match(/We wrote you a note/g)).toHaveLength(1);
});

test("the subject of a mail is what asks most of the client, whatever came first", () => {
  const subjects: [Happening, string][] = [
    [sentBack("Blurred"), "Tea: Packing List sent back"],
    [charge, "Tea: Duties & Taxes to pay"],
    [storage, "Tea: free storage until 14 May 2026"],
    [stage("Customs Declaration"), "Tea: Customs Declaration (4 of 10)"],
    [note, "Tea: a note from us"],
  ];
  for (const [index, [, subject]] of subjects.entries()) {
    const rest = subjects.slice(index).map(([happening]) => happening);
    const turned = rest.map((_, first) => [...rest.slice(first), ...rest.slice(0, first)]);
    for (const order of [...turned, rest.toReversed()])
      expect([order.map(({ kind }) => kind), noticeOf(...order).subject]).toEqual([
        order.map(({ kind }) => kind),
        subject,
      ]);
  }
  expect(noticeOf().subject).toBe("Tea: Customs Declaration");
});

test.each([
  ["Page 2 is unreadable", "Page 2 is unreadable"],
  ["Page 2 is unreadable.", "Page 2 is unreadable"],
  ["It is blurred. Scan it again! ", "It is blurred. Scan it again"],
  ["Is it yours?", "Is it yours"],
  ["Torn...", "Torn"],
  [null, "the page says why"],
])("the reason %j of a document that was sent back ends in one full stop", (reason, words) => {
  const { text } = noticeOf(sentBack(reason));
  expect(text).toContain(`\nWe sent the Packing List back: ${words}. Send us another file.\n`);
});

test.each([
  ["password", passwordChanged, "Your password", "The password of your account"],
  ["address", addressChanged, "Your e-mail address", "The e-mail address of your account"],
] as const)(
  "a mail about a changed %s says perhaps where nobody knows it, and else does not",
  (_what, mail, of, its) => {
    const [sure, unsure] = [mail(head), mail(head, "perhaps")];
    expect([sure.subject, unsure.subject]).toEqual([`${of} was changed`, `${of} was perhaps changed`]);
    expect(sure.text).toContain(`${its} was changed a moment ago.`);
    expect(unsure.text).toContain(`${its} was perhaps changed a moment ago.`);
    expect(sure.text).not.toContain("perhaps");
    for (const { text } of [sure, unsure]) expect(text).toContain("If that was not you, call us at once.");
  },
);
