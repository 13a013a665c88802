import { create as createContentDisposition } from "content-disposition";
import { createContext, data, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import type { MiddlewareArgs } from "../auth/viewer.server.ts";
import { env } from "./env.server.ts";
import { acquireDownloadSlot, type TransferSlot } from "./transfer-slots.server.ts";
import { type UserError, userErrorFromThrown } from "./user-error.server.ts";

export function noFormAction(): never {
  throw data("Not found", { status: 404 });
}

export function isDownloadClick({ method, headers }: Request): boolean {
  return method === "GET" && headers.get("Sec-Fetch-Site") !== "cross-site" && !headers.has("Sec-Purpose");
}

const fileErrorContext = createContext<unknown>();

/** The route also needs a component, so that an error of `respond` becomes the site's error page instead of JSON. */
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

/** Occupies a download slot while the file is sent, because the whole file is in memory during that time. */
export async function respondWithFile(
  { request, context }: Pick<MiddlewareArgs, "request" | "context">,
  account: string,
  open: () => Promise<Parameters<typeof createFileResponse>[0] | UserError>,
): Promise<Response | UserError> {
  const slot = acquireDownloadSlot(context, account);
  if ("reason" in slot) return slot;
  const file = await open().catch(userErrorFromThrown);
  if (!("reason" in file)) return createFileResponse(file, request, slot);
  slot.release();
  return file;
}

/** The headers prevent browsers from displaying the file as a page of this site. */
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
  const startedAt = performance.now();
  let sent = 0;
  return new ReadableStream(
    {
      pull(controller) {
        const seconds = (performance.now() - startedAt) / 1000;
        if (seconds > slowReaderGraceSeconds && sent < seconds * bytesPerSecond) {
          release();
          return controller.error(new Error("The browser downloads the file too slowly."));
        }
        controller.enqueue(content.subarray(sent, sent + streamChunkBytes));
        sent += streamChunkBytes;
        if (sent < content.length) return;
        controller.close();
        release();
      },
      cancel: release,
    },
    { highWaterMark: 0 },
  );
}
