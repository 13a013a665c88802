/** Large files sent by script: they go on where their line broke. All others come whole, by the form. */
import { data, type RouterContextProvider, redirect } from "react-router";
import { z } from "zod";
import { failure } from "~/lib/answer.server";
import { env } from "~/lib/env.server";
import { largeFile } from "~/lib/file-size";
import { portalPath } from "~/lib/redirect.server";
import { refusalOfThrown } from "~/lib/refusal.server";
import { type Client, clientOrRefusal } from "~/lib/session.server";
import { companyBackend } from "~/lib/supabase.server";
import { takePlace } from "~/lib/uploads.server";
import { fileProblem } from "~/models/document";
import { hasFile, notAwaited } from "~/models/document.server";
import { getShipment } from "~/models/shipment.server";
import { inTurn, storeArriving } from "~/models/upload-arriving.server";
import { type Announced, bytesThere, dropParts, makeRoom, wholeFile } from "~/models/upload-parts.server";
import type { Route } from "./+types/portal.$shipmentId_.documents_.parts";
import { type Received, receiveContent, received, tooLarge } from "./portal.$shipmentId/receive.server";

/**
 * What the header `Upload` says of the file, as a form would: a large one, as the smallest take an object of the store for
 * next to nothing. `from` is the place of the body's first byte in it; without
 * one the file is all there, and is to become the document's.
 */
const Said = z.object({
  document: z.string(),
  name: z.string().max(1000),
  size: z.coerce.number().int().gt(largeFile),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  from: z.coerce.number().int().min(0).optional(),
});

/** How much of the file is there, or that it was taken, or why not: what the toast says. */
type Answer = { there: number; status: number } | Pick<Received, "toast" | "status">;

/** The client, the document and the file of a request. */
type Asked = { client: Client; document: { id: string; name: string }; name: string; from?: number; file: Announced };

/** Answers how many bytes of a file are there. */
export async function loader({ request, context, params }: Route.LoaderArgs) {
  if (!request.headers.has("Upload")) return redirect(portalPath(`/portal/${params.shipmentId}`), 303);
  return answer(request, context, params.shipmentId, async (asked) => {
    const refused = await notAwaited(asked.client, asked.document.id, true);
    return refused ? unlessTaken(asked, failed(refused)) : said(await bytesThere(companyBackend(), asked.file));
  });
}

/** Takes bytes of a file from its header's `from` on, or the whole file as the document's. */
export async function action({ request, context, params }: Route.ActionArgs) {
  if (request.headers.get("Content-Type") !== "application/octet-stream") {
    throw data("Only bytes can be sent here.", { status: 415 });
  }
  return answer(request, context, params.shipmentId, (asked) =>
    inTurn(asked.file, async (next) => {
      const { client, document, file, from } = asked;
      const place = takePlace(request, context, client.id, from === undefined ? file.size : undefined);
      if ("reason" in place) return failed(place);
      try {
        const refused = await notAwaited(client, document.id);
        if (refused?.status === 409) await dropParts(companyBackend(), file);
        if (refused) return await unlessTaken(asked, failed(refused));
        return from === undefined ? await finish(asked) : await takeBytes(file, from, request, next);
      } finally {
        place.release();
      }
    }),
  );
}

async function answer(
  request: Request,
  context: Readonly<RouterContextProvider>,
  shipmentId: string,
  act: (asked: Asked) => Promise<Answer>,
): Promise<Response> {
  const asked = await judge(request, context, shipmentId);
  const { status, ...body } =
    "status" in asked ? asked : await act(asked).catch((error) => failed(refusalOfThrown(error)));
  // Closes the connection of who still sends what is not wanted.
  const headers: HeadersInit = "there" in body && status === 409 ? { Connection: "close" } : {};
  return Response.json(body, { status, headers });
}

/** What a request asks for, once it is the client's own document and a file that could be its. */
async function judge(request: Request, context: Readonly<RouterContextProvider>, id: string): Promise<Asked | Answer> {
  const client = clientOrRefusal(context);
  if ("reason" in client) return failed(client);
  const header = Said.safeParse(Object.fromEntries(new URLSearchParams(request.headers.get("Upload") ?? "")));
  if (!header.success) return failed({ reason: "The file arrived damaged.", status: 400 });
  const { document: documentId, name, size, sha256, from } = header.data;
  const file = { account: client.id, shipment: id.toLowerCase(), document: documentId, size, sha256 };
  // A browser sends a request again by itself when its line broke, from the first byte: it is stopped at once.
  const there = from === undefined ? 0 : await bytesThere(companyBackend(), file);
  if (typeof there === "number" && there > (from ?? 0)) return said(there, 409);
  const shipment = await getShipment(client, id);
  if (!shipment) return failed({ reason: "There is no such shipment.", status: 404 });
  if ("reason" in shipment) return failed(shipment);
  const document = shipment.documents.find((one) => one.id === documentId);
  if (!document) return failed({ reason: "Choose the document that the file belongs to.", status: 400 });
  const { fileBytes } = env().limits;
  if (size > fileBytes) {
    return failed({ reason: tooLarge(`This file is over ${fileBytes / 1024 / 1024} MB.`), status: 413 });
  }
  const problem = fileProblem({ name, size });
  if (problem) return failed({ reason: problem, status: 400 });
  return { client, document, name, from, file };
}

async function takeBytes(file: Announced, from: number, request: Request, next: AbortSignal): Promise<Answer> {
  const company = companyBackend();
  const there = await makeRoom(company, file);
  // Bytes after a gap would wait for others that may never come.
  if (from !== there || !request.body) return said(there, 409);
  const refused = await storeArriving(company, file, from, request.body, next);
  return refused ? failed(refused) : said(await bytesThere(company, file));
}

async function finish(asked: Asked): Promise<Answer> {
  const { client, document, name, file } = asked;
  const company = companyBackend();
  const content = await wholeFile(company, file);
  if (!(content instanceof Uint8Array)) return unlessTaken(asked, said(content, 409));
  const { toast, status } = await receiveContent(client, file.shipment, document, { name, content });
  // What was refused for good is not kept; what could not be stored just now is.
  if ([200, 400, 409].includes(status)) await dropParts(company, file);
  return unlessTaken(asked, { toast, status });
}

/** The answer, but that the file was taken when the document has it: an answer was lost, or another tab was quicker. */
async function unlessTaken({ client, document, file }: Asked, answer: Answer): Promise<Answer> {
  if (answer.status === 200 || !(await hasFile(client, document.id, file.sha256))) return answer;
  const { toast, status } = received(document);
  return { toast, status };
}

function said(there: number | { reason: string; status: number }, status = 200): Answer {
  return typeof there === "number" ? { there, status } : failed(there);
}

function failed({ reason, status }: { reason: string; status: number }): Answer {
  return { toast: failure("Upload failed", reason), status };
}
