import process from "node:process";
import type { Email } from "postal-mime";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { env } from "../../app/lib/http/env.server.ts";
import { createUnsubscribeUrl, sendDueShipmentEmails } from "../../app/models/email-delivery.server.ts";
import { readStages } from "../../app/server/cli/content.ts";
import { readEmailsTo } from "../support/outbox.ts";
import {
  allDocuments,
  emailSender,
  getDocument,
  getLatestEmailTo,
  type LoggedInClient,
  newClient,
  newShipment,
} from "../support/route-fixtures.ts";
import { runSenderProcess } from "../support/shipment-email-sender.ts";
import { disableNagle, startSmtpServer } from "../support/smtp-server.ts";
import { getTestApp, origin } from "../support/test-app.ts";

const app = await getTestApp();
const { sql } = app;
const client = await newClient(app, "Informed Client");

async function callRpc(name: string, args: object): Promise<void> {
  const { error } = await app.company.rpc(name as "send_note", args as never);
  if (error) throw error;
}

const listEmails = () => readEmailsTo(process.env.DATA_DIR ?? "", client.email);

/** Makes the queued updates of a shipment due and sends them as one email. Returns this email. */
async function sendQueued(shipment: string): Promise<Email & { text: string }> {
  await sql`update email_outbox set due_at = now() where shipment_id = ${shipment}`;
  const before = (await listEmails()).length;
  expect(await sendDueShipmentEmails(app.company, emailSender, readStages())).toBe(1);
  const emails = await listEmails();
  expect(emails).toHaveLength(before + 1);
  const email = emails.at(-1);
  return { ...email, text: email?.text ?? "" } as Email & { text: string };
}

const correctStage = (shipment_id: string, stage = 4) =>
  callRpc("correct_stage", { shipment_id, stage, reason: "It is there" });

