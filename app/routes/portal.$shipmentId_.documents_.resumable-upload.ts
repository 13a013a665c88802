/** Receives a large file in chunks, so that the browser can resume an interrupted upload. */
import { data, type RouterContextProvider, redirect } from "react-router";
import { z } from "zod";
import { getViewerOrError, type Viewer } from "~/lib/auth/viewer.server";
import { largeFileBytes } from "~/lib/forms/file-size";
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
  chunkMemoryBytes,
  countReceivedBytes,
  deleteUploadChunks,
  freeSpaceForUpload,
  type PendingUpload,
  runUploadExclusively,
  storeChunks,
} from "~/models/resumable-upload.server";
import type { Route } from "./+types/portal.$shipmentId_.documents_.resumable-upload";
import {
  createFailedResult,
  createStoredResult,
  explainTooLarge,
  noDocumentError,
  noShipmentError,
  storeFileContent,
  type UploadResult,
} from "./portal.$shipmentId/file-storage.server";

/**
 * The minimum of `size` prevents many tiny objects in storage. `from` is the position of the body's first byte in the
 * file. Without `from`, the server stores the complete file.
 */
const UploadHeader = z.object({
  document: z.string(),
  name: z.string().max(1000),
  size: z.coerce.number().int().gt(largeFileBytes),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  from: z.coerce.number().int().min(0).optional(),
});

/** The number of bytes that the server has so far, or the toast of a stored or rejected file. */
type ChunkResult = { storedBytes: number; status: number } | UploadResult;

type ChunkRequest = {
  client: Viewer;
  document: { id: string; name: string };
  name: string;
  offset?: number;
  file: PendingUpload;
};

export async function loader({ request, context, params }: Route.LoaderArgs) {
  if (!request.headers.has("Upload")) return redirect(toViewerPath(`/portal/${params.shipmentId}`), 303);
  return respond(request, context, params.shipmentId, async (upload) => {
    const error = await checkUploadAllowed(upload.client, upload.document.id, true);
    return error
      ? resultUnlessStored(upload, createFailedResult(error))
      : createChunkResult(await countReceivedBytes(serviceRoleClient(), upload.file));
  });
}

export async function action({ request, context, params }: Route.ActionArgs) {
  if (request.headers.get("Content-Type") !== "application/octet-stream") {
    throw data("This URL accepts only file content.", { status: 415 });
  }
  return respond(request, context, params.shipmentId, (upload) =>
    runUploadExclusively(upload.file, async (signal) => {
      const { client, document, file, offset: from } = upload;
      const bytes = from === undefined ? file.size : chunkMemoryBytes;
      const anySignal = AbortSignal.any([request.signal, signal]);
      const slot = await acquireUploadSlot(request, context, client.id, bytes, anySignal);
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
  // Closing the connection stops the browser from sending more bytes from the wrong position.
  const headers: HeadersInit = "storedBytes" in body && status === 409 ? { Connection: "close" } : {};
  return Response.json(body, { status, headers });
}

async function parseChunkRequest(
  request: Request,
  context: Readonly<RouterContextProvider>,
  id: string,
): Promise<ChunkRequest | ChunkResult> {
  const client = getViewerOrError(context);
  if ("reason" in client) return createFailedResult(client);
  const header = UploadHeader.safeParse(Object.fromEntries(new URLSearchParams(request.headers.get("Upload") ?? "")));
  if (!header.success)
    return createFailedResult({ reason: "We could not read this upload request. Upload the file again.", status: 400 });
  const { document: documentId, name, size, sha256, from } = header.data;
  const file = { account: client.id, shipment: id.toLowerCase(), document: documentId, size, sha256 };
  // If a browser repeats a request after a lost connection, `from` is less than the number of stored bytes.
  const storedBytes = from === undefined ? 0 : await countReceivedBytes(serviceRoleClient(), file);
  if (typeof storedBytes === "number" && storedBytes > (from ?? 0)) return createChunkResult(storedBytes, 409);
  const shipment = (await getShipment(client, id)) ?? noShipmentError;
  if ("reason" in shipment) return createFailedResult(shipment);
  const document = shipment.documents.find(({ id }) => id === documentId);
  if (!document) return createFailedResult(noDocumentError);
  const { fileBytes } = env().limits;
  if (size > fileBytes) {
    return createFailedResult({
      reason: explainTooLarge(`This file is over ${fileBytes / 1024 / 1024} MB.`),
      status: 413,
    });
  }
  const problem = getFileProblem({ size });
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
  // The server rejects a chunk that leaves a gap, because the browser may never send the missing bytes.
  if (from !== storedBytes || !request.body) return createChunkResult(storedBytes, 409);
  const error = await storeChunks(company, file, from, request.body, signal);
  return error ? createFailedResult(error) : createChunkResult(await countReceivedBytes(company, file));
}

async function completeUpload(upload: ChunkRequest): Promise<ChunkResult> {
  const { client, document, name, file } = upload;
  const company = serviceRoleClient();
  const content = await assembleFile(company, file);
  if (!(content instanceof Uint8Array)) return resultUnlessStored(upload, createChunkResult(content, 409));
  const result = await storeFileContent(client, file.shipment, document, { name, content });
  // The server deletes the chunks only after a final result. Otherwise, the next attempt reuses the chunks.
  if ([200, 400, 409].includes(result.status)) await deleteUploadChunks(company, file);
  return resultUnlessStored(upload, result);
}

/** Returns success if another request has already stored this file for the document. Otherwise returns `result`. */
async function resultUnlessStored({ client, document, file }: ChunkRequest, result: ChunkResult): Promise<ChunkResult> {
  if (result.status === 200 || !(await hasFile(client, document.id, file.sha256))) return result;
  return createStoredResult(document);
}

function createChunkResult(storedBytes: number | { reason: string; status: number }, status = 200): ChunkResult {
  return typeof storedBytes === "number" ? { storedBytes, status } : createFailedResult(storedBytes);
}
