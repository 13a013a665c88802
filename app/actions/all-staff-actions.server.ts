import type { AuditEntry } from "../models/audit-log.server.ts";
import * as charge from "./charge.server.ts";
import * as clientAccount from "./client-account.server.ts";
import * as clientId from "./client-id.server.ts";
import * as document from "./document.server.ts";
import * as shipment from "./shipment.server.ts";
import type { StaffAction } from "./staff-action.server.ts";
import * as team from "./team.server.ts";
import * as today from "./today.server.ts";

const modules = [shipment, document, charge, clientId, clientAccount, team, today];
export const allStaffActions: readonly StaffAction[] = modules.flatMap((actions) =>
  Object.values<StaffAction>(actions),
);

/** Maps each action name in the audit log to its label. */
export const AUDIT_LABELS: Readonly<Record<string, string>> = {
  "document open": "Document opened",
  ...Object.fromEntries(allStaffActions.map(({ name, label }) => [name, label])),
};

/** `on` names the changed shipment or account. The page of a shipment omits `on`. */
type PageAuditEntry = Omit<AuditEntry, "on"> & { on?: AuditEntry["on"] };

/** Returns the entry with `what`, such as "Document verified: Packing List", instead of `action` and `document`. */
export function labelAuditEntry({ action, document, ...entry }: PageAuditEntry) {
  return { ...entry, what: [AUDIT_LABELS[action] ?? action, document].filter(Boolean).join(": ") };
}
export type LabelledAuditEntry = ReturnType<typeof labelAuditEntry>;
