import { beforeAll, expect, test } from "vitest";
import * as deskLabels from "../../app/models/desk-labels.ts";
import { textLimits } from "../../app/models/limits.ts";
import { PAYMENTS, WAITING_ON, waitingOnLabels } from "../../app/models/shipment.ts";
import { setUpTestBackend } from "../support/database-suite.ts";

const { query } = setUpTestBackend();

/** The database columns that each limit of app/models/limits.ts applies to. */
const limitedColumns: Record<keyof typeof textLimits, string[]> = {
  announcement: ["announcements.text"],
  awb: ["shipments.awb"],
  chargeNote: ["charges.note"],
  clientId: ["client_ids.client_id"],
  email: ["client_ids.sent_to", "email_changes.email", "failed_emails.sent_to"],
  issuedFor: ["client_ids.issued_for"],
  location: ["tracking_events.location"],
  note: ["tracking_events.note"],
  personName: ["staff_members.name", "staff_invites.name"],
  reason: ["documents.rejection_reason"],
  shipmentName: ["shipments.name"],
};

/** Columns with a maximum length whose texts the server writes. */
const serverColumns = [
  ...["audit_log.action", "audit_log.actor_name", "audit_log.reason", "documents.file_name", "documents.media_type"],
  ...["documents.name", "rate_limit_hits.key", "tracking_events.status"],
];

/** The variables of database functions that compare a typed text with a limit. */
const limitedVariables: [variable: string, limit: keyof typeof textLimits][] = [
  ["name", "personName"],
  ["reason", "reason"],
  ["reason", "reason"],
];

const columnValues: [list: string, values: readonly string[], columns: string[]][] = [
  ["WAITING_ON", WAITING_ON, ["shipments.waiting_on"]],
  ["waitingOnLabels", Object.keys(waitingOnLabels), ["shipments.waiting_on"]],
  ["deskWaitingOnLabels", Object.keys(deskLabels.deskWaitingOnLabels), ["shipments.waiting_on"]],
  ["STAFF_ROLES", deskLabels.STAFF_ROLES, ["staff_members.role", "staff_invites.role"]],
  ["staffRoleLabels", Object.keys(deskLabels.staffRoleLabels), ["staff_members.role"]],
  ["STORAGE_LOCATIONS", Object.keys(deskLabels.STORAGE_LOCATIONS), ["shipments.storage_location"]],
  ["CHARGE_CURRENCIES", deskLabels.CHARGE_CURRENCIES, ["charges.currency"]],
  ["PAYMENTS", PAYMENTS.map(({ id }) => id), ["charges.item"]],
];

/** Columns with a list of allowed values that app/models does not contain. */
const unlabelledColumns = ["failed_emails.kind", "email_outbox.kind", "tracking_events.kind"];

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

test.each(
  Object.entries(limitedColumns).flatMap(([limit, columns]) => columns.map((column) => [limit, column] as const)),
)("The limit %s of app/models/limits.ts is the maximum length of the column %s.", (limit, column) => {
  expect(maxLengths.get(column)).toBe(textLimits[limit as keyof typeof textLimits]);
});

test.each(limitedVariables)("Database functions compare the text %s with the limit %s.", (variable, limit) => {
  const comparison = new RegExp(`char_length\\(${variable}\\) > (\\d+)`, "g");
  const lengths = functions.flatMap((source) => [...source.matchAll(comparison)].map(([, length]) => Number(length)));
  expect(lengths).not.toEqual([]);
  expect(new Set(lengths)).toEqual(new Set([textLimits[limit]]));
});

test("Every column with a maximum length has a limit in app/models/limits.ts or is written only by the server.", () => {
  expect([...maxLengths.keys()].sort()).toEqual([...Object.values(limitedColumns).flat(), ...serverColumns].sort());
});

test.each(
  columnValues.flatMap(([list, listValues, columns]) => columns.map((column) => [list, column, listValues] as const)),
)("The list %s of app/models has the values that the column %s allows.", (_list, column, listValues) => {
  expect([...listValues].sort()).toEqual(values.get(column));
});

test("Every column with a list of values has a list in app/models, or needs no label for its values.", () => {
  const columns = columnValues.flatMap(([, , names]) => names);
  expect([...values.keys()].sort()).toEqual([...new Set([...columns, ...unlabelledColumns])].sort());
});
