import { RouterContextProvider } from "react-router";
import { expect, test } from "vitest";
import { setBackendAccess } from "../http/env.server.ts";
import { readForm, readUpload } from "./form-data.server.ts";

setBackendAccess({ url: "http://127.0.0.1:1", publishableKey: "publishable", secretKey: "secret" }, "x".repeat(32));

function readMultipartText(...pieces: string[]): Promise<FormData> {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return readBody("multipart/form-data; boundary=x", body);
}

function readBody(type: string, body: ReadableStream | null): Promise<FormData> {
  const init = { method: "POST", headers: { "Content-Type": type }, body, duplex: "half" };
  return readForm(new Request("http://site.example/contact", init));
}

const textPart = '--x\r\nContent-Disposition: form-data; name="subject"\r\n\r\nTea\r\n';

test.each([
  ["arrives in one piece", [`${textPart}--x--\r\n`]],
  ["is divided before its last line break", [`${textPart}--x--`, "\r\n"]],
  ["is divided in its last boundary", [`${textPart}--x`, "--\r\n"]],
  ["has text after its last boundary", [`${textPart}--x--`, "\r\nsent by an", "\r\nold program"]],
])("The site reads all fields of a multipart form that %s.", async (_how, pieces) => {
  expect([...(await readMultipartText(...pieces))]).toEqual([["subject", "Tea"]]);
});

test("A multipart form without its last boundary gets status 400.", async () => {
  await expect(readMultipartText(textPart)).rejects.toMatchObject({ init: { status: 400 } });
});

test("The site ignores form fields whose name no form of the site can have.", async () => {
  for (const name of [
    "message[0]",
    "__intent__",
    "__proto__",
    "address.city",
    "",
    "-a",
    "a".repeat(65),
    "name\u0000",
  ]) {
    const { body } = new Response(`${encodeURIComponent(name)}=x&subject=Tea`);
    for (const form of [
      await readBody("application/x-www-form-urlencoded", body),
      await readMultipartText(textPart.replace("subject", name), `${textPart}--x--\r\n`),
    ])
      expect([...form], name).toEqual([["subject", "Tea"]]);
  }
});

test("A form without a Content-Length gets status 413 after 64 KiB, even if the form has no field.", async () => {
  let kibibytes = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (kibibytes === 200) return controller.close();
      kibibytes += 1;
      controller.enqueue(new TextEncoder().encode("&".repeat(1024)));
    },
  });
  await expect(readBody("application/x-www-form-urlencoded", body)).rejects.toMatchObject({ init: { status: 413 } });
  expect(kibibytes).toBeLessThan(70);
});

test.each([
  ["UTF-8", "facturé 发票.pdf", Buffer.from("facturé 发票.pdf")],
  ["Latin-1", "Müller facturé.pdf", Buffer.from("Müller facturé.pdf", "latin1")],
  ["GBK", "发票 5.pdf", Buffer.concat([Buffer.from("b7a2c6b1", "hex"), Buffer.from(" 5.pdf")])],
  ["an unknown encoding", "Ïîè.pdf", Buffer.from("cfeee82e706466", "hex")],
])("An uploaded file whose name is encoded in %s has the file name %j.", async (_encoding, name, bytes) => {
  const start = '--x\r\nContent-Disposition: form-data; name="file"; filename="';
  const body = Buffer.concat([Buffer.from(start), bytes, Buffer.from('"\r\n\r\ncontent\r\n--x--\r\n')]);
  const headers = { "Content-Type": "multipart/form-data; boundary=x" };
  const request = new Request("http://site.example/careers", { method: "POST", headers, body });
  const file = await readUpload(request, new RouterContextProvider(), "account", async (form) =>
    form instanceof FormData ? form.get("file") : null,
  );
  expect(file).toMatchObject({ name, size: 7 });
});
