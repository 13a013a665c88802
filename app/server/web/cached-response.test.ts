import { createServer, get, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../../tests/support/free-port.ts";
import { createCompressedResponse, encodePage, sendCachedResponse } from "./cached-response.ts";

const consignments = (count: number) =>
  Array.from({ length: count }, (_, index) => `<li>Consignment ${(index * 7919) % 1000}</li>`).join("");
const fileBytes = 100 * 1024;
const page = `<ul>${consignments(3000)}</ul><b data-weight="${fileBytes}"></b><ul>${consignments(300)}</ul>`;
/** Returns the response with the uncached page `html` to a request with the Accept-Encoding header `acceptEncoding`. */
const requestPage = (html: string, acceptEncoding: string | null) =>
  createCompressedResponse(
    { html, bodies: {} },
    new Response(null, { headers: { "Content-Type": "text/html", Vary: "Cookie" } }),
    acceptEncoding,
  );
const readWeight = (text: string) => Number(/<b data-weight="\d+">(\d+)<\/b>/.exec(text)?.[1]);
const kilobytes = (bytes: number) => Math.ceil((bytes + fileBytes) / 1024);

test("Each encoding of a cached page states the total size of this encoding and the page's files.", async () => {
  const { identity, br, gzip } = await encodePage(Buffer.from(page));
  if (!identity || !br || !gzip) throw new Error("The cached page lacks an encoding.");
  expect(readWeight(identity.toString())).toBe(kilobytes(identity.length));
  for (const [text, bytes] of [
    [brotliDecompressSync(br).toString(), br.length],
    [gunzipSync(gzip).toString(), gzip.length],
  ] as const) {
    // The page contains its own size, so the size is estimated before the rest of the page is compressed.
    expect(Math.abs(readWeight(text) - kilobytes(bytes))).toBeLessThanOrEqual(1);
    expect(text.replace(/>\d+<\/b>/, "></b>")).toBe(page);
  }
});

test("Brotli compression of a page uses a window of 256 KB, not the default window of 4 MB.", async () => {
  const { br } = await encodePage(Buffer.from(page));
  // The first bits contain the window size (RFC 7932, section 9.1): 0b0011 for 256 KB, 0b1011 for 4 MB.
  expect((br?.[0] ?? 0) & 0b1111).toBe(0b0011);
});

test("A cached response without a placeholder for the page's size has its original text.", async () => {
  const bytes = Buffer.from([0xff, 0xfe, ...Buffer.from("x".repeat(2000))]);
  const { identity, br, gzip } = await encodePage(bytes);
  expect(identity).toEqual(bytes);
  expect(br && brotliDecompressSync(br)).toEqual(bytes);
  expect(gzip && gunzipSync(gzip)).toEqual(bytes);
});

test("An uncached page has an encoding that the browser accepts, and states its size.", async () => {
  const response = await requestPage(page, "gzip, deflate");
  expect(response.headers.get("Content-Encoding")).toBe("gzip");
  expect(response.headers.get("Vary")).toBe("Cookie, Accept-Encoding");
  const body = Buffer.from(await response.arrayBuffer());
  expect(Math.abs(readWeight(gunzipSync(body).toString()) - kilobytes(body.length))).toBeLessThanOrEqual(1);
  for (const unacceptable of ["br;q=0", "gzip;q=0, br;q=0.0", "*;q=0", "brotli, x-gzip-2"])
    expect((await requestPage(page, unacceptable)).headers.has("Content-Encoding"), unacceptable).toBe(false);
  expect((await requestPage(page, "br;q=0, gzip")).headers.get("Content-Encoding")).toBe("gzip");
  const plain = await requestPage(page, null);
  expect(plain.headers.has("Content-Encoding")).toBe(false);
  expect(readWeight(await plain.text())).toBeGreaterThan(100);
});

test("A response without a body is not compressed.", async () => {
  const head = await requestPage("", "br");
  expect(head.headers.has("Content-Encoding")).toBe(false);
  expect(head.body).toBe(null);
});

test("A cached page has each header once, and a browser with an up-to-date copy gets status 304.", async () => {
  const headers = { "content-type": "text/html", "cache-control": "no-cache", vary: "Cookie" };
  const stored = { headers, etag: "tag", bodies: await encodePage(Buffer.from(page)) };
  const server = createServer((request, response) => {
    sendCachedResponse(request, response, stored, ["X-Frame-Options", "DENY"]);
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  const send = async (requestHeaders: IncomingHttpHeaders, method = "GET") => {
    const response = await new Promise<IncomingMessage>((resolve) =>
      get({ port, host: "127.0.0.1", method, headers: requestHeaders, agent: false }, resolve),
    );
    const names = response.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    return { status: response.statusCode, headers: response.headers, names: names.sort(), body: await text(response) };
  };
  const contentHeaders = ["cache-control", "connection", "content-length", "content-type", "date", "etag", "vary"];
  const whole = await send({});
  expect(whole.names).toEqual([...contentHeaders, "x-frame-options"]);
  expect(whole.headers).toMatchObject({ vary: "Accept-Encoding, Cookie", etag: '"tag"' });
  expect(whole.body).toBe(stored.bodies.identity?.toString());
  const zipped = await send({ "accept-encoding": "gzip" });
  expect(zipped.headers).toMatchObject({ "content-encoding": "gzip", etag: '"tag-gzip"' });
  const unchanged = await send({ "accept-encoding": "br", "if-none-match": '"tag-br"' });
  expect(unchanged.names).toEqual(["cache-control", "connection", "date", "etag", "vary", "x-frame-options"]);
  expect([unchanged.status, unchanged.body]).toEqual([304, ""]);
  expect((await send({ "accept-encoding": "gzip", "if-none-match": '"tag-br"' })).status).toBe(200);
  const head = await send({}, "HEAD");
  expect([head.headers["content-length"], head.body]).toEqual([whole.headers["content-length"], ""]);
});
