import { createServer, get, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { createCompressedResponse, encodePage, sendCachedResponse } from "./cached-response.ts";

const consignments = (count: number) =>
  Array.from({ length: count }, (_, index) => `<li>Consignment ${(index * 7919) % 1000}</li>`).join("");
const files = 100 * 1024;
const page = `<ul>${consignments(3000)}</ul><b data-weight="${files}"></b><ul>${consignments(300)}</ul>`;
/** A page as one request gets it. */
const requestPage = (html: string, acceptEncoding: string | null) =>
  createCompressedResponse(
    { html, bodies: {} },
    new Response(null, { headers: { "Content-Type": "text/html", Vary: "Cookie" } }),
    acceptEncoding,
  );
const readWeight = (text: string) => Number(/<b data-weight="\d+">(\d+)<\/b>/.exec(text)?.[1]);
const kilobytes = (bytes: number) => Math.ceil((bytes + files) / 1024);

test("Each encoding of a cached page states the size of that encoding and of the page's files.", async () => {
  const { identity, br, gzip } = await encodePage(Buffer.from(page));
  if (!identity || !br || !gzip) throw new Error("an encoding is missing");
  expect(readWeight(identity.toString())).toBe(kilobytes(identity.length));
  for (const [text, bytes] of [
    [brotliDecompressSync(br).toString(), br.length],
    [gunzipSync(gzip).toString(), gzip.length],
  ] as const) {
    // What comes after the place is estimated, so it may be one off.
    expect(Math.abs(readWeight(text) - kilobytes(bytes))).toBeLessThanOrEqual(1);
    expect(text.replace(/>\d+<\/b>/, "></b>")).toBe(page);
  }
});

test("A page without a place for its size is cached byte for byte.", async () => {
  const bytes = Buffer.from([0xff, 0xfe, ...Buffer.from("x".repeat(2000))]);
  const { identity, br, gzip } = await encodePage(bytes);
  expect(identity).toEqual(bytes);
  expect(br && brotliDecompressSync(br)).toEqual(bytes);
  expect(gzip && gunzipSync(gzip)).toEqual(bytes);
});

test("a page for one request comes in the encoding its browser takes, with its weight", async () => {
  const answer = await requestPage(page, "gzip, deflate");
  expect(answer.headers.get("Content-Encoding")).toBe("gzip");
  expect(answer.headers.get("Vary")).toBe("Cookie, Accept-Encoding");
  expect(readWeight(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString())).toBeGreaterThan(100);
  // An encoding with q=0 is rejected, and a part of another name is no encoding.
  for (const refused of ["br;q=0", "gzip;q=0, br;q=0.0", "*;q=0", "brotli, x-gzip-2"])
    expect((await requestPage(page, refused)).headers.has("Content-Encoding"), refused).toBe(false);
  expect((await requestPage(page, "br;q=0, gzip")).headers.get("Content-Encoding")).toBe("gzip");
  const plain = await requestPage(page, null);
  expect(plain.headers.has("Content-Encoding")).toBe(false);
  expect(readWeight(await plain.text())).toBeGreaterThan(100);
});

test("an answer without a body stays as it is", async () => {
  const head = await requestPage("", "br");
  expect(head.headers.has("Content-Encoding")).toBe(false);
  expect(head.body).toBe(null);
});

test("A cached page is sent in one piece with each header once, and not again to a browser that has it.", async () => {
  const headers = { "content-type": "text/html", "cache-control": "no-cache", vary: "Cookie" };
  const stored = { headers, etag: "tag", bodies: await encodePage(Buffer.from(page)) };
  const server = createServer((request, response) => {
    sendCachedResponse(request, response, stored, ["X-Frame-Options", "DENY"]);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const ask = async (asked: IncomingHttpHeaders, method = "GET") => {
    const answer = await new Promise<import("node:http").IncomingMessage>((resolve) =>
      get({ port, host: "127.0.0.1", method, headers: asked, agent: false }, resolve),
    );
    const names = answer.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    return { status: answer.statusCode, headers: answer.headers, names: names.sort(), body: await text(answer) };
  };
  const plain = ["cache-control", "connection", "content-length", "content-type", "date", "etag", "vary"];
  const whole = await ask({});
  expect(whole.names).toEqual([...plain, "x-frame-options"]);
  expect(whole.headers).toMatchObject({ vary: "Accept-Encoding, Cookie", etag: '"tag"' });
  expect(whole.body).toBe(stored.bodies.identity?.toString());
  const zipped = await ask({ "accept-encoding": "gzip" });
  expect(zipped.headers).toMatchObject({ "content-encoding": "gzip", etag: '"tag-gzip"' });
  const known = await ask({ "accept-encoding": "br", "if-none-match": '"tag-br"' });
  expect(known.names).toEqual(["cache-control", "connection", "date", "etag", "vary", "x-frame-options"]);
  expect([known.status, known.body]).toEqual([304, ""]);
  expect((await ask({ "accept-encoding": "gzip", "if-none-match": '"tag-br"' })).status).toBe(200);
  const head = await ask({}, "HEAD");
  expect([head.headers["content-length"], head.body]).toEqual([whole.headers["content-length"], ""]);
});
