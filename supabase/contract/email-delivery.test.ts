import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import PostalMime from "postal-mime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listen } from "../../tests/support/free-port.ts";
import { startSmtpServer } from "../../tests/support/smtp-server.ts";
import { createOutboxDelivery, createSmtpDelivery, type Email } from "./email-delivery.ts";

const exampleEmail: Email = {
  from: { name: "Mizigo (Clearing, Forwarding) <K> & [Sons]", address: "no-reply@mizigo.example" },
  to: "client@client.example",
  subject: "Confirm your email address",
  text: "Karibu",
};

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "outbox-"));
  folder = path.join(root, "outbox");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("An email app displays names, subject and text of an email in the outbox unchanged, in any script and of any length.", async () => {
  const name = 'شركة "مزيغو" للتخليص الجمركي';
  const subject = "أكّد عنوانك — 确认您的地址 🚢 ".repeat(6).trim();
  const text = `مرحبا، "كريم" & <أمينة>\n${"ndefu ".repeat(400)}`.trim();
  const from = { name, address: "no-reply@mizigo.example" };
  await createOutboxDelivery(folder)({ ...exampleEmail, from, subject, text });
  const [parsed, ...others] = await readOutbox();
  expect(others).toEqual([]);
  expect(parsed).toMatchObject({
    from,
    to: [{ address: exampleEmail.to }],
    subject,
    messageId: expect.stringMatching(/./),
  });
  expect(parsed?.html).toBeUndefined();
  expect(parsed?.text?.replaceAll("\r\n", "\n").trim()).toBe(text);
  expect(Date.parse(parsed?.date ?? "")).not.toBeNaN();
});

test.each([undefined, { "List-Unsubscribe": "<https://portal.example/unsubscribe>", "Auto-Submitted": "no" }])(
  "Every email has the header Auto-Submitted, which prevents automatic replies. The email's other headers are %j.",
  async (headers) => {
    await createOutboxDelivery(folder)({ ...exampleEmail, headers });
    const [parsed] = await readOutbox();
    const values = (key: string) => parsed?.headers.filter((header) => header.key === key).map(({ value }) => value);
    expect(values("auto-submitted")).toEqual(["auto-generated"]);
    expect(values("list-unsubscribe")).toEqual(headers ? [headers["List-Unsubscribe"]] : []);
  },
);

test("A hundred emails sent in parallel become a hundred complete files and no partial files.", async () => {
  const send = createOutboxDelivery(folder);
  const addresses = Array.from({ length: 100 }, (_, index) => `client-${index}@client.example`);
  await Promise.all(addresses.map((to) => send({ ...exampleEmail, to })));
  expect(readdirSync(folder).filter((name) => !name.endsWith(".eml"))).toEqual([]);
  expect((await listReceivers()).sort()).toEqual([...addresses].sort());
});

test("The outbox lists emails in the order in which they were sent.", async () => {
  const send = createOutboxDelivery(folder);
  const addresses = ["first@client.example", "second@client.example"];
  for (const to of addresses) {
    await send({ ...exampleEmail, to });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(await listReceivers()).toEqual(addresses);
});

test("Only the current user of the machine can read the outbox.", async () => {
  await createOutboxDelivery(folder)(exampleEmail);
  expect(statSync(folder).mode & 0o077).toBe(0);
  for (const name of readdirSync(folder)) expect(statSync(path.join(folder, name)).mode & 0o077).toBe(0);
});

test.each(["victim@client.example\r\nBcc: spy@client.example", "victim@client.example\r\n\r\n<h1>other text</h1>"])(
  "A recipient address such as %j cannot add a header or text to the email.",
  async (to) => {
    await createOutboxDelivery(folder)({ ...exampleEmail, to });
    const [parsed] = await readOutbox();
    expect(parsed?.bcc ?? []).toEqual([]);
    expect(parsed?.headers.map(({ key }) => key)).not.toContain("bcc");
    expect(parsed?.html).toBeUndefined();
    expect(parsed?.text?.trim()).toBe(exampleEmail.text);
  },
);

test("The delivery of an email throws if the outbox is not writable or the SMTP server is unreachable.", async () => {
  writeFileSync(folder, "");
  await expect(createOutboxDelivery(folder)(exampleEmail)).rejects.toThrow();
  await expect(createSmtpDelivery("smtp://127.0.0.1:1")(exampleEmail)).rejects.toThrow();
});

test.each<[string, (socket: Socket) => void]>([
  ["accepts the connection and does not greet", () => undefined],
  ["stops after its greeting", (socket) => socket.write("220 mail.test\r\n")],
  [
    "sends an endless reply slowly",
    (socket) => {
      socket.write("220 mail.test\r\n");
      setInterval(() => socket.write("250-mail.test\r\n"), 100).unref();
    },
  ],
])("The delivery of an email throws and closes the connection if the SMTP server %s.", async (_fault, respond) => {
  const server = createServer();
  const isClosed = new Promise<void>((resolve) => {
    server.on("connection", (socket) => {
      socket.on("error", () => undefined).on("close", () => resolve());
      socket.resume();
      respond(socket);
    });
  });
  const send = createSmtpDelivery(`smtp://user:p%40ss@127.0.0.1:${await listen(server)}`, { silence: 0.3, email: 0.6 });
  await expect(send(exampleEmail)).rejects.toThrow();
  await isClosed;
  server.close();
});

test("An SMTP server accepts an email whose sender has brackets and commas in the name.", async () => {
  const smtp = await startSmtpServer();
  await createSmtpDelivery(smtp.url)(exampleEmail);
  smtp.goAway();
  expect((await PostalMime.parse(smtp.emails[0] ?? "")).from).toEqual(exampleEmail.from);
});

const listReceivers = async () => (await readOutbox()).map(({ to }) => to?.[0]?.address);

function readOutbox() {
  const files = readdirSync(folder).filter((name) => name.endsWith(".eml"));
  return Promise.all(files.sort().map((name) => PostalMime.parse(readFileSync(path.join(folder, name)))));
}
