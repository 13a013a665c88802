import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import {
  createPdf,
  getTestApp,
  noStorePattern,
  origin,
  parsePage,
  password,
  startTestSite,
} from "../support/test-app.ts";

const KiB = 1024;

await getTestApp();
const site = await startTestSite();
const client = site.browser();
const email = await client.signUpAndLogIn("Requester");
afterAll(() => site.close());

const createTextForm = (size: number) => ({ email, password: "p", more: "m".repeat(size) });
function createForm(fields: [string, string | File][]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}

test.each(["/login", "/signup", "/auth/confirm", "/portal/new", "/actions/theme"])(
  "The form %s accepts 64 KiB, and rejects one more byte and a file of 11 MiB with status 413.",
  async (path) => {
    const frame = new URLSearchParams(createTextForm(0)).toString().length;
    expect([303, 400]).toContain((await client.post(path, createTextForm(64 * KiB - frame))).status);
    const larger = await client.post(path, createTextForm(64 * KiB - frame + 1));
    expect(larger.status).toBe(413);
    expect(larger.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    const file = createPdf("large.pdf", 11 * KiB * KiB);
    expect((await client.post(path, createForm([["email", file]]))).status).toBe(413);
  },
);

test("A form that is too large gets an error page with status 413.", async () => {
  const page = await parsePage(await client.post("/signup", createTextForm(70_000)));
  expect([page.status, page.h1]).toEqual([413, "File or text too large"]);
});

test("A connection on which a form was too large can be used again.", async () => {
  const form = createForm([["file", createPdf("large.pdf", 11 * KiB * KiB)]]);
  const large = new Request(new URL("/login", origin), { method: "POST", body: form });
  const body = new Uint8Array(await large.arrayBuffer());
  const type = large.headers.get("Content-Type");
  const socket = connect(site.port, "127.0.0.1");
  socket.write(`POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`);
  socket.write(body);
  socket.write("GET /signup HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const responses = (await buffer(socket)).toString("latin1");
  expect(responses.match(/^HTTP\/1\.1 \d+/gm)).toEqual(["HTTP/1.1 413", "HTTP/1.1 200"]);
});

test("A form with more than a hundred fields or with a thousand parts is rejected.", async () => {
  const fields = new URLSearchParams({ email, password });
  for (let index = 0; index < 98; index += 1) fields.append(`field${index}`, "x");
  expect((await site.browser().post("/login", fields)).status).toBe(303);
  fields.append("one-more", "x");
  expect((await site.browser().post("/login", fields)).status).toBe(400);

  const form = createForm(Object.entries({ email, password }));
  expect((await site.browser().post("/login", form)).status).toBe(303);
  for (let index = 0; index < 1000; index += 1) form.append(`field${index}`, "x");
  expect((await site.browser().post("/login", form)).status).toBe(400);
});

test.each([
  ["/signup", "fullName", 100],
  ["/signup", "unknown", 100],
  ["/contact", "message", 2000],
  ["/actions/quote", "phone", 32],
  ["/portal/new", "awb", 64],
  ["/portal/account", "fullName", 100],
])("The response of %s to 60,000 characters in %s repeats at most %i.", async (path, field, max) => {
  const form = { intent: "name", form: "name", [field]: "q".repeat(60_000) };
  const page = await parsePage(await client.post(path, form));
  expect(page.status).toBe(400);
  expect(page.html).not.toContain("q".repeat(max + 1));
  if (field !== "unknown") expect(page.html).toContain("q".repeat(max));
});

test("The response to a rejected form repeats at most 100 characters of the name of the form.", async () => {
  const page = await parsePage(await client.post("/portal/account", { intent: "name", form: "q".repeat(60_000) }));
  expect(page.status).toBe(400);
  expect(page.html).not.toContain("q".repeat(101));
});

const formPaths = ["/?index", "/contact", "/careers", "/actions/quote", "/login", "/signup", "/cookie-settings"];

test.each(formPaths)("The form %s rejects a field that is sent twice, in both encodings.", async (path) => {
  const fields: [string, string][] = [...Object.entries({ email, password, name: "A", more: "a" }), ["more", "b"]];
  for (const form of [new URLSearchParams(fields), createForm(fields)]) {
    const page = await parsePage(await client.post(path, form));
    expect(page.status).toBe(400);
    expect(page.text).toContain("One field of the form was sent twice.");
  }
});

test.each(formPaths)(
  "The form %s accepts 64 KiB of text in several parts, and does not repeat a longer text in its response.",
  async (path) => {
    const sendParts = (letters: number) =>
      client.post(path, createForm([1, 2, 3].map((part) => [`message${part}`, "m".repeat(letters)])));
    expect((await sendParts(21_000)).status).not.toBe(413);
    for (const letters of [22_000, 1_000_000]) {
      const larger = await sendParts(letters);
      expect(larger.status).toBe(413);
      expect(await larger.text()).not.toContain("mmm");
    }
  },
);

test.each(formPaths.filter((path) => path !== "/careers"))("The form %s rejects a file.", async (path) => {
  const page = await parsePage(await client.post(path, createForm([["email", createPdf("small.pdf", 100)]])));
  expect(page.status).toBe(400);
  expect(page.text).toContain("This form accepts only text.");
});

const createPart = (name: string, value: string) =>
  `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const longBoundary = "x".repeat(71);
test.each([
  ["a part that is no text", "x", `--x\r\n${createPart("name", "\xff\xfe")}--x--\r\n`],
  ["a part with 3 KB of headers", "x", `--x\r\nX: ${"y".repeat(3000)}\r\n${createPart("name", "a")}--x--\r\n`],
  [
    "a boundary of 71 characters",
    longBoundary,
    `--${longBoundary}\r\n${createPart("name", "a")}--${longBoundary}--\r\n`,
  ],
])("A form with %s is rejected as damaged.", async (_what, boundary, body) => {
  const headers = { Origin: origin, "Content-Type": `multipart/form-data; boundary=${boundary}` };
  for (const path of ["/careers", "/contact"]) {
    const request = { method: "POST", body: Buffer.from(body, "latin1"), headers };
    const page = await parsePage(await client.send(new Request(new URL(path, origin), request)));
    expect(page.status).toBe(400);
    expect(page.text).toContain("We received only part of the form.");
  }
});

test("A form that arrives in chunks of one byte is rejected before its end.", async () => {
  const socket = connect(site.port, "127.0.0.1").on("error", () => undefined);
  const head = "Transfer-Encoding: chunked\r\nContent-Type: application/x-www-form-urlencoded";
  socket.write(`POST /contact HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${"1\r\na\r\n".repeat(3000)}`);
  expect((await buffer(socket)).toString("latin1")).toMatch(/^HTTP\/1\.1 400 /);
});