describe("content", () => {
  test("An email about a move has the stage, who the shipment waits for, and links to the page and to unsubscribe.", async () => {
    const { id } = await newShipment(app, client, "Pumps for Juba");
    await correctStage(id);
    const email = await sendQueued(id);
    expect(email.subject).toBe("Pumps for Juba: Customs Declaration (4 of 10)");
    expect([email.from?.name, email.from?.address]).toEqual([emailSender.name, emailSender.email]);
    expect(email.to).toEqual([expect.objectContaining({ address: client.email })]);
    expect([email.html, email.attachments]).toEqual([undefined, []]);
    const links = [
      `${origin}/additional-info#identity-check`,
      createUnsubscribeUrl(client.id),
      `${origin}/portal/${id}`,
    ];
    const lines = email.text.trimEnd().split("\n");
    expect(lines).toEqual([
      ...[`Hello ${client.name},`, "", "The shipment “Pumps for Juba” moved to Customs Declaration (4 of 10)."],
      ...[`Shipment number: ${id.slice(0, 8)}, AWB/BL: N/A`, ""],
      ...[expect.stringMatching(/^Your next step: upload the .*Packing List/), "", `See the shipment: ${links[2]}`, ""],
      ...[emailSender.name, emailSender.phone],
      `We never send bank details by email. Check that this email is from us: ${links[0]}`,
      `Unsubscribe from shipment emails: ${links[1]}`,
    ]);
    expect(email.text.match(/https?:\S+/g)?.sort()).toEqual(links.sort());
    const listHeaders = (key: string) => email.headers.filter((header) => header.key === key).map(({ value }) => value);
    expect(listHeaders("list-unsubscribe")).toEqual([`<${createUnsubscribeUrl(client.id)}>`]);
    expect(listHeaders("auto-submitted")).toEqual(["auto-generated"]);
    expect(listHeaders("list-unsubscribe-post")).toEqual(["List-Unsubscribe=One-Click"]);
  });

  test("An email about a rejected document names the document and the reason, but no file.", async () => {
    const { id } = await newShipment(app, client, "Pumps for Juba", ["Bill of Lading"]);
    const reason = "The second page is missing — “page 2 of 3”";
    const { id: document_id } = await getDocument(app.company, id, "Bill of Lading");
    await callRpc("reject_document", { document_id, reason });
    const { subject, text } = await sendQueued(id);
    expect(subject).toBe("Pumps for Juba: New file needed: Bill of Lading");
    expect(text).toContain(
      `We need a new file for the Bill of Lading of the shipment “Pumps for Juba”. Reason: ${reason}.`,
    );
    expect(text).toMatch(/^Your next step: .*Bill of Lading/m);
    expect(text).not.toContain(".pdf");
  });

  test("One email has all queued updates of a shipment, without amounts, due days and notes on charges.", async () => {
    const { id: shipment_id } = await newShipment(app, client, "Charged goods");
    const charge = { amount: 987654.32, currency: "USD", due_on: "2031-07-29", note: "Account 77001122" };
    await callRpc("send_note", { shipment_id, note: "The vessel is late" });
    await correctStage(shipment_id);
    await callRpc("set_charge", { shipment_id, item: "duties", ...charge });
    const { subject, text } = await sendQueued(shipment_id);
    expect(subject).toBe("Charged goods: Payment due: Duties & Taxes");
    expect(text).toMatch(
      /payment is due .*: Duties & Taxes[\s\S]*moved to Customs Declaration[\s\S]*“The vessel is late”/,
    );
    expect(text).toMatch(/^Your next step: .*Pay the Duties & Taxes\.$/m);
    const all = `${subject} ${text}`.replace(createUnsubscribeUrl(client.id), "");
    for (const secret of ["987", "654.32", "USD", "2031", "29 July", "77001122"]) expect(all).not.toContain(secret);
  });

  test("An email about a move has the notes of its own moves and of no earlier move.", async () => {
    const { id: shipment_id } = await newShipment(app, client, "Moved with words", allDocuments);
    const getNotes = ({ text }: { text: string }) => /^Our note: (.*)$/m.exec(text)?.[1];
    const injected = "It is on board.\nBcc: spy@evil.example\n\nThe company";
    await callRpc("move_shipment", { shipment_id, note: injected });
    const first = await sendQueued(shipment_id);
    expect(first.subject).toBe("Moved with words: Document Verification (2 of 10)");
    expect(getNotes(first)).toBe("“It is on board. Bcc: spy@evil.example The company”");
    expect([first.bcc, first.to?.length]).toEqual([undefined, 1]);

    await callRpc("move_shipment", { shipment_id });
    expect(getNotes(await sendQueued(shipment_id))).toBeUndefined();
    await callRpc("send_note", { shipment_id, note: "x".repeat(1000) });
    expect(getNotes(await sendQueued(shipment_id))).toBe(`“${"x".repeat(499)}…”`);

    await callRpc("move_shipment", { shipment_id, note: "First" });
    await callRpc("move_shipment", { shipment_id });
    await callRpc("send_note", { shipment_id, note: "Second" });
    const last = await sendQueued(shipment_id);
    expect([last.subject, getNotes(last)]).toEqual([
      "Moved with words: Payment Clearance (5 of 10)",
      "“First” “Second”",
    ]);
  });

  test("An email about a shipment that was moved back says so, and names who acts next.", async () => {
    const { id } = await newShipment(app, client, "Moved back", allDocuments);
    await correctStage(id, 4);
    await sendQueued(id);
    await correctStage(id, 2);
    const { subject, text } = await sendQueued(id);
    expect(subject).toBe("Moved back: Moved back to Document Verification (2 of 10)");
    expect(text).toContain("The shipment “Moved back” moved back to Document Verification (2 of 10).");
    expect(text).toMatch(/^Next: within one working day, we check .*\. You do not need to do anything\.$/m);
  });

  test("An email to a client without a name starts with Hello.", async () => {
    const nameless = await newClient(app, "Nameless Client");
    await sql`update auth.users set raw_user_meta_data = raw_user_meta_data - 'full_name' where id = ${nameless.id}`;
    const { id } = await newShipment(app, nameless, "Tea");
    await correctStage(id);
    await sql`update email_outbox set due_at = now() where shipment_id = ${id}`;
    expect(await sendDueShipmentEmails(app.company, emailSender, readStages())).toBe(1);
    expect((await getLatestEmailTo(nameless.email)).text).toMatch(/^Hello,\n\nThe shipment “Tea” moved/);
  });

  test("An email about free storage names its last day.", async () => {
    const { id } = await newShipment(app, client, "Stored goods");
    const [row] = await sql`
      update shipments set storage_location = 'mombasa', arrived_on = '2026-05-10', container_size = 20,
        free_storage_ends_on = (now() at time zone 'Africa/Nairobi')::date + 2
      where id = ${id} returning to_char(free_storage_ends_on, 'FMDD FMMonth YYYY') as day`;
    expect(await sendDueShipmentEmails(app.company, emailSender, readStages())).toBe(0);
    const { subject, text } = await sendQueued(id);
    expect(subject).toBe(`Stored goods: Free storage ends on ${row?.day}`);
    expect(text).toContain(`Free storage for the shipment “Stored goods” ends on ${row?.day}.`);
  });

  test.each([
    `Pompes à eau “Niño” für Müller, 給水ポンプ 🚢`,
    `He said "now", 'then' <b>; (or=?utf-8?Q?not?=) \\ @all`,
    `${"Ä".repeat(119)}!`,
    `${"long words ".repeat(10)}end`,
  ])("An email has the shipment's name in the client's spelling: %s", async (name) => {
    const { id } = await newShipment(app, client, name);
    await correctStage(id);
    const email = await sendQueued(id);
    expect(email.subject).toBe(`${name}: Customs Declaration (4 of 10)`);
    expect(email.text.split("\n")[2]?.trim()).toBe(`The shipment “${name}” moved to Customs Declaration (4 of 10).`);
    expect([email.to?.length, email.cc, email.bcc]).toEqual([1, undefined, undefined]);
  });
});

