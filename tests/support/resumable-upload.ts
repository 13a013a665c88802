/** A large file sent as the script of a shipment's page sends it: part by part, to where it goes on. */
import { createHash } from "node:crypto";
import type { Toast } from "../../app/lib/http/toast.ts";
import { createPdf, origin, type TestBrowser } from "./test-app.ts";

/** What was answered: how many bytes are there, or the toast. */
type ChunkResponse = {
  status: number;
  there?: number;
  toast?: Toast;
  location: string | null;
  connection: string | null;
};

/** A PDF of so many bytes of which no two parts are alike. */
export function createPatternedPdf(name: string, size: number): File {
  const words = Uint32Array.from({ length: Math.ceil(size / 4) }, (_, at) => Math.imul(4 * at, 2_654_435_761));
  const bytes = new Uint8Array(words.buffer, 0, size);
  bytes.set(Buffer.from("%PDF-1.4\n"));
  return new File([bytes], name, { type: createPdf().type });
}

/** The upload of a file for a document by a browser, to the shipment at `path`; `lies` change what it says of the file. */
export async function createResumableUpload(
  browser: TestBrowser,
  path: string,
  document: string,
  file: File,
  lies: Record<string, string> = {},
) {
  const content = new Uint8Array(await file.arrayBuffer());
  const said = {
    document,
    name: file.name,
    size: String(file.size),
    sha256: createHash("sha256").update(content).digest("hex"),
    ...lies,
  };
  const about = (more: Record<string, string> = {}) => new URLSearchParams({ ...said, ...more }).toString();
  const request = async (body: RequestInit | null, more: Record<string, string> = {}) => {
    const headers: Record<string, string> = { Upload: about(more), Accept: "application/json" };
    if (body) Object.assign(headers, { Origin: origin, "Content-Type": "application/octet-stream" });
    const answer = await browser.send(
      new Request(new URL(`${path}/documents/resumable-upload`, origin), {
        method: body ? "POST" : "GET",
        headers,
        ...body,
      }),
    );
    const text = await answer.text();
    const json = answer.headers.get("Content-Type")?.startsWith("application/json") ? JSON.parse(text) : {};
    return {
      ...(typeof json === "object" ? json : {}),
      status: answer.status,
      location: answer.headers.get("Location"),
      connection: answer.headers.get("Connection"),
    } as ChunkResponse;
  };
  return {
    content,
    /** What it says of the file. */
    about,
    /** Asks how much is there. */
    ask: () => request(null),
    /** Sends the bytes from one place up to another. */
    send: (from: number, to = file.size, bytes = content.slice(from, to)) =>
      request({ body: bytes }, { from: String(from) }),
    /** Sends the bytes of a stream, which may break off. */
    stream: (from: number, body: ReadableStream<Uint8Array>) =>
      request({ body, duplex: "half" } as RequestInit, { from: String(from) }),
    /** Asks for the file to be taken. */
    finish: () => request({ body: new Uint8Array() }),
  };
}

/** A body that sends some bytes and then waits; ended or broken off by who made it. */
export function createUploadStream(bytes: Uint8Array) {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start(made) {
      controller = made;
      made.enqueue(bytes);
    },
  });
  return {
    body,
    /** More of it. */
    send: (more: Uint8Array) => controller.enqueue(more),
    end: () => controller.close(),
    /** The line breaks. */
    cut: () => controller.error(new Error("The line broke.")),
  };
}
