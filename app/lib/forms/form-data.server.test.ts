import { expect, test } from "vitest";
import { setBackendAccess } from "../http/env.server.ts";
import { readForm } from "./form-data.server.ts";

setBackendAccess({ url: "http://127.0.0.1:1", publishableKey: "publishable", secretKey: "secret" }, "x".repeat(32));

/** The form of a body that arrives in these pieces. */
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
  ["cut before its last line break", [`${textPart}--x--`, "\r\n"]],
  ["cut in its last boundary", [`${textPart}--x`, "--\r\n"]],
  ["with words behind its end", [`${textPart}--x--`, "\r\nsent by a program", "\r\nof long ago"]],
])("a form that arrives %s is whole", async (_how, pieces) => {
  expect([...(await readMultipartText(...pieces))]).toEqual([["subject", "Tea"]]);
});

test("A form without its last boundary is rejected.", async () => {
  await expect(readMultipartText(textPart)).rejects.toMatchObject({ init: { status: 400 } });
});

test.each(["message[0]", "__intent__", "__proto__", "address.city", "", "-a", "1a", "a".repeat(65), "name\u0000"])(
  "a field named %j, which no form of ours has, is left out",
  async (name) => {
    const { body } = new Response(`${encodeURIComponent(name)}=x&subject=Tea`);
    expect([...(await readBody("application/x-www-form-urlencoded", body))]).toEqual([["subject", "Tea"]]);
    expect([...(await readMultipartText(textPart.replace("subject", name), `${textPart}--x--\r\n`))]).toEqual([
      ["subject", "Tea"],
    ]);
  },
);

test("text that comes without a length is read up to 64 KiB and no further, though no field is in it", async () => {
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
