import { redirect } from "react-router";
import { AUDIT_LABELS } from "~/actions/all-staff-actions.server";
import { queryViewer, requireViewer, viewerMiddleware } from "~/lib/auth/viewer.server";
import { createFileRoute, isDownloadClick, noFormAction, respondWithDownload } from "~/lib/http/file-route.server";
import { log, pseudonym } from "~/lib/http/log.server";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { userErrorData } from "~/lib/http/user-error.server";
import { createLongReadClient, serviceRoleClient } from "~/lib/supabase/client.server";
import { createDataExport } from "~/models/data-export.server";

const archive = createFileRoute(async ({ context, request }) => {
  if (!isDownloadClick(request)) return redirect("/portal/account", 303);
  const client = requireViewer(context);
  const supabase = await createLongReadClient(client.supabase);
  const owner = { account: client.id, group: "clients", isDataExport: true } as const;
  const response = await respondWithDownload({ request, context }, owner, async () => {
    const attempt = await getRateLimiter(context).consumeDataExport(client.id);
    if ("reason" in attempt) return attempt;
    const content = await createDataExport(supabase, serviceRoleClient(), AUDIT_LABELS).catch((error: unknown) => {
      attempt.refund();
      throw error;
    });
    return { name: "my-data.zip", mediaType: "application/zip", content };
  });
  if ("reason" in response) throw userErrorData(response);
  log("info", "data downloaded", { account: pseudonym(client.email) });
  return response;
});

export const middleware = [viewerMiddleware(() => queryViewer), ...archive.middleware];
export const loader = archive.loader;
export const action = noFormAction;

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
