import { AUDIT_LABELS } from "~/actions/all-staff-actions.server";
import { FormOnlyRoute } from "~/components/forms/form-only-route";
import { requireStaff } from "~/lib/auth/staff.server";
import { sortableTime } from "~/lib/dates";
import { type CsvColumn, createCsvResponse } from "~/lib/http/csv.server";
import { createFileRoute, noFormAction } from "~/lib/http/file-route.server";
import { toUserError, userErrorData } from "~/lib/http/user-error.server";
import { createLongReadClient } from "~/lib/supabase/client.server";
import {
  type AuditLogRow,
  AuditLogRows,
  describeChange,
  readAuditLogFilter,
  toAuditLogArgs,
} from "~/models/audit-log.server";

const columns: CsvColumn<AuditLogRow>[] = [
  ["Time (EAT)", ({ created_at }) => sortableTime(created_at)],
  ["Who", ({ actor_name }) => actor_name],
  ["Action", ({ action }) => AUDIT_LABELS[action] ?? action],
  ["Shipment number", ({ shipment_id }) => shipment_id ?? ""],
  ["Shipment", ({ shipment_name }) => shipment_name ?? ""],
  ["Document", ({ document_name }) => document_name ?? ""],
  ["Account", ({ account_name, account_id }) => account_name ?? account_id ?? ""],
  ["Change", ({ before, after }) => describeChange(before, after)],
  ["Reason", ({ reason }) => reason ?? ""],
];

const table = createFileRoute(async ({ context, url }) => {
  const backend = await createLongReadClient(requireStaff(context).supabase);
  const filter = toAuditLogArgs(readAuditLogFilter(url));
  return createCsvResponse("log.csv", columns, async (last: AuditLogRow | null) => {
    const after = last ? { before: last.created_at, before_id: last.id } : {};
    const { data, error, status } = await backend
      .rpc("desk_log", { ...filter, ...after, page: 0 }, { get: true })
      .retry(false);
    if (error) throw userErrorData(toUserError({ ...error, status }));
    return AuditLogRows.parse(data).audit_entries;
  });
});

export const middleware = table.middleware;
export const loader = table.loader;
export const action = noFormAction;

export default FormOnlyRoute;
