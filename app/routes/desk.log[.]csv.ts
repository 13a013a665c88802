import { FormOnlyRoute } from "~/components/forms/form-only-route";
import { requireStaff } from "~/lib/auth/staff.server";
import { createCsvResponse } from "~/lib/http/csv.server";
import { createFileRoute, noFormAction } from "~/lib/http/file-route.server";
import { toUserError, userErrorData } from "~/lib/http/user-error.server";
import { createLongReadClient } from "~/lib/supabase/client.server";
import { type AuditLogRow, AuditLogRows, readAuditLogFilter, toAuditLogArgs } from "~/models/audit-log.server";

/** All pages of the filter, 500 entries at a time. */
const table = createFileRoute(async ({ context, url }) => {
  const backend = await createLongReadClient(requireStaff(context).supabase);
  const filter = toAuditLogArgs(readAuditLogFilter(url));
  const json = (state: AuditLogRow["before"]) => (state ? JSON.stringify(state) : "");
  return createCsvResponse(
    "log.csv",
    ["At", "Who", "What", "Shipment", "Document", "Account", "Before", "After", "Reason"],
    async (last: AuditLogRow | null) => {
      const after = last ? { before: last.created_at, before_id: last.id } : {};
      const { data, error, status } = await backend
        .rpc("desk_log", { ...filter, ...after, page: 0 }, { get: true })
        .retry(false);
      if (error) throw userErrorData(toUserError({ ...error, status }));
      return AuditLogRows.parse(data).audit_entries;
    },
    (act) => [
      act.created_at,
      act.actor_name,
      act.action,
      act.shipment_id ?? "",
      act.document_name ?? "",
      act.account_id ?? "",
      json(act.before),
      json(act.after),
      act.reason ?? "",
    ],
  );
});

export const middleware = table.middleware;
export const loader = table.loader;
export const action = noFormAction;

export default FormOnlyRoute;
