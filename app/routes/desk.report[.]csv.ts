import { requireStaff } from "~/lib/auth/staff.server";
import { createCsvDownload } from "~/lib/http/csv.server";
import { createFileRoute, noFormAction, respondWithDownload } from "~/lib/http/file-route.server";
import { toUserError, userErrorData } from "~/lib/http/user-error.server";
import { createLongReadClient } from "~/lib/supabase/client.server";
import {
  hasErrors,
  listStageRows,
  monthColumns,
  ReportPage,
  readReportPeriod,
  stageColumns,
  toReportArgs,
} from "~/models/report.server";

const table = createFileRoute(async ({ request, context, url: { searchParams } }) => {
  const { id, supabase } = requireStaff(context);
  const period = readReportPeriod({ from: searchParams.get("from"), to: searchParams.get("to") });
  const [error] = [...(period.errors.from ?? []), ...(period.errors.to ?? [])];
  if (hasErrors(period)) throw userErrorData({ reason: `${error}`, status: 400 });
  const backend = await createLongReadClient(supabase);
  const response = await respondWithDownload({ request, context }, { account: id, group: "staff" }, async () => {
    const result = await backend.rpc("desk_report", toReportArgs(period), { get: true }).retry(false);
    if (result.error) throw userErrorData(toUserError({ ...result.error, status: result.status }));
    const { report } = ReportPage.parse(result.data);
    return searchParams.get("table") === "months"
      ? createCsvDownload("months.csv", monthColumns, async (last) => (last ? [] : report.months))
      : createCsvDownload("stages.csv", stageColumns, async (last) => (last ? [] : listStageRows(report)));
  });
  if ("reason" in response) throw userErrorData(response);
  return response;
});

export const middleware = table.middleware;
export const loader = table.loader;
export const action = noFormAction;

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
