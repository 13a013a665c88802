import { expect, test } from "vitest";
import { adoptBackend } from "./env.server.ts";
import { readForm } from "./form.server.ts";

adoptBackend({ url: "http://127.0.0.1:1", publishableKey: "publishable", secretKey: "secret" }, "x".repeat(32));

/** The form of a body that arrives in these pieces. */
function formOf(...pieces: string[]): Promise<FormData> {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  return read("multipart/form-data; boundary=x", body);
}

function read(type: string, body: ReadableStream | null): Promise<FormData> {
  const init = { method: "POST", headers: { "Content-Type": type }, body, duplex: "half" };
  return readForm(new Request("http://site.example/contact", init));
}

const part = '--x\r\nContent-Disposition: form-data; name="subject"\r\n\r\nTea\r\n';

test.each([
  ["in one piece", [`${part}--x--\r\n`]],
  ["cut before its last line break", [`${part}--x--`, "\r\n"]],
  ["cut in its last boundary", [`${part}--x`, "--\r\n"]],
  ["with words behind its end", [`${part}--x--`, "\r\nsent by a program", "\r\nof long ago"]],
])("a form that arrives %s is whole", async (_how, pieces) => {
  expect([...(await formOf(...pieces))]).toEqual([["subject", "Tea"]]);
});

test("a form without its last boundary is refused", async () => {
  await expect(formOf(part)).rejects.toMatchObject({ init: { status: 400 } });
});

test.each(["message[0]", "__intent__", "__proto__", "address.city", "", "-a", "1a", "a".repeat(65), "name\u0000"])(
  "a field named %j, which no form of ours has, is left out",
  async (name) => {
    const { body } = new Response(`${encodeURIComponent(name)}=x&subject=Tea`);
    expect([...(await read("application/x-www-form-urlencoded", body))]).toEqual([["subject", "Tea"]]);
    expect([...(await formOf(part.replace("subject", name), `${part}--x--\r\n`))]).toEqual([["subject", "Tea"]]);
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
  await expect(read("application/x-www-form-urlencoded", body)).rejects.toMatchObject({ init: { status: 413 } });
  expect(kibibytes).toBeLessThan(70);
});
