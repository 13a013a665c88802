import { z } from "zod";
import { createViewerPage, requireViewer, ViewerRecord } from "~/lib/auth/viewer.server";
import { createFileRoute, respondWithDownload } from "~/lib/http/file-route.server";
import { areaNotFound, userErrorData, userErrorFromThrown } from "~/lib/http/user-error.server";
import { serviceRoleClient } from "~/lib/supabase/client.server";
import { createFileDownload, DownloadableFile, openStoredFile } from "~/models/document-file.server";
import { isUuid } from "~/models/shipment.server";

const nilUuid = "00000000-0000-0000-0000-000000000000";
const getUuidOrNil = (id: string | undefined) => (id && isUuid(id) ? id : nilUuid);

const portal = createViewerPage(
  z.object({ viewer: ViewerRecord, file: DownloadableFile.extend({ file_size: z.number() }).nullable() }),
  (backend, { params: { shipmentId, documentId } }) =>
    // `get` sends a GET request, which createSupabaseFetch repeats after a failure.
    backend
      .rpc(
        "portal_file",
        { document_id: getUuidOrNil(documentId), shipment_id: getUuidOrNil(shipmentId) },
        { get: true },
      )
      .retry(false),
);

/** Throws the same 404 for another client's document as for an unknown document ID. */
const file = createFileRoute(async (args) => {
  const { file: document } = await portal.page(args);
  if (!document) throw areaNotFound("portal");
  const owner = { account: requireViewer(args.context).id, group: "clients" } as const;
  // Checking the hash costs as much as a download, so a HEAD request reads no file.
  const isHead = args.request.method === "HEAD";
  const response = await respondWithDownload(args, owner, async () =>
    createFileDownload(
      document,
      isHead
        ? { size: document.file_size, content: (async function* () {})() }
        : await openStoredFile(serviceRoleClient(), document).catch(userErrorFromThrown),
    ),
  );
  if ("reason" in response) throw userErrorData(response);
  return response;
});

export const middleware = [portal.middleware, ...file.middleware];
export const loader = file.loader;

export { FormOnlyRoute as default } from "~/components/forms/form-only-route";
