import { expect, test } from "vitest";
import { setBackendAccess } from "../http/env.server.ts";
import { readForm } from "./form-data.server.ts";

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
  ["in one piece", [`${textPart}--x--\r\n`]],
  ["divided before its last line break", [`${textPart}--x--`, "\r\n"]],
  ["divided in its last boundary", [`${textPart}--x`, "--\r\n"]],
  ["with text after its end", [`${textPart}--x--`, "\r\nsent by an", "\r\nold program"]],
])("A form that arrives %s is read completely.", async (_how, pieces) => {
  expect([...(await readMultipartText(...pieces))]).toEqual([["subject", "Tea"]]);
});

test("A form without its last boundary gets status 400.", async () => {
  await expect(readMultipartText(textPart)).rejects.toMatchObject({ init: { status: 400 } });
});

test.each(["message[0]", "__intent__", "__proto__", "address.city", "", "-a", "1a", "a".repeat(65), "name\u0000"])(
  "A field named %j, a name that no form has, is ignored.",
  async (name) => {
    const { body } = new Response(`${encodeURIComponent(name)}=x&subject=Tea`);
    expect([...(await readBody("application/x-www-form-urlencoded", body))]).toEqual([["subject", "Tea"]]);
    expect([...(await readMultipartText(textPart.replace("subject", name), `${textPart}--x--\r\n`))]).toEqual([
      ["subject", "Tea"],
    ]);
  },
);

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
