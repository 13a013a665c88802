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
  const headers = { "Content-Type": "multipart/form-data; boundary=x" };
  return readForm(
    new Request("http://site.example/contact", { method: "POST", headers, body, duplex: "half" } as object),
  );
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
