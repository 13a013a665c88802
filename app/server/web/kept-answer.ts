/** Answers that are kept as bytes in memory: the files of the build, and pages that are the same for everybody. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import fresh from "fresh";
import Negotiator from "negotiator";

const encodings = ["br", "gzip", "identity"] as const;
type Encoding = (typeof encodings)[number];

/** One answer in every encoding that makes it smaller; `headers` are those that do not depend on the encoding. */
export type Stored = { headers: Record<string, string>; etag: string; bodies: Partial<Record<Encoding, Buffer>> };

/** Brotli at its best quality; for what is kept. */
export const bestBrotli = 11;

/** The body as it is, and each compressed form that is smaller. `quality` is brotli's, 0 to 11. */
export async function encode(body: Buffer, quality = bestBrotli): Promise<Stored["bodies"]> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(body, { params }),
    promisify(gzip)(body, { level: Math.min(quality, 9) }),
  ]);
  return {
    identity: body,
    ...(br.length < body.length ? { br } : {}),
    ...(zipped.length < body.length ? { gzip: zipped } : {}),
  };
}

/** Answers a GET or HEAD: 304 when the browser has these bytes, else the smallest encoding it takes. */
export function answerStored(request: IncomingMessage, response: ServerResponse, stored: Stored): void {
  const encoding = chosen(request, stored);
  const body = stored.bodies[encoding] ?? Buffer.alloc(0);
  const etag = `"${stored.etag}${encoding === "identity" ? "" : `-${encoding}`}"`;
  for (const [name, value] of Object.entries(stored.headers)) response.setHeader(name, value);
  response.setHeader("ETag", etag);
  response.setHeader("Vary", ["Accept-Encoding", stored.headers.Vary].filter(Boolean).join(", "));
  if (fresh(request.headers, { etag })) {
    response.statusCode = 304;
    response.removeHeader("Content-Type");
    response.end();
    return;
  }
  if (encoding !== "identity") response.setHeader("Content-Encoding", encoding);
  response.setHeader("Content-Length", body.length);
  response.end(request.method === "HEAD" ? undefined : body);
}

function chosen(request: IncomingMessage, { bodies }: Stored): Encoding {
  const available = encodings.filter((encoding) => bodies[encoding]);
  // The first that the browser accepts: `encodings` lists them by size, smallest first.
  const accepted = new Negotiator(request).encodings([...available]);
  return available.find((encoding) => accepted.includes(encoding)) ?? "identity";
}
