import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { severalLines } from "../../app/lib/forms/text-fields.ts";
import { STORAGE_LOCATIONS } from "../../app/models/arrival.server.ts";
import * as deskLabels from "../../app/models/desk-labels.ts";
import { textLimits } from "../../app/models/limits.ts";
import { PAYMENTS, WAITING_ON, waitingOnLabels } from "../../app/models/shipment.ts";
import { UPDATE_KINDS } from "../../app/models/shipment-email.ts";
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
  ["withdraw_shipment", "reason", "reason", ["shipment_id"]],
  ["restore_shipment", "reason", "reason", ["shipment_id"]],
  ["remove_arrival", "reason", "reason", ["shipment_id"]],
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

/** Performs `action` with `text`. Returns the rejection, or "done" if the action succeeds. */
function sendText([action, parameter, , targets, more]: TypedText, text: string | null): Promise<string> {
  const ids = Object.fromEntries(targets.map((name) => [name, target[name]]));
  return getRejection(callRpc(action, { ...ids, ...more, [parameter]: text }, lead.supabase));
}

test("The database rejects exactly the characters that a multi-line form field removes.", async () => {
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

test.each([...oneLineTexts, ...notes, ...reasons])(
  "The action %s changes nothing and is rejected if its %s is too long or has an invisible character.",
  async (...typedText) => {
    const before = await readDeskState(testBackend);
    const isOneLine = oneLineTexts.some(([action, parameter]) => action === typedText[0] && parameter === typedText[1]);
    const characters = isOneLine ? invisibleCharacters : invisibleInText;
    const texts = characters.map((character) => `Pay${character}here`);
    const rejected = [...texts, "x".repeat(textLimits[typedText[2]] + 1)];
    const rejections = await Promise.all(rejected.map((text) => sendText(typedText, text)));
    expect(rejections).toEqual(rejected.map(() => expect.stringMatching(/^400 /)));
    expect(await readDeskState(testBackend)).toEqual(before);
  },
);

test("The database rejects an empty reason, note or announcement.", async () => {
  const errors: Record<string, string> = { text: "400 Enter an announcement.", note: "400 Enter a note." };
  const before = await readDeskState(testBackend);
  for (const typedText of [...reasons, ...notes.slice(0, 1), ...oneLineTexts.slice(0, 1)]) {
    for (const text of [null, "", "   "])
      expect(await sendText(typedText, text), typedText[0]).toBe(errors[typedText[1]] ?? "400 Enter a reason.");
  }
  expect(await readDeskState(testBackend)).toEqual(before);
});

test("Notes and reasons can contain line breaks and tabs.", async () => {
  for (const typedText of [...notes, ...reasons])
    expect(await sendText(typedText, "Two\nlines,\ttwo columns"), typedText[0]).not.toMatch(/^400 /);
});

/** The database columns to which each limit of app/models/limits.ts applies. */
const limitedColumns: Record<keyof typeof textLimits, string[]> = {
  announcement: ["announcements.text"],
  awb: ["shipments.awb"],
  chargeNote: ["charges.note"],
  clientId: ["client_ids.client_id"],
  email: ["client_ids.sent_to", "email_changes.email", "failed_emails.sent_to"],
  fileNote: ["documents.added_note"],
  issuedFor: ["client_ids.issued_for"],
  location: ["tracking_events.location"],
  note: ["tracking_events.note"],
  personName: ["staff_members.name", "staff_invites.name"],
  // The column client_phones.phone has a check for the international form, which is shorter than a typed number.
  phone: [],
  reason: ["documents.rejection_reason", "shipments.withdrawal_reason"],
  shipmentName: ["shipments.name"],
};

/** Columns that have a maximum length and contain texts of the server. */
const serverColumns = [
  ...["audit_log.action", "audit_log.actor_name", "audit_log.reason", "documents.file_name", "documents.media_type"],
  ...["documents.name", "rate_limit_hits.key", "tracking_events.status"],
];

/** The variables of database functions that compare a typed text with a limit. */
const limitedVariables: [variable: string, limit: keyof typeof textLimits][] = [
  ["name", "personName"],
  ["reason", "reason"],
];

const columnValues: [list: string, values: readonly string[], columns: string[]][] = [
  ["WAITING_ON", WAITING_ON, ["shipments.waiting_on"]],
  ["waitingOnLabels", Object.keys(waitingOnLabels), ["shipments.waiting_on"]],
  ["deskWaitingOnLabels", Object.keys(deskLabels.deskWaitingOnLabels), ["shipments.waiting_on"]],
  ["STAFF_ROLES", deskLabels.STAFF_ROLES, ["staff_members.role", "staff_invites.role"]],
  ["staffRoleLabels", Object.keys(deskLabels.staffRoleLabels), ["staff_members.role"]],
  ["STORAGE_LOCATIONS", Object.keys(STORAGE_LOCATIONS), ["shipments.storage_location"]],
  ["CARGO_KINDS", Object.keys(deskLabels.CARGO_KINDS), ["shipments.cargo"]],
  ["FILE_SOURCES", Object.keys(deskLabels.FILE_SOURCES), ["documents.added_from"]],
  ["CHARGE_CURRENCIES", deskLabels.CHARGE_CURRENCIES, ["charges.currency"]],
  ["UPDATE_KINDS", UPDATE_KINDS, ["email_outbox.kind"]],
  ["PAYMENTS", PAYMENTS.map(({ id }) => id), ["charges.item"]],
];

/** Columns whose allowed values have no list in app/models, because no page labels these values. */
const unlabelledColumns = ["failed_emails.kind", "tracking_events.kind"];

const maxLengths = new Map<string, number>();
const values = new Map<string, string[]>();
let functions: string[];
beforeAll(async () => {
  const checks = await query<{ column: string; definition: string }>(
    `select concat(relname, '.', attname) as column, pg_get_constraintdef(pg_constraint.oid) as definition
     from pg_constraint join pg_class on pg_class.oid = conrelid
     join pg_attribute on attrelid = conrelid and attnum = any (conkey)
     where contype = 'c' and cardinality(conkey) = 1 and relnamespace in ('public'::regnamespace, 'private'::regnamespace)`,
  );
  for (const { column, definition } of checks) {
    const [, length] = /char_length\([^)]*\) <= (\d+)/.exec(definition) ?? [];
    if (length) maxLengths.set(column, Number(length));
    const [, list] = /= ANY \(ARRAY\[('[^\]]*)\]/.exec(definition) ?? [];
    if (list) values.set(column, [...list.matchAll(/'([^']*)'::text/g)].map(([, value = ""]) => value).sort());
  }
  const sources = await query<{ source: string }>(
    "select prosrc as source from pg_proc where pronamespace in ('public'::regnamespace, 'private'::regnamespace)",
  );
  functions = sources.map(({ source }) => source);
});

test("The limits of app/models/limits.ts are the maximum lengths of their columns.", () => {
  const lengths = Object.entries(limitedColumns).map(([limit, columns]) => [
    limit,
    columns.map((column) => maxLengths.get(column)),
  ]);
  const limits = Object.entries(limitedColumns).map(([limit, columns]) => [
    limit,
    columns.map(() => textLimits[limit as keyof typeof textLimits]),
  ]);
  expect(lengths).toEqual(limits);
});

test.each(limitedVariables)(
  "Database functions compare the length of the variable %s with the limit %s.",
  (variable, limit) => {
    const comparison = new RegExp(`char_length\\(${variable}\\) > (\\d+)`, "g");
    const lengths = functions.flatMap((source) => [...source.matchAll(comparison)].map(([, length]) => Number(length)));
    expect(lengths).not.toEqual([]);
    expect(new Set(lengths)).toEqual(new Set([textLimits[limit]]));
  },
);

test("Every column with a maximum length has a limit in app/models/limits.ts or contains only texts of the server.", () => {
  expect([...maxLengths.keys()].sort()).toEqual([...Object.values(limitedColumns).flat(), ...serverColumns].sort());
});

test.each(columnValues)(
  "The list %s of app/models contains exactly the values that its database columns allow.",
  (_list, listValues, columns) => {
    for (const column of columns) expect(values.get(column), column).toEqual([...listValues].sort());
  },
);

test("Every column with a list of allowed values has the same list in app/models, or has values without labels.", () => {
  const columns = columnValues.flatMap(([, , names]) => names);
  expect([...values.keys()].sort()).toEqual([...new Set([...columns, ...unlabelledColumns])].sort());
});
