/** Large files sent by script, resumable after a lost connection. Other files are sent by the form. */
import { data, type RouterContextProvider, redirect } from "react-router";
import { z } from "zod";
import { getViewerOrError, type Viewer } from "~/lib/auth/viewer.server";
import { largeFileBytes } from "~/lib/forms/file-size";
import { createErrorToast } from "~/lib/forms/rejected-form.server";
import { env } from "~/lib/http/env.server";
import { toViewerPath } from "~/lib/http/redirect.server";
import { acquireUploadSlot } from "~/lib/http/transfer-slots.server";
import { userErrorFromThrown } from "~/lib/http/user-error.server";
import { serviceRoleClient } from "~/lib/supabase/client.server";
import { getFileProblem } from "~/models/document";
import { checkUploadAllowed, hasFile } from "~/models/document.server";
import { getShipment } from "~/models/portal.server";
import {
  assembleFile,
  countReceivedBytes,
  deleteUploadChunks,
  freeSpaceForUpload,
  type PendingUpload,
  runUploadExclusively,
  storeChunks,
} from "~/models/resumable-upload.server";
import type { Route } from "./+types/portal.$shipmentId_.documents_.resumable-upload";
import {
  createStoredResult,
  explainTooLarge,
  type StoreFileResult,
  storeFileContent,
} from "./portal.$shipmentId/file-storage.server";

/**
 * The fields of the header `Upload`. `size` has a minimum, because each file is at least one object in storage. `from` is the
 * offset of the body in the file. Without it the request asks for the file to be stored.
 */
const UploadHeader = z.object({
  document: z.string(),
  name: z.string().max(1000),
  size: z.coerce.number().int().gt(largeFileBytes),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  from: z.coerce.number().int().min(0).optional(),
});

/** The number of stored bytes, or the toast of a stored or rejected file. */
type ChunkResult = { storedBytes: number; status: number } | Pick<StoreFileResult, "toast" | "status">;

type ChunkRequest = {
  client: Viewer;
  document: { id: string; name: string };
  name: string;
  offset?: number;
  file: PendingUpload;
};

/** Responds with the number of stored bytes of a file. */
export async function loader({ request, context, params }: Route.LoaderArgs) {
  if (!request.headers.has("Upload")) return redirect(toViewerPath(`/portal/${params.shipmentId}`), 303);
  return respond(request, context, params.shipmentId, async (upload) => {
    const error = await checkUploadAllowed(upload.client, upload.document.id, true);
    return error
      ? resultUnlessStored(upload, createFailedResult(error))
      : createChunkResult(await countReceivedBytes(serviceRoleClient(), upload.file));
  });
}

/** Stores bytes of a file, or stores the complete file as the document's. */
export async function action({ request, context, params }: Route.ActionArgs) {
  if (request.headers.get("Content-Type") !== "application/octet-stream") {
    throw data("Only bytes can be sent here.", { status: 415 });
  }
  return respond(request, context, params.shipmentId, (upload) =>
    runUploadExclusively(upload.file, async (signal) => {
      const { client, document, file, offset: from } = upload;
      const slot = acquireUploadSlot(request, context, client.id, from === undefined ? file.size : undefined);
      if ("reason" in slot) return createFailedResult(slot);
      try {
        const error = await checkUploadAllowed(client, document.id);
        if (error?.status === 409) await deleteUploadChunks(serviceRoleClient(), file);
        if (error) return await resultUnlessStored(upload, createFailedResult(error));
        return from === undefined ? await completeUpload(upload) : await storeChunk(file, from, request, signal);
      } finally {
        slot.release();
      }
    }),
  );
}

async function respond(
  request: Request,
  context: Readonly<RouterContextProvider>,
  shipmentId: string,
  handle: (upload: ChunkRequest) => Promise<ChunkResult>,
): Promise<Response> {
  const upload = await parseChunkRequest(request, context, shipmentId);
  const { status, ...body } =
    "status" in upload ? upload : await handle(upload).catch((error) => createFailedResult(userErrorFromThrown(error)));
  // Stops a browser that is still sending bytes from a wrong offset.
  const headers: HeadersInit = "storedBytes" in body && status === 409 ? { Connection: "close" } : {};
  return Response.json(body, { status, headers });
}

