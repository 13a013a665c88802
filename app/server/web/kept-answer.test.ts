import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { encode, encoded } from "./kept-answer.ts";

const consignments = (count: number) =>
  Array.from({ length: count }, (_, index) => `<li>Consignment ${(index * 7919) % 1000}</li>`).join("");
const files = 100 * 1024;
const page = `<ul>${consignments(3000)}</ul><b data-weight="${files}"></b><ul>${consignments(300)}</ul>`;
const html = (body: string | null) => new Response(body, { headers: { "Content-Type": "text/html", Vary: "Cookie" } });
const weightOf = (text: string) => Number(/<b data-weight="\d+">(\d+)<\/b>/.exec(text)?.[1]);
const kilobytes = (bytes: number) => Math.ceil((bytes + files) / 1024);

test("each encoding of a kept page says in the page what that encoding and the page's files weigh", async () => {
  const { identity, br, gzip } = await encode(Buffer.from(page));
  if (!identity || !br || !gzip) throw new Error("an encoding is missing");
  expect(weightOf(identity.toString())).toBe(kilobytes(identity.length));
  for (const [text, bytes] of [
    [brotliDecompressSync(br).toString(), br.length],
    [gunzipSync(gzip).toString(), gzip.length],
  ] as const) {
    // What comes after the place is estimated, so it may be one off.
    expect(Math.abs(weightOf(text) - kilobytes(bytes))).toBeLessThanOrEqual(1);
    expect(text.replace(/>\d+<\/b>/, "></b>")).toBe(page);
  }
});

test("what has no place for a weight is kept byte for byte", async () => {
  const bytes = Buffer.from([0xff, 0xfe, ...Buffer.from("x".repeat(2000))]);
  const { identity, br, gzip } = await encode(bytes);
  expect(identity).toEqual(bytes);
  expect(br && brotliDecompressSync(br)).toEqual(bytes);
  expect(gzip && gunzipSync(gzip)).toEqual(bytes);
});

test("a page for one request comes in the encoding its browser takes, with its weight", async () => {
  const answer = await encoded(html(page), "gzip, deflate");
  expect(answer.headers.get("Content-Encoding")).toBe("gzip");
  expect(answer.headers.get("Vary")).toBe("Cookie, Accept-Encoding");
  expect(weightOf(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString())).toBeGreaterThan(100);
  const plain = await encoded(html(page), null);
  expect(plain.headers.has("Content-Encoding")).toBe(false);
  expect(weightOf(await plain.text())).toBeGreaterThan(100);
});

test("an answer that is no page, or has no body, stays as it is", async () => {
  const file = new Response("a file", { headers: { "Content-Type": "text/plain" } });
  expect(await encoded(file, "br")).toBe(file);
  const head = await encoded(html(null), "br");
  expect(head.headers.has("Content-Encoding")).toBe(false);
  expect(head.body).toBe(null);
});
