import { AUDIT_LABELS } from "~/actions/all-staff-actions.server";
import { requireStaff } from "~/lib/auth/staff.server";
import { sortableTime } from "~/lib/dates";
import { type CsvColumn, createCsvDownload } from "~/lib/http/csv.server";
import { createFileRoute, noFormAction, respondWithDownload } from "~/lib/http/file-route.server";
import { toUserError, userErrorData } from "~/lib/http/user-error.server";
import { createLongReadClient } from "~/lib/supabase/client.server";
import {
  type AuditLogRow,
  AuditLogRows,
  describeChange,
  readAuditLogFilter,
  toAuditLogArgs,
} from "~/models/audit-log.server";
import { shortId } from "~/models/shipment";

const columns: CsvColumn<AuditLogRow>[] = [
  ["Time (EAT)", ({ created_at }) => sortableTime(created_at)],
  ["Done by", ({ actor_name }) => actor_name],
  ["Action", ({ action }) => AUDIT_LABELS[action] ?? action],
  ["Shipment number", ({ shipment_id }) => shipment_id ?? ""],
  ["Shipment", ({ shipment_name }) => shipment_name ?? ""],
  ["Document", ({ document_name }) => document_name ?? ""],
  ["Account", ({ account_name, account_id }) => account_name ?? shortId(account_id ?? "")],
  ["Change", ({ before, after }) => describeChange(before, after)],
  ["Reason", ({ reason }) => reason ?? ""],
];

const table = createFileRoute(async ({ request, context, url }) => {
  const { id, supabase } = requireStaff(context);
  const backend = await createLongReadClient(supabase);
  const filter = toAuditLogArgs(readAuditLogFilter(url));
  const loadRowsAfter = async (last: AuditLogRow | null) => {
    const after = last ? { before: last.created_at, before_id: last.id } : {};
    const { data, error, status } = await backend
      .rpc("desk_log", { ...filter, ...after, page: 0 }, { get: true })
      .retry(false);
    if (error) throw userErrorData(toUserError({ ...error, status }));
    return AuditLogRows.parse(data).audit_entries;
  };
  const response = await respondWithDownload({ request, context }, { account: id, group: "staff" }, () =>
    createCsvDownload("log.csv", columns, loadRowsAfter),
  );
  if ("reason" in response) throw userErrorData(response);
  return response;
});

export const middleware = table.middleware;
export const loader = table.loader;
export const action = noFormAction;

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