describe("delivery by SMTP", () => {
  let server: Awaited<ReturnType<typeof startSmtpServer>>;
  let receiver: LoggedInClient;
  beforeAll(async () => {
    disableNagle();
    receiver = await newClient(app, "Receiving Client");
  });
  afterEach(async () => {
    server.goAway();
    delete process.env.SMTP_URL;
    await sql`delete from email_outbox where account_id = ${receiver.id}`;
  });

  /** Queues due updates of new, numbered shipments. Triggers are off, because they would queue other updates. */
  async function queueUpdates(name: string, count: number, updatesEach = 1): Promise<void> {
    await sql.begin(async (session) => {
      await session`set local session_replication_role = replica`;
      await session`
        with inserted as (
          insert into shipments (user_id, name, retention_ends_on)
          select ${receiver.id}, ${name} || ' ' || number, current_date from generate_series(1, ${count}::integer) as number
          returning id
        )
        insert into email_outbox (account_id, shipment_id, kind, detail, due_at)
        select ${receiver.id}, id, 'note', 'note', now() - interval '1 minute'
        from inserted, generate_series(1, ${updatesEach}::integer)`;
    });
  }

  /** Expects exactly one email for each shipment, and no unsent update. */
  async function expectEachSentOnce(name: string, count: number): Promise<void> {
    const names = server.mails.flatMap((email) => new RegExp(`^Subject: (${name} \\d+):`, "m").exec(email)?.[1] ?? []);
    expect(names.sort()).toEqual(Array.from({ length: count }, (_, index) => `${name} ${index + 1}`).sort());
    expect(await countUnsent()).toBe(0);
  }
  const countUnsent = async () =>
    (await sql`select from email_outbox where account_id = ${receiver.id} and sent_at is null`).length;
  const sendDue = () => sendDueShipmentEmails(app.company, emailSender, readStages());

  // Set EMAILS=10000 for a long run.
  const count = Number(process.env.EMAILS ?? 80);
  test(
    `Two processes together send each of ${count} emails once, and their memory does not grow.`,
    async () => {
      server = await startSmtpServer();
      await queueUpdates("Cargo", count);
      const backend = { ...env().backend, url: app.proxy.target };
      const settings = {
        SMTP_URL: server.url,
        SESSION_SECRET: env().sessionSecret,
        DATA_DIR: process.env.DATA_DIR ?? "",
      };
      const reports = await Promise.all([1, 2].map(() => runSenderProcess(backend, settings, count / 20)));
      await expectEachSentOnce("Cargo", count);
      expect(reports.reduce((sum, report) => sum + report.count, 0)).toBe(count);
      for (const { count: sent, heap } of reports) {
        expect(sent).toBeGreaterThan(count / 10);
        // The heap grows until all code has run once, so the first two measurements are ignored.
        const [first = 0, last = 0] = [heap[2], heap.at(-1)];
        if (process.env.EMAILS) process.stdout.write(`${sent} sent, heap ${heap.join(" ")}\n`);
        expect(last - first, JSON.stringify(heap)).toBeLessThan(1_500_000 + 200 * sent);
      }
    },
    30_000 + count * 100,
  );

  test("One run sends all due emails, one for each shipment.", async () => {
    server = await startSmtpServer();
    process.env.SMTP_URL = server.url;
    await queueUpdates("Drum", 40, 3);
    expect(await sendDue()).toBe(40);
    await expectEachSentOnce("Drum", 40);
  });

  test("Emails that are due while the email server is down are sent once when they are due again.", async () => {
    server = await startSmtpServer();
    process.env.SMTP_URL = server.url;
    await queueUpdates("Barrel", 60);
    server.goAwayAfter(55);
    expect(await sendDue()).toBe(55);
    expect([server.mails.length, await countUnsent()]).toEqual([55, 5]);
    expect(await sendDue()).toBe(0);
    await server.comeBack();
    expect(await sendDue()).toBe(0);
    await sql`update email_outbox set due_at = now() where sent_at is null and attempt_count > 0`;
    expect(await sendDue()).toBe(5);
    await expectEachSentOnce("Barrel", 60);
  });
});
