/** Large files sent by script: they go on where their line broke. All others come whole, by the form. */
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
import {
  assembleFile,
  countReceivedBytes,
  deleteUploadChunks,
  freeSpaceForUpload,
  type PendingUpload,
} from "~/models/resumable-upload.server";
import { getShipment } from "~/models/shipment.server";
import { runUploadExclusively, storeChunks } from "~/models/upload-arriving.server";
import type { Route } from "./+types/portal.$shipmentId_.documents_.resumable-upload";
import {
  createStoredResult,
  explainTooLarge,
  type StoreFileResult,
  storeFileContent,
} from "./portal.$shipmentId/file-storage.server";

/**
 * What the header `Upload` says of the file, as a form would: a large one, as the smallest take an object of the store for
 * next to nothing. `from` is the place of the body's first byte in it; without
 * one the file is all there, and is to become the document's.
 */
const UploadHeader = z.object({
  document: z.string(),
  name: z.string().max(1000),
  size: z.coerce.number().int().gt(largeFileBytes),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  from: z.coerce.number().int().min(0).optional(),
});

/** How much of the file is there, or that it was taken, or why not: what the toast says. */
type ChunkResult = { there: number; status: number } | Pick<StoreFileResult, "toast" | "status">;

/** The client, the document and the file of a request. */
type ChunkRequest = {
  client: Viewer;
  document: { id: string; name: string };
  name: string;
  offset?: number;
  file: PendingUpload;
};

/** Answers how many bytes of a file are there. */
export async function loader({ request, context, params }: Route.LoaderArgs) {
  if (!request.headers.has("Upload")) return redirect(toViewerPath(`/portal/${params.shipmentId}`), 303);
  return respond(request, context, params.shipmentId, async (asked) => {
    const refused = await checkUploadAllowed(asked.client, asked.document.id, true);
    return refused
      ? resultUnlessStored(asked, createFailedResult(refused))
      : createChunkResult(await countReceivedBytes(serviceRoleClient(), asked.file));
  });
}

/** Takes bytes of a file from its header's `from` on, or the whole file as the document's. */
export async function action({ request, context, params }: Route.ActionArgs) {
  if (request.headers.get("Content-Type") !== "application/octet-stream") {
    throw data("Only bytes can be sent here.", { status: 415 });
  }
  return respond(request, context, params.shipmentId, (asked) =>
    runUploadExclusively(asked.file, async (next) => {
      const { client, document, file, offset: from } = asked;
      const place = acquireUploadSlot(request, context, client.id, from === undefined ? file.size : undefined);
      if ("reason" in place) return createFailedResult(place);
      try {
        const refused = await checkUploadAllowed(client, document.id);
        if (refused?.status === 409) await deleteUploadChunks(serviceRoleClient(), file);
        if (refused) return await resultUnlessStored(asked, createFailedResult(refused));
        return from === undefined ? await completeUpload(asked) : await storeChunk(file, from, request, next);
      } finally {
        place.release();
      }
    }),
  );
}

async function respond(
  request: Request,
  context: Readonly<RouterContextProvider>,
  shipmentId: string,
  act: (asked: ChunkRequest) => Promise<ChunkResult>,
): Promise<Response> {
  const asked = await parseChunkRequest(request, context, shipmentId);
  const { status, ...body } =
    "status" in asked ? asked : await act(asked).catch((error) => createFailedResult(userErrorFromThrown(error)));
  // Closes the connection of who still sends what is not wanted.
  const headers: HeadersInit = "there" in body && status === 409 ? { Connection: "close" } : {};
  return Response.json(body, { status, headers });
}

/** What a request asks for, once it is the client's own document and a file that could be its. */
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
  // A browser sends a request again by itself when its line broke, from the first byte: it is stopped at once.
  const there = from === undefined ? 0 : await countReceivedBytes(serviceRoleClient(), file);
  if (typeof there === "number" && there > (from ?? 0)) return createChunkResult(there, 409);
  const shipment = await getShipment(client, id);
  if (!shipment) return createFailedResult({ reason: "There is no such shipment.", status: 404 });
  if ("reason" in shipment) return createFailedResult(shipment);
  const document = shipment.documents.find((one) => one.id === documentId);
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
  next: AbortSignal,
): Promise<ChunkResult> {
  const company = serviceRoleClient();
  const there = await freeSpaceForUpload(company, file);
  // Bytes after a gap would wait for others that may never come.
  if (from !== there || !request.body) return createChunkResult(there, 409);
  const refused = await storeChunks(company, file, from, request.body, next);
  return refused ? createFailedResult(refused) : createChunkResult(await countReceivedBytes(company, file));
}

async function completeUpload(asked: ChunkRequest): Promise<ChunkResult> {
  const { client, document, name, file } = asked;
  const company = serviceRoleClient();
  const content = await assembleFile(company, file);
  if (!(content instanceof Uint8Array)) return resultUnlessStored(asked, createChunkResult(content, 409));
  const { toast, status } = await storeFileContent(client, file.shipment, document, { name, content });
  // What was refused for good is not kept; what could not be stored just now is.
  if ([200, 400, 409].includes(status)) await deleteUploadChunks(company, file);
  return resultUnlessStored(asked, { toast, status });
}

/** The answer, but that the file was taken when the document has it: an answer was lost, or another tab was quicker. */
async function resultUnlessStored({ client, document, file }: ChunkRequest, answer: ChunkResult): Promise<ChunkResult> {
  if (answer.status === 200 || !(await hasFile(client, document.id, file.sha256))) return answer;
  const { toast, status } = createStoredResult(document);
  return { toast, status };
}

function createChunkResult(there: number | { reason: string; status: number }, status = 200): ChunkResult {
  return typeof there === "number" ? { there, status } : createFailedResult(there);
}

function createFailedResult({ reason, status }: { reason: string; status: number }): ChunkResult {
  return { toast: createErrorToast("Upload failed", reason), status };
}
