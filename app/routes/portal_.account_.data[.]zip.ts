import { redirect } from "react-router";
import { FormOnlyRoute } from "~/components/forms/form-only-route";
import { queryViewer, requireViewer, viewerMiddleware } from "~/lib/auth/viewer.server";
import { createFileRoute, isDownloadClick, noFormAction } from "~/lib/http/file-route.server";
import { log, pseudonym } from "~/lib/http/log.server";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { userErrorData } from "~/lib/http/user-error.server";
import { createLongReadClient, serviceRoleClient } from "~/lib/supabase/client.server";
import { createDataExport } from "~/models/data-export.server";

const archive = createFileRoute(async ({ context, request }) => {
  if (!isDownloadClick(request)) return redirect("/portal/account", 303);
  const client = requireViewer(context);
  const attempt = await getRateLimiter(context).consumeDataExport(client.id);
  if ("reason" in attempt) throw userErrorData(attempt);
  const supabase = await createLongReadClient(client.supabase);
  const body = await createDataExport(supabase, serviceRoleClient()).catch((error: unknown) => {
    attempt.refund();
    throw error;
  });
  log("info", "data downloaded", { account: pseudonym(client.email) });
  return new Response(body, {
    headers: {
      "Content-Type": "application/zip",
      "Content-Disposition": 'attachment; filename="my-data.zip"',
      "Cache-Control": "private, no-store",
    },
  });
});

export const middleware = [viewerMiddleware(() => queryViewer), ...archive.middleware];
export const loader = archive.loader;
export const action = noFormAction;

export default FormOnlyRoute;
