import { readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SiteProcess } from "../support/site-process.ts";
import { createSiteSandbox } from "../support/site-sandbox.ts";
import { origin, parsePage } from "../support/test-app.ts";

let sandbox: Awaited<ReturnType<typeof createSiteSandbox>>;
let site: SiteProcess;
beforeAll(async () => {
  const deadlines = { HEADER_SECONDS: "2", SILENCE_SECONDS: "4", SLOWEST_UPLOAD_SECONDS: "6" };
  sandbox = await createSiteSandbox({ ...deadlines, TRUSTED_PROXIES: "" });
  site = sandbox.start();
  await site.waitUntilReady();
});
afterAll(() => sandbox.leave());

/** Headers that every response of the site must have, even if the HTTP server itself responds. */
const securityHeaderLines = [
  "x-content-type-options: nosniff",
  "x-frame-options: deny",
  "referrer-policy: strict-origin-when-cross-origin",
  "cross-origin-opener-policy: same-origin",
  "cross-origin-resource-policy: same-origin",
  "permissions-policy: ",
];
const internalTexts = ["node_modules", "at async", "/app/", "TypeError:", "x-powered-by", "\nserver:", process.cwd()];

/**
 * Returns the status of each response in `text`. Checks that responses have security headers and no internal details.
 */
function readStatuses(text: string): number[] {
  const responses = text.split(/(?=^HTTP\/1\.1 \d{3})/m).filter((part) => part.startsWith("HTTP/1.1"));
  for (const response of responses) {
    const head = response.slice(0, response.indexOf("\r\n\r\n")).toLowerCase();
    for (const header of securityHeaderLines) expect(head, head).toContain(header);
  }
  const visible = text.replace(/<script[^>]*>.*?<\/script>/gs, "").toLowerCase();
  expect(internalTexts.filter((internal) => visible.includes(internal.toLowerCase()))).toEqual([]);
  return responses.map((response) => Number(response.slice(9, 12)));
}

function openConnection() {
  const received = { text: "" };
  const socket = sandbox.socket().on("error", () => undefined);
  socket.on("data", (chunk) => {
    received.text += String(chunk);
  });
  return { socket, received };
}

const closeHeaders = "Host: x\r\nConnection: close\r\n";
const get = (target: string, more = "") => `GET ${target} HTTP/1.1\r\n${closeHeaders}${more}\r\n`;
const post = (headers: string, body = "") => `POST /login HTTP/1.1\r\n${closeHeaders}${headers}\r\n${body}`;
const createFormRequest = (body: string, more = "", type = "application/x-www-form-urlencoded") =>
  `POST /login HTTP/1.1\r\n${closeHeaders}Origin: ${origin}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`;

const chunkedFormHeaders = `Origin: ${origin}\r\nContent-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n`;

const foreignOrigin = "Origin: https://evil.example\r\n";
const foreignForm = createFormRequest("email=a", foreignOrigin).replace(`Origin: ${origin}\r\n`, "");

