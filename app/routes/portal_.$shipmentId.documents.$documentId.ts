import { data } from "react-router";
import { z } from "zod";
import { NoPage } from "~/components/no-page";
import { sentWith } from "~/lib/act-form.server";
import { failure } from "~/lib/answer.server";
import { fileRoute } from "~/lib/file-route.server";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { portalCall } from "~/lib/portal-call.server";
import { noPageOf, refusalOfThrown, thrown } from "~/lib/refusal.server";
import { Caller, requireClient } from "~/lib/session.server";
import { companyBackend } from "~/lib/supabase.server";
import { takeBackFile } from "~/models/document.server";
import { OpenableFile, openFile, sendFile } from "~/models/document-file.server";
import { isUuid, shipmentPath } from "~/models/shipment.server";
import type { Route } from "./+types/portal_.$shipmentId.documents.$documentId";

const nobodys = "00000000-0000-0000-0000-000000000000";
const asked = (id: string | undefined) => (id && isUuid(id) ? id : nobodys);
const notFound = { reason: "There is no such document.", status: 404 };

const portal = portalCall(
  z.object({ caller: Caller, file: OpenableFile.nullable() }),
  (backend, { params: { shipmentId, documentId } }) =>
    // A GET: it changes nothing, so backendFetch may retry it.
    backend
      .rpc("portal_file", { document_id: asked(documentId), shipment_id: asked(shipmentId) }, { get: true })
      .retry(false),
);

/** The file of a document of the client's, checked again. Strangers' and unknown ones are the same 404. */
const file = fileRoute(async (args) => {
  const { file: counted } = await portal.page(args);
  if (!counted) throw noPageOf("portal");
  const answer = await sendFile(args, requireClient(args.context).id, async () => {
    const opened = await openFile(companyBackend(), counted);
    return "reason" in opened ? opened : { ...counted, content: opened.content };
  });
  if ("reason" in answer) throw thrown(answer);
  return answer;
});

export const middleware = [portal.middleware, ...file.middleware];
export const loader = file.loader;

/** Takes the file back. */
export async function action({ request, context, params, url }: Route.ActionArgs) {
  const client = requireClient(context);
  const { seen } = sentWith(await readForm(request));
  const refused = isUuid(params.documentId)
    ? await takeBackFile(client, params.documentId, seen ?? -1).catch(refusalOfThrown)
    : notFound;
  if (refused?.status === 404) throw data("Not found", { status: 404 });
  const toast = refused
    ? failure("Not taken back", refused.reason)
    : { title: "Taken back", description: "Send us another file for it.", variant: "default" as const };
  return redirectWithFlash(context, shipmentPath(params.shipmentId, url), toast);
}

export default NoPage;
