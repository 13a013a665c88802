import type { AuditEntry } from "../models/audit-log.server.ts";
import * as charge from "./charge.server.ts";
import * as clientAccount from "./client-account.server.ts";
import * as clientId from "./client-id.server.ts";
import * as document from "./document.server.ts";
import * as shipment from "./shipment.server.ts";
import type { StaffAction } from "./staff-action.server.ts";
import * as team from "./team.server.ts";
import * as today from "./today.server.ts";

export const allStaffActions: readonly StaffAction[] = [
  shipment,
  document,
  charge,
  clientId,
  clientAccount,
  team,
  today,
].flatMap((actions) => Object.values<StaffAction>(actions));

/** Labels in the activity log, by the action's name in the audit log. No form creates the first two actions. */
export const AUDIT_LABELS: Readonly<Record<string, string>> = {
  "document open": "Document opened",
  "shipment delete": "Shipment deleted",
  ...Object.fromEntries(allStaffActions.map(({ name, label }) => [name, label])),
};

/** `on` is the shipment or account of the entry. Pages about one shipment omit `on`. */
type PageAuditEntry = Omit<AuditEntry, "on"> & { on?: AuditEntry["on"] };

/** Returns the entry with a label such as "Document verified: Packing List" in `what`, in place of its audit name. */
export function labelAuditEntry({ action, document, ...entry }: PageAuditEntry) {
  return { ...entry, what: [AUDIT_LABELS[action] ?? action, document].filter(Boolean).join(": ") };
}
export type LabelledAuditEntry = ReturnType<typeof labelAuditEntry>;
