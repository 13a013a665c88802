import process from "node:process";
import type { Email } from "postal-mime";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { serviceRoleClient } from "../../app/lib/supabase/client.server.ts";
import { createUnsubscribeUrl, sendDueShipmentEmails } from "../../app/models/email-delivery.server.ts";
import { readStages } from "../../app/server/cli/content.ts";
import { readEmailsTo } from "../support/outbox.ts";
import { emailSender, type LoggedInClient, newClient, newShipment } from "../support/route-fixtures.ts";
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

/** Makes the queued updates of a shipment due and sends due emails. Returns the email about this shipment. */
async function sendQueued(shipment: string): Promise<Email & { text: string }> {
  await sql`update email_outbox set due_at = now() where shipment_id = ${shipment}`;
  const before = (await listEmails()).length;
  expect(await sendDueShipmentEmails(app.company, emailSender, readStages())).toBe(1);
  const emails = await listEmails();
  expect(emails).toHaveLength(before + 1);
  const email = emails.at(-1);
  return { ...email, text: email?.text ?? "" } as Email & { text: string };
}

const correctStage = (shipment_id: string) =>
  callRpc("correct_stage", { shipment_id, stage: 4, reason: "It is there" });

describe("Content of shipment updates", () => {
  test("An email about a new stage says who must act next, and has links to the shipment and for unsubscribing.", async () => {
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
      ...[
        "Upload the Commercial Invoice, Packing List, Insurance Certificate, and Bill of Lading.",
        `See the shipment: ${links[2]}`,
        "",
      ],
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

  test("One email contains all queued updates of a shipment, with the due day of a charge, but not its amount and note.", async () => {
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
    expect(text).toMatch(/^Upload the .*\. Pay the Duties & Taxes by 29 July 2031\.$/m);
    const all = `${subject} ${text}`.replace(createUnsubscribeUrl(client.id), "");
    for (const secret of ["987", "654.32", "USD", "77001122"]) expect(all).not.toContain(secret);
  });
});

describe("Delivery by SMTP", () => {
  let server: Awaited<ReturnType<typeof startSmtpServer>>;
  let receiver: LoggedInClient;
  beforeAll(async () => {
    disableNagle();
    receiver = await newClient(app, "Receiving Client");
  });
  afterEach(async () => {
    app.proxy.fail("none");
    server.goAway();
    delete process.env.SMTP_URL;
    await sql`delete from email_outbox where account_id = ${receiver.id}`;
  });

  /**
   * Creates `count` shipments, and queues `updatesEach` shipment updates for each shipment, which are due now. Disables
   * triggers, because triggers would queue more updates.
   */
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

  /** Checks that each shipment has exactly one email, and that no update is unsent. */
  async function expectEachSentOnce(name: string, count: number): Promise<void> {
    const names = server.emails.flatMap((email) => new RegExp(`^Subject: (${name} \\d+):`, "m").exec(email)?.[1] ?? []);
    expect(names.sort()).toEqual(Array.from({ length: count }, (_, index) => `${name} ${index + 1}`).sort());
    expect(await countUnsent()).toBe(0);
  }
  const countUnsent = async () =>
    (await sql`select from email_outbox where account_id = ${receiver.id} and sent_at is null`).length;
  const sendDue = (serviceRole = app.company) => sendDueShipmentEmails(serviceRole, emailSender, readStages());
  const finishCall = /rpc\/finish_shipment_emails/;

  test("One run of the delivery sends all due emails, one email per shipment.", async () => {
    server = await startSmtpServer();
    process.env.SMTP_URL = server.url;
    await queueUpdates("Drum", 40, 3);
    expect(await sendDue()).toBe(40);
    await expectEachSentOnce("Drum", 40);
  });

  test("If the email server is down, due emails are sent once at the next attempt after the server works again.", async () => {
    server = await startSmtpServer();
    process.env.SMTP_URL = server.url;
    await queueUpdates("Barrel", 60);
    server.goAwayAfter(55);
    expect(await sendDue()).toBe(55);
    expect([server.emails.length, await countUnsent()]).toEqual([55, 5]);
    expect(await sendDue()).toBe(0);
    await server.comeBack();
    expect(await sendDue()).toBe(0);
    await sql`update email_outbox set due_at = now() where sent_at is null and attempt_count > 0`;
    expect(await sendDue()).toBe(5);
    await expectEachSentOnce("Barrel", 60);
  });

  test("If the database rejects the first report of a sent email, the same run reports the email again.", async () => {
    server = await startSmtpServer();
    process.env.SMTP_URL = server.url;
    await queueUpdates("Crate", 1);
    app.proxy.fail(503, finishCall);
    app.proxy.butFirst(async () => app.proxy.fail(503, /no other call/));
    expect(await sendDue(serviceRoleClient())).toBe(1);
    await expectEachSentOnce("Crate", 1);
  });

  test("If the database rejects all reports of sent emails, the run sends its other emails, and no later run sends an email again.", async () => {
    server = await startSmtpServer();
    process.env.SMTP_URL = server.url;
    await queueUpdates("Sack", 3);
    app.proxy.fail(503, finishCall);
    for (let run = 1; run <= 2; run += 1) {
      await expect(sendDue(serviceRoleClient())).rejects.toThrow();
      expect([server.emails.length, await countUnsent()]).toEqual([3, 3]);
      await sql`update email_outbox set claimed_at = now() - interval '6 minutes' where sent_at is null`;
    }
    app.proxy.fail("none");
    expect(await sendDue(serviceRoleClient())).toBe(0);
    await expectEachSentOnce("Sack", 3);
  });
});
