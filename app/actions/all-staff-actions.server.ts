import type { AuditEntry } from "../models/audit-log.server.ts";
import * as charge from "./charge.server.ts";
import * as clientAccount from "./client-account.server.ts";
import * as clientId from "./client-id.server.ts";
import * as document from "./document.server.ts";
import * as openShipments from "./open-shipments.server.ts";
import * as shipment from "./shipment.server.ts";
import type { StaffAction } from "./staff-action.server.ts";
import * as team from "./team.server.ts";
import * as today from "./today.server.ts";

const modules = [openShipments, shipment, document, charge, clientId, clientAccount, team, today];
export const allStaffActions: readonly StaffAction[] = modules.flatMap((actions) =>
  Object.values<StaffAction>(actions),
);

/** Maps each action name in the audit log to its label. */
export const AUDIT_LABELS: Readonly<Record<string, string>> = {
  "document open": "Document opened",
  "client create": "Shipment created",
  "client change": "Shipment changed",
  "client upload": "File uploaded",
  "client remove": "File removed",
  "client share": "Share link created",
  "client end-share": "Share link ended",
  retention: "Expired data deleted",
  "client withdraw": "Shipment withdrawn by client",
  ...Object.fromEntries(allStaffActions.map(({ name, label }) => [name, label])),
};

/** Returns the entry with `what`, such as "Document verified: Packing List", instead of `action` and `document`. */
export function labelAuditEntry<Entry extends Pick<AuditEntry, "action" | "document">>(entry: Entry) {
  const { action, document, ...rest } = entry;
  return { ...rest, what: [AUDIT_LABELS[action] ?? action, document].filter(Boolean).join(": ") };
}
