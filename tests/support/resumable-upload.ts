/** Uploads a large file in chunks, as the script of a shipment's page does. */
import { createHash } from "node:crypto";
import type { Toast } from "../../app/lib/http/toast.ts";
import { createPdf, origin, pdfEnd, type TestBrowser } from "./test-app.ts";

/** The response to an upload request: the number of stored bytes, or a toast. */
type ChunkResponse = {
  status: number;
  storedBytes?: number;
  toast?: Toast;
  location: string | null;
  connection: string | null;
};

/** Returns a PDF of `size` bytes with no repeated parts. */
export function createPatternedPdf(name: string, size: number): File {
  const words = Uint32Array.from({ length: Math.ceil(size / 4) }, (_, at) => Math.imul(4 * at, 2_654_435_761));
  const bytes = new Uint8Array(words.buffer, 0, size);
  bytes.set(Buffer.from("%PDF-1.4\n"));
  bytes.set(Buffer.from(pdfEnd), size - pdfEnd.length);
  return new File([bytes], name, { type: createPdf().type });
}

/** Returns an upload to the shipment at `path`. `falseFields` replaces fields of the Upload header. */
export async function createResumableUpload(
  browser: TestBrowser,
  path: string,
  document: string,
  file: File,
  falseFields: Record<string, string> = {},
) {
  const content = new Uint8Array(await file.arrayBuffer());
  const description = {
    document,
    name: file.name,
    size: String(file.size),
    sha256: createHash("sha256").update(content).digest("hex"),
    ...falseFields,
  };
  const describe = (more: Record<string, string> = {}) => new URLSearchParams({ ...description, ...more }).toString();
  const request = async (body: RequestInit | null, more: Record<string, string> = {}) => {
    const headers: Record<string, string> = { Upload: describe(more), Accept: "application/json" };
    if (body) Object.assign(headers, { Origin: origin, "Content-Type": "application/octet-stream" });
    const response = await browser.send(
      new Request(new URL(`${path}/documents/resumable-upload`, origin), {
        method: body ? "POST" : "GET",
        headers,
        ...body,
      }),
    );
    const text = await response.text();
    const json = response.headers.get("Content-Type")?.startsWith("application/json") ? JSON.parse(text) : {};
    return {
      ...(typeof json === "object" ? json : {}),
      status: response.status,
      location: response.headers.get("Location"),
      connection: response.headers.get("Connection"),
    } as ChunkResponse;
  };
  return {
    content,
    describe,
    /** Requests the number of stored bytes. */
    ask: () => request(null),
    /** Sends the bytes from `from` up to `to`. */
    send: (from: number, to = file.size, bytes = content.slice(from, to)) =>
      request({ body: bytes }, { from: String(from) }),
    /** Sends the bytes of a stream, which may fail before its end. */
    stream: (from: number, body: ReadableStream<Uint8Array>) =>
      request({ body, duplex: "half" } as RequestInit, { from: String(from) }),
    /** Asks the site to assemble the chunks and to store the complete file. */
    finish: () => request({ body: new Uint8Array() }),
  };
}

/** Returns a request body that sends some bytes and then waits for `send`, `end` or `cut`. */
export function createUploadStream(bytes: Uint8Array) {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start(streamController) {
      controller = streamController;
      controller.enqueue(bytes);
    },
  });
  return {
    body,
    send: (more: Uint8Array) => controller.enqueue(more),
    end: () => controller.close(),
    cut: () => controller.error(new Error("The connection was cut.")),
  };
}
