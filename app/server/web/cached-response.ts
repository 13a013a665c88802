/** Pages and files in the encodings that browsers take. Those kept in memory are encoded once, for everybody. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { finished } from "node:stream/promises";
import { constants, createBrotliCompress, createGzip } from "node:zlib";
import fresh from "fresh";
import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";

const encodings = ["br", "gzip", "identity"] as const;
type Encoding = (typeof encodings)[number];

/** One answer in every encoding that makes it smaller; `headers` are those that do not depend on the encoding, named in lower case. */
export type CachedResponse = {
  headers: Record<string, string>;
  etag: string;
  bodies: Partial<Record<Encoding, Buffer<ArrayBuffer>>>;
};

/** Brotli at its best quality; for what is kept. */
export const bestBrotli = 11;
/** For what is made for one request. */
export const quickBrotli = 6;

/** What stands in a page before the place for its weight, with the bytes of what it loads (critical-css.ts). */
const weightPattern = / data-weight="(\d+)">(?=<\/)/;

/** The page as it is, and each compressed form that is smaller, each with its weight in it. */
export async function encodePage(page: Buffer<ArrayBuffer>, quality = bestBrotli): Promise<CachedResponse["bodies"]> {
  const [identity, br, zipped] = await Promise.all([
    encodeAs("identity", page, quality),
    encodeAs("br", page, quality),
    encodeAs("gzip", page, quality),
  ]);
  return {
    identity,
    ...(br.length < identity.length ? { br } : {}),
    ...(zipped.length < identity.length ? { gzip: zipped } : {}),
  };
}

/**
 * The page in one encoding, with its weight in it: the bytes before that place, as much again for the share that comes
 * after it, and what the page loads, in whole KB. `quality` is brotli's, 0 to 11.
 */
async function encodeAs(encoding: Encoding, page: Buffer<ArrayBuffer>, quality: number): Promise<Buffer<ArrayBuffer>> {
  const html = page.toString("utf8");
  const place = weightPattern.exec(html);
  const at = place ? place.index + place[0].length : html.length;
  const weighed = (bytes: number) =>
    place ? `${Math.ceil(((bytes * html.length) / at + Number(place[1])) / 1024)}${html.slice(at)}` : "";
  if (encoding === "identity") return place ? Buffer.from(html.slice(0, at) + weighed(at)) : page;
  // What is written comes out at once, so that its bytes can be counted.
  const stream =
    encoding === "gzip"
      ? createGzip({ level: Math.min(quality, 9), flush: constants.Z_SYNC_FLUSH })
      : createBrotliCompress({
          flush: constants.BROTLI_OPERATION_FLUSH,
          params: {
            [constants.BROTLI_PARAM_QUALITY]: quality,
            [constants.BROTLI_PARAM_SIZE_HINT]: page.length,
          },
        });
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  if (place) stream.write(html.slice(0, at), () => stream.end(weighed(Buffer.concat(chunks).length)));
  else stream.end(page);
  await finished(stream);
  return Buffer.concat(chunks);
}

/**
 * Answers a GET or HEAD: 304 when the browser has these bytes, else the smallest encoding it takes. `headers` are those
 * that every answer has, as names and values in turn: written at once, they cost a tenth of setting one after the other.
 */
export function sendCachedResponse(
  request: IncomingMessage,
  response: ServerResponse,
  stored: CachedResponse,
  headers: readonly string[] = [],
): void {
  const { etag, head, body } = getEncodedResponse(stored, request.headers["accept-encoding"]);
  if (request.headers["if-none-match"] !== undefined && fresh(request.headers, { etag })) {
    response.writeHead(304, [...headers, ...head.notModified]).end();
    return;
  }
  // Node sends no body to a HEAD.
  response.writeHead(200, [...headers, ...head.ok]).end(body);
}

type EncodedResponse = { etag: string; head: { ok: string[]; notModified: string[] }; body: Buffer };

/** What has been answered, by encoding; it is forgotten with what was stored. */
const encodedResponses = new WeakMap<CachedResponse, Map<Encoding, EncodedResponse>>();

/** What is stored in the encoding that a browser takes, with the headers that go with it. */
function getEncodedResponse(stored: CachedResponse, acceptEncoding: string | undefined): EncodedResponse {
  const available = encodings.filter((encoding) => stored.bodies[encoding]);
  const encoding = chooseEncoding(acceptEncoding, available);
  const made = encodedResponses.get(stored) ?? new Map<Encoding, EncodedResponse>();
  const known = made.get(encoding);
  if (known) return known;
  const body = stored.bodies[encoding] ?? Buffer.alloc(0);
  const etag = `"${stored.etag}${encoding === "identity" ? "" : `-${encoding}`}"`;
  const { vary, ...own } = stored.headers;
  const shared = ["ETag", etag, "Vary", ["Accept-Encoding", vary].filter(Boolean).join(", ")];
  const ofBody = ["Content-Length", String(body.length)];
  if (encoding !== "identity") ofBody.push("Content-Encoding", encoding);
  const lasting = Object.entries(own).filter(([name]) => name !== "content-type");
  const answer = {
    etag,
    head: { ok: [...Object.entries(own).flat(), ...shared, ...ofBody], notModified: [...lasting.flat(), ...shared] },
    body,
  };
  encodedResponses.set(stored, made.set(encoding, answer));
  return answer;
}

/** A page, and it in the encodings in which it was answered. */
export type CompressedPage = { html: string; bodies: CachedResponse["bodies"] };

/** A page for one request, compressed as its browser takes it, with its weight in it; `response` has its status and headers. */
export async function createCompressedResponse(
  page: CompressedPage,
  response: Response,
  acceptEncoding: string | null,
): Promise<Response> {
  const { html, bodies } = page;
  if (html === "") return new Response(null, response);
  const encoding = chooseEncoding(acceptEncoding ?? undefined, encodings);
  const headers = new Headers(response.headers);
  headers.append("Vary", "Accept-Encoding");
  if (encoding !== "identity") headers.set("Content-Encoding", encoding);
  bodies[encoding] ??= await encodeAs(encoding, Buffer.from(html), quickBrotli);
  return new Response(bodies[encoding], { status: response.status, headers });
}

/** What was chosen; browsers send few different headers. */
const encodingChoices = new LRUCache<string, Encoding>({ max: 500 });

/** The first that the browser accepts: `available` lists them by size, smallest first. */
function chooseEncoding(acceptEncoding: string | undefined, available: readonly Encoding[]): Encoding {
  const key = `${available} of ${acceptEncoding}`;
  const known = encodingChoices.get(key);
  if (known) return known;
  const negotiator = new Negotiator({ headers: { "accept-encoding": acceptEncoding } });
  const accepted = negotiator.encodings([...available]);
  const choice = available.find((encoding) => accepted.includes(encoding)) ?? "identity";
  if (key.length < 200) encodingChoices.set(key, choice);
  return choice;
}
