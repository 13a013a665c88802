import { create as createContentDisposition } from "content-disposition";
import { createContext, data, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import type { MiddlewareArgs } from "../auth/viewer.server.ts";
import { acquireDownloadSlot, type Download, type DownloadOwner, type TransferSlot } from "./transfer-slots.server.ts";
import type { UserError } from "./user-error.server.ts";

export function noFormAction(): never {
  throw data("Not found", { status: 404 });
}

export function isDownloadClick({ method, headers }: Request): boolean {
  return method === "GET" && headers.get("Sec-Fetch-Site") !== "cross-site" && !headers.has("Sec-Purpose");
}

export function isEmbedded({ method, headers }: Request): boolean {
  const [site, use] = [headers.get("Sec-Fetch-Site"), headers.get("Sec-Fetch-Dest")];
  const isOwnPage = site === null || site === "same-origin";
  return method === "GET" && isOwnPage && use !== "document" && !headers.has("Sec-Purpose");
}

/** The PDF viewers of Chromium and Firefox work in spite of this policy. */
const viewPolicy = "sandbox; default-src 'none'; frame-ancestors 'self'";

const fileErrorContext = createContext<unknown>();

/** A file route without a component responds to errors with JSON instead of the error page. */
export function createFileRoute(respond: (args: MiddlewareArgs) => Response | Promise<Response>) {
  const middleware: MiddlewareFunction<Response>[] = [
    async (args, next) => {
      if (args.request.method === "POST") return next();
      try {
        return await respond(args);
      } catch (error) {
        args.context.set(fileErrorContext, error);
        return next();
      }
    },
  ];
  const loader = ({ context }: { context: Readonly<RouterContextProvider> }): never => {
    throw context.get(fileErrorContext);
  };
  return { middleware, loader };
}

/** Until the last byte is sent, the download counts towards the owner's limit of parallel downloads. */
export async function respondWithDownload(
  { request, context }: Pick<MiddlewareArgs, "request" | "context">,
  owner: DownloadOwner,
  open: () => Promise<Download | UserError>,
): Promise<Response | UserError> {
  const slot = await acquireDownloadSlot(request, context, owner);
  if ("reason" in slot) return slot;
  try {
    const download = await open();
    if (!("reason" in download)) return createDownloadResponse(download, request, slot);
    slot.release();
    return download;
  } catch (error) {
    slot.release();
    throw error;
  }
}

/** The response's headers prevent browsers from displaying the file as a page of this site. */
export function createDownloadResponse(
  { name, mediaType, size, content, isView = false }: Download,
  request: Request,
  slot: TransferSlot,
): Response {
  const headers = new Headers({
    "Content-Type": mediaType,
    "Content-Disposition": createContentDisposition(name, { type: isView ? "inline" : "attachment" }),
    "Content-Security-Policy": isView ? viewPolicy : "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
  });
  if (isView) headers.set("X-Frame-Options", "SAMEORIGIN");
  if (size !== undefined) headers.set("Content-Length", String(size));
  return new Response(createDownloadStream(content, request, slot), { headers });
}

/** Chunks are small, because Node counts a chunk as unsent until the operating system has taken the whole chunk. */
const streamChunkBytes = 16 * 1024;

function createDownloadStream(
  content: AsyncIterable<Uint8Array>,
  { method, signal }: Request,
  { release }: TransferSlot,
): ReadableStream<Uint8Array> | null {
  if (method === "HEAD" || signal.aborted) {
    release();
    return null;
  }
  signal.addEventListener("abort", release);
  const pieces = content[Symbol.asyncIterator]();
  let piece: Uint8Array = new Uint8Array();
  const stop = async () => {
    release();
    await pieces.return?.();
  };
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          while (piece.length === 0) {
            const next = await pieces.next();
            if (next.done) {
              release();
              return controller.close();
            }
            piece = next.value;
          }
          controller.enqueue(piece.subarray(0, streamChunkBytes));
          piece = piece.subarray(streamChunkBytes);
        } catch (error) {
          release();
          throw error;
        }
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
}
