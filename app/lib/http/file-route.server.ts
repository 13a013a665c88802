/** Routes that respond with a file, and pages without a form. */
import { create as createContentDisposition } from "content-disposition";
import { createContext, data, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import type { MiddlewareArgs } from "../auth/viewer.server.ts";
import { env } from "./env.server.ts";
import { acquireDownloadSlot, type TransferSlot } from "./transfer-slots.server.ts";
import { type UserError, userErrorFromThrown } from "./user-error.server.ts";

/** The action of a page without a form. */
export function noFormAction(): never {
  throw data("Not found", { status: 404 });
}

/**
 * True for a download that a person started on this site. False for a link of another site, a prefetch and a HEAD request.
 */
export function isDownloadClick({ method, headers }: Request): boolean {
  return method === "GET" && headers.get("Sec-Fetch-Site") !== "cross-site" && !headers.has("Sec-Purpose");
}

const fileErrorContext = createContext<unknown>();

/**
 * Returns the middleware and loader of a route that responds with the file of `make`. The route needs a component, so that
 * an error of `make` becomes the site's error page instead of JSON.
 */
export function createFileRoute(make: (args: MiddlewareArgs) => Response | Promise<Response>) {
  const middleware: MiddlewareFunction<Response>[] = [
    async (args, next) => {
      if (args.request.method === "POST") return next();
      try {
        return await make(args);
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

/**
 * Returns a response with the file that `open` returns. It holds a download slot from before the file is read until the
 * reader has it. Returns a UserError when there is no slot, or when `open` returns one.
 */
export async function respondWithFile(
  { request, context }: Pick<MiddlewareArgs, "request" | "context">,
  account: string,
  open: () => Promise<Parameters<typeof createFileResponse>[0] | UserError>,
): Promise<Response | UserError> {
  const slot = acquireDownloadSlot(context, account);
  if ("reason" in slot) return slot;
  const opened = await open().catch(userErrorFromThrown);
  if (!("reason" in opened)) return createFileResponse(opened, request, slot);
  slot.release();
  return opened;
}

/**
 * Returns a file as a download under its own name. No browser opens it as a page of this site, and no cache stores it. The
 * slot is released when the reader has the whole file, or has disconnected.
 */
export function createFileResponse(
  file: { content: Uint8Array; name: string; file_name: string | null; media_type: string | null },
  request: Request,
  slot: TransferSlot,
) {
  return new Response(createFileStream(file.content, request, slot), {
    headers: {
      "Content-Type": file.media_type ?? "application/octet-stream",
      "Content-Length": String(file.content.length),
      "Content-Disposition": createContentDisposition(file.file_name ?? file.name),
      "Content-Security-Policy": "sandbox; default-src 'none'",
      "Cache-Control": "private, no-store",
    },
  });
}

const streamChunkBytes = 65_536;
/** How long a reader may be slower than SLOWEST_KIB. */
const slowReaderGraceSeconds = 60;

function createFileStream(
  content: Uint8Array,
  { method, signal }: Request,
  { release }: TransferSlot,
): ReadableStream<Uint8Array> | null {
  if (method === "HEAD" || signal.aborted) {
    release();
    return null;
  }
  signal.addEventListener("abort", release);
  const { bytesPerSecond } = env().limits;
  const began = performance.now();
  let sent = 0;
  return new ReadableStream(
    {
      pull(controller) {
        const seconds = (performance.now() - began) / 1000;
        if (seconds > slowReaderGraceSeconds && sent < seconds * bytesPerSecond) {
          release();
          return controller.error(new Error("The reader is too slow."));
        }
        controller.enqueue(content.subarray(sent, sent + streamChunkBytes));
        sent += streamChunkBytes;
        if (sent < content.length) return;
        controller.close();
        release();
      },
      cancel: release,
    },
    // Chunks are created only when the reader asks for them.
    { highWaterMark: 0 },
  );
}