describe("Requests over a TCP connection", () => {
  test.each<[string, string, number]>([
    ["no HTTP request", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
    ["a request without a host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400],
    ["two hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400],
    ["an unknown method", `FOO / HTTP/1.1\r\n${closeHeaders}\r\n`, 400],
    ["TRACE", `TRACE / HTTP/1.1\r\n${closeHeaders}Cookie: session=x\r\n\r\n`, 405],
    ["CONNECT", `CONNECT evil.example:443 HTTP/1.1\r\n${closeHeaders}\r\n`, 405],
    ["OPTIONS for everything", `OPTIONS * HTTP/1.1\r\n${closeHeaders}\r\n`, 400],
    ["OPTIONS for a page", `OPTIONS /login HTTP/1.1\r\n${closeHeaders}\r\n`, 405],
    ["PUT", `PUT /login HTTP/1.1\r\n${closeHeaders}Content-Length: 0\r\n\r\n`, 405],
    ["the first line of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    ["HTTP/1.0", "GET /login HTTP/1.0\r\n\r\n", 200],
    ["an upgrade to HTTP/2", `GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n`, 200],
    ["an unknown expectation", post("Expect: nonsense\r\nContent-Length: 0\r\n"), 417],
    ["headers of 20 KB", get("/", `X-Long: ${"a".repeat(20_000)}\r\n`), 431],
    ["a path of 20 KB", get(`/${"a".repeat(20_000)}`), 431],
    ["a line break in a header", get("/", "X: a\rb\r\n"), 400],
    ["a header without a name", get("/", ": a\r\n"), 400],
    ["two lengths", post("Content-Length: 1\r\nContent-Length: 2\r\n", "ab"), 400],
    ["a length and chunks", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400],
    ["a negative length", post("Content-Length: -1\r\n"), 400],
    ["an unknown encoding", post("Transfer-Encoding: nonsense\r\n"), 400],
    ["invalid chunks", post(chunkedFormHeaders, "zz\r\n"), 400],
    ["another site's address", get("http://evil.example/login"), 200],
    ["an address of a file", get("file:///etc/passwd"), 400],
    ["a path that looks like another site", get("//evil.example/x"), 404],
    ["a path out of the folder", get("/../../../etc/passwd"), 404],
    ["an encoded path out of the folder", get("/..%2f..%2f..%2fetc%2fpasswd"), 404],
    ["a path with backslashes", get("/..\\..\\keys.json"), 404],
    ["a hidden file", get("/.git/config"), 404],
    ["a zero byte", get("/%00"), 404],
    ["an invalid escape", get("/%E0%A4%A"), 404],
    ["a form in UTF-16", createFormRequest("\x00e\x00=", "", "application/x-www-form-urlencoded; charset=utf-16"), 400],
    ["a compressed form", createFormRequest("\x1f\x8b\x08", "Content-Encoding: gzip\r\n"), 400],
    ["a form from another site", foreignForm, 403],
  ])("A request with %s gets status %j and a response without internal details.", async (_what, bytes, status) => {
    expect(readStatuses(await sandbox.raw(Buffer.from(bytes, "latin1")))).toEqual([status]);
  });

  test("A browser with too many cookies gets a page that explains how to delete the site's cookies.", async () => {
    const response = await sandbox.raw(get("/", `Cookie: a=${"a".repeat(20_000)}\r\n`));
    expect(readStatuses(response)).toEqual([431]);
    expect(response).toMatch(/Content-Type: text\/html; charset=utf-8\r\n/);
    expect(response).toContain("Delete the cookies of this site in your browser's settings.");
    const [, body = ""] = response.split("\r\n\r\n");
    expect(response).toContain(`Content-Length: ${body.length}\r\n`);
  });

  test("The server reads bytes after the Content-Length of a request as the next request.", async () => {
    const first = createFormRequest("email=a", "", "text/plain").replace("Connection: close\r\n", "");
    expect(readStatuses(await sandbox.raw(first, get("/signup")))).toEqual([415, 200]);
  });
});

describe.concurrent("Slow connections", () => {
  test("A request with incomplete headers gets status 408.", async () => {
    expect(readStatuses(await sandbox.raw("GET / HTTP/1.1\r\nHost: x\r\n"))).toEqual([408]);
  });

  test("The server closes a connection that sends its request body byte by byte.", async () => {
    const { socket, received } = openConnection();
    socket.write(createFormRequest("email=a").replace(/Content-Length: \d+/, "Content-Length: 1000"));
    while (!socket.destroyed && socket.writable) {
      socket.write("a");
      await setTimeout(500);
    }
    if (received.text) expect(readStatuses(received.text)).toEqual([408]);
  });

  test("The server closes a connection if the browser sends nothing or does not read the responses.", async () => {
    const silent = sandbox.socket().on("error", () => undefined);
    const unread = sandbox.socket().on("error", () => undefined);
    unread.pause();
    for (let count = 0; count < 200; count += 1) unread.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    for (const socket of [silent, unread]) await new Promise((resolve) => socket.resume().once("close", resolve));
  });

  test("Fifty connections with incomplete request bodies do not delay the responses to other visitors.", async () => {
    const slow = Array.from({ length: 50 }, () => {
      const { socket } = openConnection();
      socket.write("POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\na");
      return socket;
    });
    // Opens a new connection, because the server might close a reused connection with status 408 at this moment.
    const visitor = openConnection();
    visitor.socket.write(get("/login"));
    await new Promise((resolve) => visitor.socket.resume().once("close", resolve));
    expect(visitor.received.text.slice(0, 12)).toBe("HTTP/1.1 200");
    for (const socket of slow) socket.destroy();
  });
});

test("An upload of 300 MB gets status 413, and the site needs less than 50 MB of memory for it.", async () => {
  const readPeakMemory = () =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${site.child.pid}/status`, "utf8"))?.[1]) / 1024;
  const before = readPeakMemory();
  const { socket, received } = openConnection();
  socket.write(`POST /careers HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\nContent-Length: 300000000\r\n`);
  socket.write(
    'Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\nContent-Disposition: form-data; name="cv"; filename="a.pdf"\r\n\r\n',
  );
  const chunk = Buffer.alloc(1_000_000, "a");
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  for (let sent = 0; sent < 300 && !socket.destroyed; sent += 1) {
    const isFull = !socket.write(chunk);
    if (isFull) await Promise.race([closed, new Promise<void>((resolve) => socket.once("drain", resolve))]);
  }
  socket.destroy();
  expect(received.text.slice(0, 12)).toBe("HTTP/1.1 413");
  expect(readPeakMemory() - before).toBeLessThan(50);
});

test("A visitor who forges headers with IP addresses is blocked after twenty failed logins.", async () => {
  const names = ["X-Forwarded-For", "X-Real-IP", "X-Client-Address", "Forwarded", "CF-Connecting-IP", "True-Client-IP"];
  const statuses = [];
  for (let attempt = 0; attempt < 21; attempt += 1) {
    const headers = Object.fromEntries(names.map((name) => [name, `198.51.100.${attempt}`]));
    const email = `nobody-${attempt}@client.example`;
    statuses.push((await sandbox.browser().post("/login", { email, password: "not it" }, headers)).status);
  }
  expect(statuses).toEqual([...Array(20).fill(400), 429]);
});

test("A visitor cannot forge the request id and the IP address in the log.", async () => {
  const headers = { "X-Request-Id": "forged", "X-Client-Address": "192.0.2.99" };
  const response = await sandbox.browser().get("/login", headers);
  const id = response.headers.get("X-Request-Id") ?? "";
  expect(id).toMatch(/^[0-9a-f]{12}$/);
  await expect
    .poll(() => site.jsonLines.find((line) => line.requestId === id))
    .toMatchObject({ event: "request", address: "127.0.0.1", method: "GET", route: "/login", status: 200 });
  expect(site.output).not.toContain("forged");
});

test("The error response for a form at a URL without a page is HTML, not JSON.", async () => {
  const browser = sandbox.browser();
  const headers = { Origin: origin };
  const formOnly = ["theme", "lite", "forgot-password", "industries"].map((name) => `/actions/${name}`);
  for (const path of [...formOnly, "/portal/sign-out"]) {
    const responses = [
      await browser.post(path, {}, { Origin: "https://evil.example" }),
      await browser.send(new Request(new URL(path, origin), { method: "PUT", headers })),
      await browser.send(new Request(new URL(path, origin), { method: "POST", body: "{}", headers })),
    ];
    expect([path, ...responses.map(({ status }) => status)]).toEqual([path, 403, 405, 415]);
    for (const response of responses) {
      const page = await parsePage(response);
      expect(page.headers.get("Content-Type"), path).toContain("text/html");
      expect(page.h1, path).not.toBe("");
    }
  }
});

test("The site still runs and responds after all hostile requests.", async () => {
  expect(site.hasEnded).toBe(false);
  expect((await sandbox.browser().get("/login")).status).toBe(200);
  expect(site.jsonLines.filter(({ event }) => event === "response failed")).toEqual([]);
});