/** Returns the upload of a request, if the document is the client's and could have the file; otherwise the response. */
async function parseChunkRequest(
  request: Request,
  context: Readonly<RouterContextProvider>,
  id: string,
): Promise<ChunkRequest | ChunkResult> {
  const client = getViewerOrError(context);
  if ("reason" in client) return createFailedResult(client);
  const header = UploadHeader.safeParse(Object.fromEntries(new URLSearchParams(request.headers.get("Upload") ?? "")));
  if (!header.success) return createFailedResult({ reason: "The file arrived damaged.", status: 400 });
  const { document: documentId, name, size, sha256, from } = header.data;
  const file = { account: client.id, shipment: id.toLowerCase(), document: documentId, size, sha256 };
  // Browsers repeat a request by themselves after a lost connection, from its first byte: this is stopped before any check.
  const storedBytes = from === undefined ? 0 : await countReceivedBytes(serviceRoleClient(), file);
  if (typeof storedBytes === "number" && storedBytes > (from ?? 0)) return createChunkResult(storedBytes, 409);
  const shipment = await getShipment(client, id);
  if (!shipment) return createFailedResult({ reason: "There is no such shipment.", status: 404 });
  if ("reason" in shipment) return createFailedResult(shipment);
  const document = shipment.documents.find(({ id }) => id === documentId);
  if (!document) return createFailedResult({ reason: "Choose the document that the file belongs to.", status: 400 });
  const { fileBytes } = env().limits;
  if (size > fileBytes) {
    return createFailedResult({
      reason: explainTooLarge(`This file is over ${fileBytes / 1024 / 1024} MB.`),
      status: 413,
    });
  }
  const problem = getFileProblem({ name, size });
  if (problem) return createFailedResult({ reason: problem, status: 400 });
  return { client, document, name, offset: from, file };
}

async function storeChunk(
  file: PendingUpload,
  from: number,
  request: Request,
  signal: AbortSignal,
): Promise<ChunkResult> {
  const company = serviceRoleClient();
  const storedBytes = await freeSpaceForUpload(company, file);
  // Bytes after a gap are useless until the gap is filled, which may never happen.
  if (from !== storedBytes || !request.body) return createChunkResult(storedBytes, 409);
  const error = await storeChunks(company, file, from, request.body, signal);
  return error ? createFailedResult(error) : createChunkResult(await countReceivedBytes(company, file));
}

async function completeUpload(upload: ChunkRequest): Promise<ChunkResult> {
  const { client, document, name, file } = upload;
  const company = serviceRoleClient();
  const content = await assembleFile(company, file);
  if (!(content instanceof Uint8Array)) return resultUnlessStored(upload, createChunkResult(content, 409));
  const { toast, status } = await storeFileContent(client, file.shipment, document, { name, content });
  // After other errors the browser tries again with the stored chunks.
  if ([200, 400, 409].includes(status)) await deleteUploadChunks(company, file);
  return resultUnlessStored(upload, { toast, status });
}

/** Returns the result, but success if the document has this file: a response was lost, or another tab sent the file. */
async function resultUnlessStored({ client, document, file }: ChunkRequest, result: ChunkResult): Promise<ChunkResult> {
  if (result.status === 200 || !(await hasFile(client, document.id, file.sha256))) return result;
  const { toast, status } = createStoredResult(document);
  return { toast, status };
}

function createChunkResult(storedBytes: number | { reason: string; status: number }, status = 200): ChunkResult {
  return typeof storedBytes === "number" ? { storedBytes, status } : createFailedResult(storedBytes);
}

function createFailedResult({ reason, status }: { reason: string; status: number }): ChunkResult {
  return { toast: createErrorToast("Upload failed", reason), status };
}
