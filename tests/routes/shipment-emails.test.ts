import process from "node:process";
import type { Email } from "postal-mime";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { env } from "../../app/lib/http/env.server.ts";
import { createUnsubscribeUrl, sendDueShipmentEmails } from "../../app/models/shipment-emails.server.ts";
import { faults } from "../support/fault-proxy.ts";
import { readEmailsTo } from "../support/outbox.ts";
import { countEmailsTo, emailSender, newClient, newShipment, newShipments } from "../support/route-fixtures.ts";
import { runSenderProcess } from "../support/shipment-email-sender.ts";
import { disableNagle, startSmtpServer } from "../support/smtp-server.ts";
import {
  expectNoInternals,
  getTestApp,
  noStorePattern,
  origin,
  parsePage,
  startTestSite,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let site: Awaited<ReturnType<typeof startTestSite>>;
let client: Awaited<ReturnType<typeof newClient>>;
let other: Awaited<ReturnType<typeof newClient>>;
/** The database itself: time passes there. */
let sql: postgres.Sql;

beforeAll(async () => {
  app = await getTestApp();
  site = await startTestSite();
  sql = postgres(process.env.TESTS_DATABASE_URL ?? "", { max: 1, onnotice: () => undefined });
  client = await newClient(app, "Told Client");
  other = await newClient(app, "Other Client");
});
afterAll(async () => {
  await sql.end();
  await site.close();
});
afterEach(() => app.proxy.fail("none"));

/** The path of an account's stop link, or of one with another token. */
const getUnsubscribePath = (account: string) => createUnsubscribeUrl(account).replace(origin, "");
const getUnsubscribeToken = (account: string) => new URL(createUnsubscribeUrl(account)).searchParams.get("token") ?? "";

/** What the button and a mail program send to stop. */
const unsubscribeBodies: Record<string, string>[] = [{ enabled: "no" }, { "List-Unsubscribe": "One-Click" }];

async function hasShipmentEmails({ id }: { id: string }): Promise<boolean> {
  return (await sql`select from private.email_opt_outs where account_id = ${id}`).length === 0;
}

/** Lets everything that happened to these shipments be due. */
const makeDue = (...ids: string[]) => sql`update email_outbox set due_at = now() where shipment_id = any (${ids})`;

async function callRpc(name: string, args: object): Promise<void> {
  const { error } = await app.company.rpc(name as "send_note", args as never);
  if (error) throw error;
}

describe("the page of a stop link", () => {
  afterEach(() => sql`delete from private.email_opt_outs where account_id = ${client.id}`);

  test("says what is mailed, has two buttons, and opening it changes nothing", async () => {
    const calls = await app.proxy.during(async () => {
      for (const method of ["GET", "HEAD"]) {
        const answer = await app.browser().send(new Request(createUnsubscribeUrl(client.id), { method }));
        expect(answer.status, method).toBe(200);
      }
      const page = await app.browser().open(getUnsubscribePath(client.id));
      expect([page.status, page.h1]).toEqual([200, "Mails about your shipments"]);
      expect(page.all("main button").map(({ text }) => text)).toEqual(["Stop these mails", "Send them again"]);
    });
    expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
    expect(await hasShipmentEmails(client)).toBe(true);
  });

  test("is not indexed, kept by nobody, and not shown to the next who asks", async () => {
    const visitor = site.browser();
    for (const path of [
      getUnsubscribePath(client.id),
      "/unsubscribe",
      getUnsubscribePath(other.id),
      `${getUnsubscribePath(other.id)}x`,
    ]) {
      const page = await visitor.open(path);
      expect(page.headers.get("Cache-Control") ?? "", path).toMatch(noStorePattern);
      expect(page.headers.get("ETag"), path).toBeNull();
      expect(page.html).toContain('<meta name="robots" content="noindex"');
      expect(page.text.includes("Stop these mails"), path).toBe(
        [getUnsubscribePath(client.id), getUnsubscribePath(other.id)].includes(path),
      );
      expect(page.headers.get("Referrer-Policy")).toBe("strict-origin-when-cross-origin");
    }
  });

  test("stops what waits and what comes with one press, and starts it again with the other, without a login", async () => {
    const [id = ""] = await newShipments(app, client, ["Stopped"]);
    await callRpc("send_note", { shipment_id: id, note: "It came" });
    const visitor = app.browser();
    const press = async (button: string) => visitor.submit(await visitor.open(getUnsubscribePath(client.id)), button);
    const stopped = await press("Stop these mails");
    expect([stopped.status, stopped.headers.get("Location")]).toEqual([303, getUnsubscribePath(client.id)]);
    expect((await visitor.follow(stopped)).toasts).toEqual([
      { title: "No more of these mails", description: "", variant: "default" },
    ]);
    expect([await hasShipmentEmails(client), await hasShipmentEmails(other)]).toEqual([false, true]);
    await callRpc("send_note", { shipment_id: id, note: "It came" });
    expect(await sql`select from email_outbox where shipment_id = ${id}`).toHaveLength(0);

    const begun = await press("Send them again");
    expect((await visitor.follow(begun)).toasts.map(({ title }) => title)).toEqual(["You get these mails again"]);
    await callRpc("send_note", { shipment_id: id, note: "It came" });
    expect(await sql`select from email_outbox where shipment_id = ${id}`).toHaveLength(1);
  });

  test("by a mail program's own button, without Origin, cookies or script, is a plain 200 that stops", async () => {
    for (const twice of [1, 2]) {
      const answer = await fetch(`http://127.0.0.1:${site.port}${getUnsubscribePath(client.id)}`, {
        method: "POST",
        headers: { "Content-Type": "application/x-www-form-urlencoded", "User-Agent": "mail program" },
        body: "List-Unsubscribe=One-Click",
        redirect: "manual",
      });
      expect([answer.status, answer.headers.get("Location"), answer.redirected], `${twice}`).toEqual([
        200,
        null,
        false,
      ]);
      expect(answer.headers.getSetCookie()).toEqual([]);
      await answer.text();
      expect(await hasShipmentEmails(client)).toBe(false);
    }
    // RFC 8058 lets it send multipart too; nothing beside it turns the mails on.
    await sql`delete from private.email_opt_outs where account_id = ${client.id}`;
    const form = new FormData();
    form.append("List-Unsubscribe", "One-Click");
    form.append("enabled", "yes");
    expect((await app.browser().post(getUnsubscribePath(client.id), form)).status).toBe(200);
    expect(await hasShipmentEmails(client)).toBe(false);
  });

  const [account, signature] = ["account", "signature"];
  const wrong: [string, () => string][] = [
    ["no token", () => ""],
    ["an empty token", () => "?token="],
    ["an account alone", () => `?token=${client.id}`],
    ["an account and a dot", () => `?token=${client.id}.`],
    ["a signature alone", () => `?token=.${getUnsubscribeToken(client.id).split(".")[1]}`],
    ["a truncated token", () => `?token=${getUnsubscribeToken(client.id).slice(0, -1)}`],
    ["a token with a letter more", () => `?token=${getUnsubscribeToken(client.id)}A`],
    ["another account's signature", () => `?token=${client.id}.${getUnsubscribeToken(other.id).split(".")[1]}`],
    ["a signature of the right length", () => `?token=${client.id}.${"A".repeat(43)}`],
    ["letters of more bytes", () => `?token=${client.id}.${"%C3%A9".repeat(43)}`],
    [
      "an account in capitals",
      () => `?token=${getUnsubscribeToken(client.id).replace(client.id, client.id.toUpperCase())}`,
    ],
    ["words of its own", () => `?token=${account}.${signature}`],
  ];
  test.each(wrong)("with %s says so, stops nothing, and asks the backend nothing", async (_what, query) => {
    const visitor = app.browser();
    const calls = await app.proxy.during(async () => {
      const page = await visitor.open(`/unsubscribe${query()}`);
      expect([page.status, page.h1]).toEqual([200, "Mails about your shipments"]);
      expect(page.text).toContain("This link is not complete, or too old.");
      expect(page.all("main button")).toEqual([]);
      for (const body of unsubscribeBodies) {
        expect((await visitor.post(`/unsubscribe${query()}`, body)).status).toBe(400);
      }
    });
    expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
    expect([await hasShipmentEmails(client), await hasShipmentEmails(other)]).toEqual([true, true]);
  });

  test("with something after the signature is wrong, as it would be in the address that the answer leads to", async () => {
    for (const more of [".", ".x", ".%0D%0ASet-Cookie:%20a=b"]) {
      const answer = await app.browser().post(`${getUnsubscribePath(client.id)}${more}`, { enabled: "no" });
      expect([more, answer.status]).toEqual([more, 400]);
    }
    expect(await hasShipmentEmails(client)).toBe(true);
  });

  test("takes no form of another site", async () => {
    const evil = { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
    const answer = await app.browser().post(getUnsubscribePath(client.id), { enabled: "no" }, evil);
    expect([answer.status, await hasShipmentEmails(client)]).toEqual([403, true]);
  });

  test.each(faults)(
    "while the backend fails (%s), the buttons and mail programs hear that it did not work, and nothing changes",
    async (fault) => {
      const isNonsense = ["html", "half json"].includes(String(fault));
      for (const body of unsubscribeBodies) {
        app.proxy.fail(fault, /set_shipment_emails_enabled/);
        const page = await parsePage(await app.browser().post(getUnsubscribePath(client.id), body));
        // Nonsense is an answer too, of a backend that is not ours.
        expect([page.status, page.toasts]).toEqual([isNonsense ? 502 : 503, []]);
        expect(page.h1).toBe(isNonsense ? "Something went wrong" : "Not available at the moment");
        expectNoInternals(page);
        app.proxy.fail("none");
        expect(await hasShipmentEmails(client)).toBe(true);
      }
    },
  );

  test("leaves no token, account or signature in the log", async () => {
    const lines: string[] = [];
    const spies = (["log", "warn", "error"] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation((...said) => void lines.push(said.join(" "))),
    );
    try {
      const visitor = site.browser();
      await visitor.open(getUnsubscribePath(client.id));
      await visitor.open(`${getUnsubscribePath(client.id)}x`);
      await visitor.post(getUnsubscribePath(client.id), { enabled: "no" });
      await visitor.post(getUnsubscribePath(client.id), { "List-Unsubscribe": "One-Click" });
      await visitor.post(`${getUnsubscribePath(client.id)}x`, { enabled: "no" });
      app.proxy.fail(500, /set_shipment_emails_enabled/);
      await visitor.post(getUnsubscribePath(client.id), { enabled: "no" });
      await expect
        .poll(() => lines.filter((line) => line.includes('"route":"/unsubscribe"')).length)
        .toBeGreaterThan(5);
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
    const secrets = [client.id, ...getUnsubscribeToken(client.id).split("."), "token="];
    expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
  });
});

describe("a notice, as a mail program reads it,", () => {
  /** Lets these be done to a new shipment, and sends what is due. Returns its id and the one mail. */
  async function noticeOf(name: string, acts: (id: string) => [string, object][], documents: string[] = []) {
    const { id } = await newShipment(app, client, name, documents);
    for (const [act, args] of acts(id)) await callRpc(act, args);
    const mail = await mailOfDue(id);
    return { id, mail, text: mail.text ?? "" };
  }
  /** Sends what waits of a shipment: one mail, which this returns. */
  async function mailOfDue(id: string): Promise<Email> {
    await makeDue(id);
    const before = await countEmailsTo(client.email);
    expect(await sendDueShipmentEmails(app.company, emailSender)).toBe(1);
    const mails = await readEmailsTo(process.env.DATA_DIR ?? "", client.email);
    expect(mails).toHaveLength(before + 1);
    return mails.at(-1) as Email;
  }
  const textOfDue = async (id: string) => (await mailOfDue(id)).text ?? "";
  const headerOf = (mail: Email, key: string) =>
    mail.headers.filter((one) => one.key === key).map(({ value }) => value);
  const correct = (shipment_id: string): [string, object] => [
    "correct_stage",
    { shipment_id, stage: 4, reason: "It is there" },
  ];

  test("says what happened, whose move it is, where to look, how to check that it is us, and how to stop them", async () => {
    const { id, mail, text } = await noticeOf("Pumps for Juba", (shipment_id) => [correct(shipment_id)]);
    expect(mail.subject).toBe("Pumps for Juba: Customs Declaration (4 of 10)");
    expect([mail.from?.name, mail.from?.address]).toEqual([emailSender.name, emailSender.email]);
    expect(mail.to).toEqual([expect.objectContaining({ address: client.email })]);
    expect([mail.html, mail.attachments]).toEqual([undefined, []]);
    expect(text).toContain("It moved to Customs Declaration.");
    expect(text).toContain("at stage 4 of 10 now: Customs Declaration. It is your move");
    expect(text).toContain("never send bank details by mail");
    expect(text).toContain(emailSender.phone);
    expect(text).toContain(`Is this really us? ${origin}/additional-info#identity-check`);
    expect(text.match(/\S*\/portal\S*/g)).toEqual([`${origin}/portal/${id}`]);
    expect(text.match(/https?:\S+/g)?.sort()).toEqual(
      [`${origin}/additional-info#identity-check`, createUnsubscribeUrl(client.id), `${origin}/portal/${id}`].sort(),
    );
    expect((await client.browser.open(`/portal/${id}`)).text).toContain("Pumps for Juba");
  });

  test("has the headers of a stop button, whose address is the one in its text and stops", async () => {
    const { mail, text } = await noticeOf("Stoppable", (shipment_id) => [
      ["send_note", { shipment_id, note: "Hello" }],
    ]);
    expect(headerOf(mail, "list-unsubscribe")).toEqual([`<${createUnsubscribeUrl(client.id)}>`]);
    expect(headerOf(mail, "list-unsubscribe-post")).toEqual(["List-Unsubscribe=One-Click"]);
    expect(text).toContain(`No more of these mails: ${createUnsubscribeUrl(client.id)}`);
    expect(createUnsubscribeUrl(client.id).startsWith(`${env().origin}/unsubscribe?token=`)).toBe(true);
    expect(mail.subject).toBe("Stoppable: a note from us");
    expect(text).not.toContain("Hello");
  });

  test("of a document that was sent back says which and why, and that it is the client's move", async () => {
    const { id } = await newShipment(app, client, "Pumps for Juba", ["Bill of Lading"]);
    const [bill] = await sql`select id from documents where shipment_id = ${id} and name = 'Bill of Lading'`;
    const reason = "The second page is missing — “page 2 of 3”";
    await callRpc("reject_document", { document_id: bill?.id, reason });
    await makeDue(id);
    expect(await sendDueShipmentEmails(app.company, emailSender)).toBe(1);
    const mail = (await readEmailsTo(process.env.DATA_DIR ?? "", client.email)).at(-1);
    expect(mail?.subject).toBe("Pumps for Juba: Bill of Lading sent back");
    expect(mail?.text).toContain(`We sent the Bill of Lading back: ${reason}. Send us another file.`);
    expect(mail?.text).toContain("It is your move");
    expect(mail?.text).not.toContain(".pdf");
  });

  test("of several acts is one mail with all of them, and no amount, account or words of a charge or a note", async () => {
    const charge = {
      item: "duties",
      amount: 987654.32,
      currency: "USD",
      due_on: "2031-07-29",
      note: "Account 77001122",
    };
    const { mail, text } = await noticeOf("Charged goods", (shipment_id) => [
      ["send_note", { shipment_id, note: "Secret words" }],
      correct(shipment_id),
      ["set_charge", { shipment_id, ...charge }],
    ]);
    expect(mail.subject).toBe("Charged goods: Duties & Taxes to pay");
    expect(text).toMatch(/something to pay: Duties & Taxes[\s\S]*moved to Customs Declaration[\s\S]*a note/);
    const all = `${mail.subject} ${text}`.replace(createUnsubscribeUrl(client.id), "");
    for (const said of ["987", "654.32", "USD", "2031", "29 July", "77001122", "Secret words"]) {
      expect(all, said).not.toContain(said);
    }
  });

  test("of a move that came with a note says so, once, and of a later move without one does not", async () => {
    const documents = ["Packing List", "Commercial Invoice", "Insurance Certificate", "Bill of Lading"];
    const moves = (note?: string) => (shipment_id: string) =>
      [["move_shipment", { shipment_id, note }]] as [string, object][];
    const told = /It moved to (.+)\.\n\nWe wrote you a note\. It stands in the history of the page\.\n\nIt is at stage/;
    const { id, mail, text } = await noticeOf("Moved with words", moves("Secret words"), documents);
    expect(mail.subject).toBe("Moved with words: Document Verification (2 of 10)");
    expect(told.exec(text)?.[1]).toBe("Document Verification");
    expect(text).not.toContain("Secret words");

    await callRpc("move_shipment", { shipment_id: id });
    expect(await textOfDue(id)).not.toContain("note");
    // Back to a stage that was once reached with a note.
    await callRpc("correct_stage", { shipment_id: id, stage: 2, reason: "Not yet" });
    expect(await textOfDue(id)).not.toContain("note");

    // On the way through several stages, and beside a note of its own.
    await callRpc("move_shipment", { shipment_id: id, note: "Secret words" });
    await callRpc("move_shipment", { shipment_id: id });
    expect(told.exec(await textOfDue(id))?.[1]).toBe("Customs Declaration");
    await callRpc("move_shipment", { shipment_id: id, note: "Secret words" });
    await callRpc("send_note", { shipment_id: id, note: "More words" });
    expect((await textOfDue(id)).match(/We wrote you a note\./g)).toHaveLength(1);
  });

  test("of free storage names its last day", async () => {
    const [id = ""] = await newShipments(app, client, ["Stored goods"]);
    const [row] = await sql`
      update shipments set arrival_place = 'mombasa', arrived_on = '2026-05-10', container_size = 20,
        free_storage_ends_on = (now() at time zone 'Africa/Nairobi')::date + 2
      where id = ${id} returning to_char(free_storage_ends_on, 'FMDD FMMonth YYYY') as day`;
    expect(await sendDueShipmentEmails(app.company, emailSender)).toBe(0);
    await makeDue(id);
    expect(await sendDueShipmentEmails(app.company, emailSender)).toBe(1);
    const mail = (await readEmailsTo(process.env.DATA_DIR ?? "", client.email)).at(-1);
    expect(mail?.subject).toBe(`Stored goods: free storage until ${row?.day}`);
    expect(mail?.text).toContain(`Its free storage ends on ${row?.day}.`);
  });

  test.each([
    `Pompes à eau “Niño” für Müller, 給水ポンプ 🚢`,
    `He said "now", 'then' <b>; (or=?utf-8?Q?not?=) \\ @all`,
    `${"Ä".repeat(119)}!`,
    `${"long words ".repeat(10)}end`,
  ])("has the name as the client wrote it: %s", async (name) => {
    const { mail, text } = await noticeOf(name, (shipment_id) => [correct(shipment_id)]);
    expect(mail.subject).toBe(`${name}: Customs Declaration (4 of 10)`);
    expect(text.split("\n")[0]?.trim()).toBe(name);
    expect([mail.to?.length, mail.cc, mail.bcc]).toEqual([1, undefined, undefined]);
  });

  test.each(["\r\nBcc: thief@client.example", "\nX: y", "\rX: y", "\u2028X: y", "\u0085X: y"])(
    "has no header that a name brings along: the table refuses %j",
    async (more) => {
      const row = { user_id: client.id, name: `Pumps${more}` };
      expect((await app.company.from("shipments").insert(row)).error?.code).toBe("23514");
    },
  );
});

describe("through a mail server,", () => {
  beforeAll(disableNagle);
  afterAll(() => {
    delete process.env.SMTP_URL;
  });

  /** So many shipments of a client of which something is due, past every trigger; their name is `what` and a number. */
  async function letWait(what: string, count: number, each = 1) {
    await sql.begin(async (session) => {
      await session`set local session_replication_role = replica`;
      await session`
        with made as (
          insert into shipments (user_id, name, retention_ends_on)
          select ${client.id}, ${what} || ' ' || number, current_date from generate_series(1, ${count}::integer) as number
          returning id
        )
        insert into email_outbox (account_id, shipment_id, kind, detail, due_at)
        select ${client.id}, id, 'note', 'note', now() - interval '1 minute'
        from made, generate_series(1, ${each}::integer)`;
    });
  }
  /** The names of the shipments of which mails tell, in order. */
  const toldBy = (mails: string[], what: string) =>
    mails.flatMap((mail) => new RegExp(`^Subject: (${what} \\d+):`, "m").exec(mail)?.[1] ?? []).sort();
  const names = (what: string, count: number) => Array.from({ length: count }, (_, at) => `${what} ${at + 1}`).sort();
  const unsent = async (what: string) => {
    const rows = await sql`
      select from email_outbox join shipments on shipments.id = shipment_id where name like ${`${what} %`} and sent_at is null`;
    return rows.length;
  };

  /** More in a long run, with NOTICES=10000: --mode does not reach the projects of one configuration. */
  const count = Number(process.env.NOTICES ?? 200);
  const patience = 30_000 + count * 100;
  test(
    `${count} notices are sent by two processes, none twice and none lost, and their memory stays as it is`,
    async () => {
      const server = await startSmtpServer();
      try {
        await letWait("Cargo", count);
        const backend = { ...env().backend, url: app.proxy.target };
        const more = {
          SMTP_URL: server.url,
          SESSION_SECRET: env().sessionSecret,
          DATA_DIR: process.env.DATA_DIR ?? "",
        };
        const sent = await Promise.all([
          runSenderProcess(backend, more, count / 20),
          runSenderProcess(backend, more, count / 20),
        ]);
        expect(toldBy(server.mails, "Cargo")).toEqual(names("Cargo", count));
        expect(sent.reduce((sum, one) => sum + one.count, 0)).toBe(count);
        expect(await unsent("Cargo")).toBe(0);
        for (const { count: part, heap } of sent) {
          // Both had their part, and keep nothing of what they sent: in a long run not 1 KB a mail once they are under way.
          expect(part).toBeGreaterThan(count / 10);
          const [first = 0, last = 0] = [heap[2], heap.at(-1)];
          if (process.env.NOTICES) process.stdout.write(`${part} sent, heap ${heap.join(" ")}\n`);
          expect(last - first, JSON.stringify(heap)).toBeLessThan(1_500_000 + 200 * part);
        }
      } finally {
        server.goAway();
      }
    },
    patience,
  );

  test("one look sends all that is due, also where several things happened to each shipment", async () => {
    const server = await startSmtpServer();
    process.env.SMTP_URL = server.url;
    try {
      await letWait("Drum", 40, 3);
      expect(await sendDueShipmentEmails(app.company, emailSender)).toBe(40);
      expect(toldBy(server.mails, "Drum")).toEqual(names("Drum", 40));
    } finally {
      server.goAway();
      await sql`delete from email_outbox where account_id = ${client.id}`;
      delete process.env.SMTP_URL;
    }
  });

  test("what waits while the server is away is neither lost nor sent twice once it is back", async () => {
    const server = await startSmtpServer();
    process.env.SMTP_URL = server.url;
    try {
      await letWait("Barrel", 70);
      server.goAwayAfter(55);
      expect(await sendDueShipmentEmails(app.company, emailSender)).toBe(55);
      expect([server.mails.length, await unsent("Barrel")]).toEqual([55, 15]);
      // Not tried at once again, nor after the server is back until they are due.
      expect(await sendDueShipmentEmails(app.company, emailSender)).toBe(0);
      await server.comeBack();
      expect(await sendDueShipmentEmails(app.company, emailSender)).toBe(0);
      await sql`update email_outbox set due_at = now() where sent_at is null and attempt_count > 0`;
      expect(await sendDueShipmentEmails(app.company, emailSender)).toBe(15);
      expect(toldBy(server.mails, "Barrel")).toEqual(names("Barrel", 70));
      expect(await unsent("Barrel")).toBe(0);
    } finally {
      server.goAway();
      delete process.env.SMTP_URL;
    }
  });
});
