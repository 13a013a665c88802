import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import fresh from "fresh";
import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
const encodings = ["br", "gzip", "identity"] as const;
type Encoding = (typeof encodings)[number];

/** Header names are in lower case. `bodies` has only encodings that are smaller than the uncompressed body. */
export type CachedResponse = {
  headers: Record<string, string>;
  etag: string;
  bodies: Partial<Record<Encoding, Buffer<ArrayBuffer>>>;
};

export const bestBrotli = 11;
export const quickBrotli = 6;
/** A window of 256 KB is larger than any page. The default window of 4 MB would take most of the site's memory. */
export const pageWindowBits = 18;

/** Matches the footer's element for the total size of the page. `data-weight` is the size of the files in bytes. */
const weightPattern = / data-weight="(\d+)">(?=<\/)/;

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

/** Compresses `page`, inserts the total size of `page` and its files, and compresses again. `quality`: from 0 to 11. */
async function encodeAs(encoding: Encoding, page: Buffer<ArrayBuffer>, quality: number): Promise<Buffer<ArrayBuffer>> {
  const compressed = await encode(encoding, page, quality);
  const html = page.toString("utf8");
  return weightPattern.test(html)
    ? encode(encoding, Buffer.from(insertWeight(html, compressed.length)), quality)
    : compressed;
}

async function encode(encoding: Encoding, body: Buffer<ArrayBuffer>, quality: number): Promise<Buffer<ArrayBuffer>> {
  if (encoding === "identity") return body;
  if (encoding === "gzip") return compressGzip(body, { level: Math.min(quality, 9) });
  return compressBrotli(body, { params: createBrotliParams(quality, body.length) });
}

/** Inserts the total size in KB: `bytes` plus the size of the page's files. */
function insertWeight(html: string, bytes: number): string {
  return html.replace(weightPattern, (tag, files) => `${tag}${Math.ceil((bytes + Number(files)) / 1024)}`);
}

function createBrotliParams(quality: number, bytes: number): Record<number, number> {
  return {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes,
    [constants.BROTLI_PARAM_LGWIN]: pageWindowBits,
  };
}

/** The compression ratio of the last page, for each encoding and `data-weight`. */
const compressionRatios = new LRUCache<string, number>({ max: 500 });

/** Compresses a page only once, because the compression ratio of a similar page predicts the compressed size. */
async function encodeQuickly(encoding: Encoding, html: string): Promise<Buffer<ArrayBuffer>> {
  const compress = async (bytes: number) => encode(encoding, Buffer.from(insertWeight(html, bytes)), quickBrotli);
  if (encoding === "identity") return compress(html.length);
  const key = `${encoding} ${weightPattern.exec(html)?.[1]}`;
  const ratio = compressionRatios.get(key) ?? (await compress(0)).length / html.length;
  const body = await compress(ratio * html.length);
  compressionRatios.set(key, body.length / html.length);
  return body;
}

/** `headers` is a list of alternating names and values for writeHead, because setHeader takes ten times as long. */
export function sendCachedResponse(
  request: IncomingMessage,
  response: ServerResponse,
  stored: CachedResponse,
  headers: readonly string[] = [],
): void {
  const { etag, okHeaders, notModifiedHeaders, body } = getEncodedResponse(stored, request.headers["accept-encoding"]);
  if (request.headers["if-none-match"] !== undefined && fresh(request.headers, { etag })) {
    response.writeHead(304, [...headers, ...notModifiedHeaders]).end();
    return;
  }
  response.writeHead(200, [...headers, ...okHeaders]).end(body);
}

type EncodedResponse = { etag: string; okHeaders: string[]; notModifiedHeaders: string[]; body: Buffer };

const encodedResponses = new WeakMap<CachedResponse, Map<Encoding, EncodedResponse>>();

function getEncodedResponse(stored: CachedResponse, acceptEncoding: string | undefined): EncodedResponse {
  const encoding = chooseEncoding(acceptEncoding, stored.bodies);
  const responses = encodedResponses.get(stored) ?? new Map<Encoding, EncodedResponse>();
  const cachedResponse = responses.get(encoding);
  if (cachedResponse) return cachedResponse;
  const body = stored.bodies[encoding] ?? Buffer.alloc(0);
  const etag = `"${stored.etag}${encoding === "identity" ? "" : `-${encoding}`}"`;
  const { vary, ...ownHeaders } = stored.headers;
  const shared = ["ETag", etag, "Vary", ["Accept-Encoding", vary].filter(Boolean).join(", ")];
  const bodyHeaders = ["Content-Length", String(body.length)];
  if (encoding !== "identity") bodyHeaders.push("Content-Encoding", encoding);
  const { "content-type": _contentType, ...lastingHeaders } = ownHeaders;
  const encodedResponse = {
    etag,
    okHeaders: [...Object.entries(ownHeaders).flat(), ...shared, ...bodyHeaders],
    notModifiedHeaders: [...Object.entries(lastingHeaders).flat(), ...shared],
    body,
  };
  encodedResponses.set(stored, responses.set(encoding, encodedResponse));
  return encodedResponse;
}

export type CompressedPage = { html: string; bodies: CachedResponse["bodies"] };

export async function createCompressedResponse(
  page: CompressedPage,
  response: Response,
  acceptEncoding: string | null,
): Promise<Response> {
  const { html, bodies } = page;
  if (html === "") return new Response(null, response);
  const encoding = getAcceptedEncodings(acceptEncoding ?? undefined)[0] ?? "identity";
  const headers = new Headers(response.headers);
  headers.append("Vary", "Accept-Encoding");
  if (encoding !== "identity") headers.set("Content-Encoding", encoding);
  bodies[encoding] ??= await encodeQuickly(encoding, html);
  return new Response(bodies[encoding], { status: response.status, headers });
}

function chooseEncoding(acceptEncoding: string | undefined, bodies: CachedResponse["bodies"]): Encoding {
  return getAcceptedEncodings(acceptEncoding).find((encoding) => bodies[encoding]) ?? "identity";
}

const acceptedEncodings = new LRUCache<string, Encoding[]>({ max: 500 });

/** Returns the encodings that the browser accepts. The first encoding gives the smallest response. */
function getAcceptedEncodings(acceptEncoding = ""): Encoding[] {
  const cachedEncodings = acceptedEncodings.get(acceptEncoding);
  if (cachedEncodings) return cachedEncodings;
  const names = new Negotiator({ headers: { "accept-encoding": acceptEncoding } }).encodings([...encodings]);
  const accepted = encodings.filter((encoding) => names.includes(encoding));
  if (acceptEncoding.length < 200) acceptedEncodings.set(acceptEncoding, accepted);
  return accepted;
}
