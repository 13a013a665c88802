import { data } from "react-router";
import { z } from "zod";
import { FormOnlyRoute } from "~/components/forms/form-only-route";
import { requireViewer, ViewerRecord } from "~/lib/auth/viewer.server";
import { createViewerPage } from "~/lib/auth/viewer-page.server";
import { readForm } from "~/lib/forms/form-data.server";
import { readIntentMetadata } from "~/lib/forms/intent-form.server";
import { createErrorToast } from "~/lib/forms/rejected-form.server";
import { createFileRoute, respondWithFile } from "~/lib/http/file-route.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { areaNotFound, userErrorData, userErrorFromThrown } from "~/lib/http/user-error.server";
import { serviceRoleClient } from "~/lib/supabase/client.server";
import { removeFile } from "~/models/document.server";
import { DownloadableFile, readStoredFile } from "~/models/document-file.server";
import { isUuid, shipmentPath } from "~/models/shipment.server";
import type { Route } from "./+types/portal_.$shipmentId.documents.$documentId";

const nilUuid = "00000000-0000-0000-0000-000000000000";
const getUuidOrNil = (id: string | undefined) => (id && isUuid(id) ? id : nilUuid);
const notFound = { reason: "There is no such document.", status: 404 };

const portal = createViewerPage(
  z.object({ viewer: ViewerRecord, file: DownloadableFile.nullable() }),
  (backend, { params: { shipmentId, documentId } }) =>
    // createSupabaseFetch may repeat a GET, because a GET changes nothing.
    backend
      .rpc(
        "portal_file",
        { document_id: getUuidOrNil(documentId), shipment_id: getUuidOrNil(shipmentId) },
        { get: true },
      )
      .retry(false),
);

/** Throws the same 404 for another client's document as for an unknown id. */
const file = createFileRoute(async (args) => {
  const { file: document } = await portal.page(args);
  if (!document) throw areaNotFound("portal");
  const response = await respondWithFile(args, requireViewer(args.context).id, async () => {
    const stored = await readStoredFile(serviceRoleClient(), document);
    return "reason" in stored ? stored : { ...document, content: stored.content };
  });
  if ("reason" in response) throw userErrorData(response);
  return response;
});

export const middleware = [portal.middleware, ...file.middleware];
export const loader = file.loader;

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const client = requireViewer(context);
  const { expected_version: expectedVersion } = readIntentMetadata(await readForm(request));
  const rejection = isUuid(params.documentId)
    ? await removeFile(client, params.documentId, expectedVersion ?? -1).catch(userErrorFromThrown)
    : notFound;
  if (rejection?.status === 404) throw data("Not found", { status: 404 });
  const toast = rejection
    ? createErrorToast("Not taken back", rejection.reason)
    : { title: "Taken back", description: "Send us another file for it.", variant: "default" as const };
  return redirectWithToast(context, shipmentPath(params.shipmentId, url), toast);
}

export default FormOnlyRoute;
