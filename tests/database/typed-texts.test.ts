import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { severalLines } from "../../app/lib/forms/text-fields.ts";
import { textLimits } from "../../app/models/limits.ts";
import { getRejection, invisibleCharacters, invisibleInText, setUpDesk } from "../support/database-suite.ts";
import { readDeskState } from "../support/staff-members.ts";

const { testBackend, owner, lead, query, callRpc, newShipment, uploadDocument } = setUpDesk();
const target = { shipment_id: "", document_id: "", account_id: "" };
beforeAll(async () => {
  target.shipment_id = await newShipment(owner);
  target.document_id = (await uploadDocument(target.shipment_id)).id;
  target.account_id = owner.id;
});

type Target = keyof typeof target;
type TypedText = [action: string, parameter: string, limit: keyof typeof textLimits, targets: Target[], more?: object];
const charge = { item: "duties", amount: 5, currency: "KES" };

const oneLineTexts: TypedText[] = [
  ["announce", "text", "announcement", []],
  ["move_shipment", "location", "location", ["shipment_id"], { despite_missing: true }],
  ["save_shipment_numbers", "awb", "awb", ["shipment_id"]],
  ["set_charge", "note", "chargeNote", ["shipment_id"], charge],
  ["issue_client_ids", "issued_for", "issuedFor", []],
  ["invite_staff_member", "name", "personName", [], { email: "new@company.example", role: "clerk" }],
];
const notes: TypedText[] = [
  ["send_note", "note", "note", ["shipment_id"]],
  ["move_shipment", "note", "note", ["shipment_id"], { despite_missing: true }],
];
const reasons: TypedText[] = [
  ["correct_stage", "reason", "reason", ["shipment_id"], { stage: 4 }],
  ["set_charge_paid", "reason", "reason", ["shipment_id"], { item: "duties", paid: false }],
  ["reject_document", "reason", "reason", ["document_id"]],
  ["unverify_document", "reason", "reason", ["document_id"]],
  ["close_account", "reason", "reason", ["account_id"]],
  ["reopen_account", "reason", "reason", ["account_id"]],
  ["reject_erasure", "reason", "reason", ["account_id"]],
  ["start_erasure", "reason", "reason", ["account_id"]],
  ["remove_staff_member", "reason", "reason", ["account_id"]],
  ["withdraw_client_id", "reason", "reason", [], { client_id: randomUUID() }],
];

/** Returns the rejection of an action with this text, or "done". */
function sendText([action, parameter, , targets, more]: TypedText, text: string | null): Promise<string> {
  const ids = Object.fromEntries(targets.map((name) => [name, target[name]]));
  return getRejection(callRpc(action, { ...ids, ...more, [parameter]: text }, lead.supabase));
}

test("The database rejects the characters that a form field of several lines removes, and no others.", async () => {
  const codes = Array.from({ length: 0x20000 }, (_, code) => code).concat(
    Array.from({ length: 0x1000 }, (_, code) => 0xe0000 + code),
  );
  const field = severalLines("");
  const removed = codes.filter((code) => {
    const text = code > 0 && (code < 0xd800 || code > 0xdfff) ? `ж${String.fromCodePoint(code)}ж` : "";
    return text !== "ж\nж" && ["жж", "ж\nж"].includes(field.parse(text));
  });
  const rejected = await query<{ code: number }>(
    `select code from unnest($1::int[]) as code
     where code not between 55296 and 57343 and code > 0 and not private.is_plain_text('ж' || chr(code) || 'ж')`,
    [codes],
  );
  expect(rejected.map(({ code }) => code)).toEqual(removed);
  expect(removed).toContain(0x200b);
});

const oneLineNames = oneLineTexts.map(([action, parameter]) => `${action} ${parameter}`);

test.each([...oneLineTexts, ...notes, ...reasons])(
  "The action %s rejects a %s that is too long or has an invisible character, and changes nothing.",
  async (...typedText) => {
    const before = await readDeskState(testBackend);
    const isOneLine = oneLineNames.includes(`${typedText[0]} ${typedText[1]}`);
    const characters = isOneLine ? invisibleCharacters : invisibleInText;
    const texts = characters.map((character) => `Pay${character}here`);
    for (const text of [...texts, "x".repeat(textLimits[typedText[2]] + 1)]) {
      expect(await sendText(typedText, text), JSON.stringify(text)).toMatch(/^400 /);
    }
    expect(await readDeskState(testBackend)).toEqual(before);
  },
);

const emptyTextErrors: Record<string, string> = { text: "400 Enter an announcement.", note: "400 Enter a note." };
test.each([...reasons, ...notes.slice(0, 1), ...oneLineTexts.slice(0, 1)])(
  "The action %s needs a %s that is not empty.",
  async (...typedText) => {
    const error = emptyTextErrors[typedText[1]] ?? "400 Enter a reason.";
    const before = await readDeskState(testBackend);
    for (const text of [null, "", "   "]) expect(await sendText(typedText, text)).toBe(error);
    expect(await readDeskState(testBackend)).toEqual(before);
  },
);

test.each([...notes, ...reasons])("The action %s accepts a %s with line breaks and tabs.", async (...typedText) => {
  expect(await sendText(typedText, "Two\nlines,\ttwo columns")).not.toMatch(/^400 /);
});
