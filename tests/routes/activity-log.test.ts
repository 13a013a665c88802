import { expect, test } from "vitest";
import { recordAuditEntry } from "../../app/models/audit-log.server.ts";
import { getHref, listLinkAddresses, readCsv } from "../support/page-parts.ts";
import { getDocument, newClient, newShipment, newStaffMember } from "../support/route-fixtures.ts";
import { getTestApp, getText, type ParsedPage } from "../support/test-app.ts";

const app = await getTestApp();
const clerk = await newStaffMember(app, "clerk", "Akinyi Odhiambo");
const browser = clerk.browser;
const client = await newClient(app, "Baraka Mwangi");
const shipment = await newShipment(app, client, "Logged");
const page = await browser.open(shipment.desk);
await browser.submit(page, "Correct the stage", { stage: "3", reason: '=cmd|"/c calc"!A1, a slip' });
browser.cookies.delete("flash");
await app.sql`
  insert into audit_log (actor_name, action, shipment_id, reason, created_at)
  select 'Log Writer', 'shipment extend-retention', ${shipment.id}, 'Line ' || n, now() + n * interval '1 ms'
  from generate_series(1, 51) as n`;

const listReasons = (page: ParsedPage) => [...page.text.matchAll(/Reason: (Line \d+)/g)].map(([, reason]) => reason);
const entries = "main tbody tr";
const noEntries = "No activity found.";

test("The activity log is filtered by person, action, shipment and day, its form shows the filter, and it says if no entry matches.", async () => {
  const fields = { who: "KINYI odh", what: "shipment correct", shipment: shipment.id.slice(0, 8) };
  const corrections = await browser.open(`/desk/log?${new URLSearchParams(fields)}`);
  expect(corrections.text).toMatch(/Stage corrected Logged Akinyi Odhiambo stage 1 → stage 3 Reason: =cmd/);
  expect([corrections.form("Find").fields, listReasons(corrections)]).toEqual([expect.objectContaining(fields), []]);
  const today = new Date(Date.now() + 3 * 60 * 60 * 1000).toISOString().slice(0, 10);
  const filter = `who=Log+Writer&what=shipment+extend-retention&shipment=${shipment.id}`;
  for (const parameter of [`day=${today}`, "day=2026-02-30", "day=2026-13-01", "day=x", "page=0", "page=x"]) {
    const page = await browser.open(`/desk/log?${filter}&${parameter}`);
    expect([parameter, listReasons(page).length]).toEqual([parameter, 50]);
  }
  expect((await browser.get("/desk/log?who=%00")).status).toBe(200);
  for (const none of ["day=2020-01-01", "who='", "who=%25", "shipment=zzzz"]) {
    const page = await browser.open(`/desk/log?${none}`);
    expect([none, page.status, page.all(entries).length, page.text.includes(noEntries)]).toEqual([none, 200, 0, true]);
  }
});

test("The activity log has the newest entries first in pages of 50, and each entry links to its shipment.", async () => {
  const first = await browser.open(`/desk/log?who=Log+Writer&shipment=${shipment.id}`);
  expect([listReasons(first)[0], first.text.includes(noEntries)]).toEqual(["Line 51", false]);
  expect(listReasons(await browser.open(getHref(first, "Next page") ?? ""))).toEqual(["Line 1"]);
  const [link] = first.all(`${entries} a`);
  expect([link?.getAttribute("href"), getText(link)]).toEqual([shipment.desk, "Logged"]);
});

test("The activity log can be sorted by time, person and action, and other orders mean newest first.", async () => {
  const own = `/desk/log?shipment=${shipment.id}`;
  const listTexts = async (sort: string) => (await browser.open(`${own}&sort=${sort}`)).all(entries).map(getText);
  expect((await listTexts("time"))[0]).toContain("Stage corrected");
  expect((await listTexts("who"))[0]).toContain("Akinyi Odhiambo");
  expect((await listTexts("-who")).at(-1)).toContain("Log Writer");
  expect((await listTexts("-what"))[0]).toContain("Line 1");
  for (const none of ["shipment", "id%3b--"]) expect((await listTexts(none))[0]).toContain("Line 51");
  const head = (await browser.open(`${own}&sort=who`)).all("thead th[aria-sort]");
  expect(head.map((cell) => [getText(cell), cell.getAttribute("aria-sort")])).toEqual([["Done by", "ascending"]]);
});

test("The page of a client links to the client's entries in the activity log.", async () => {
  const person = await newClient(app, "Logged Person");
  const entry = { action: "account close", account_id: person.id, reason: "As they asked" };
  await recordAuditEntry(app.company, "Log Writer", entry);
  const href = getHref(await browser.open(`/desk/clients/${person.id}`), "Full activity log");
  expect(href).toBe(`/desk/log?account=${person.id}`);
  const page = await browser.open(href ?? "");
  expect(page.all(entries).map(getText)).toEqual([
    expect.stringMatching(/^just now Account closed Logged Person Log Writer Reason: As they asked$/),
  ]);
  expect(page.form("Find").fields).toMatchObject({ account: person.id });
  expect(listLinkAddresses(page, `${entries} a`)).toEqual([`/desk/clients/${person.id}`]);
});

test("The pages of a shipment and a client without entries show that nothing has been done yet.", async () => {
  const person = await newClient(app, "Untouched Person");
  const untouched = await newShipment(app, person, "Untouched");
  for (const path of [untouched.desk, `/desk/clients/${person.id}`]) {
    const { text } = await browser.open(path);
    expect([path, text.match(/Activity log (No .*?\.)/)?.[1]]).toEqual([path, "No activity yet."]);
  }
});

test("The CSV of the activity log has all entries that match the filter, in words and East Africa Time, without formulas.", async () => {
  const response = await browser.get(`/desk/log.csv?shipment=${shipment.id}`);
  expect(response.headers.get("Content-Disposition")).toBe("attachment; filename=log.csv");
  const [heading, ...rows] = await readCsv(response);
  expect(heading).toEqual([
    ...["Time (EAT)", "Done by", "Action", "Shipment number", "Shipment", "Document", "Account", "Change", "Reason"],
  ]);
  expect(rows).toHaveLength(52);
  const [time = "", ...cells] = rows.at(-1) ?? [];
  expect(Date.now() - Date.parse(`${time.replace(" ", "T")}+03:00`)).toBeLessThan(10 * 60_000);
  expect(cells).toEqual([
    ...[clerk.name, "Stage corrected", shipment.id, "Logged", "", "", "stage 1 → stage 3"],
    `'=cmd|"/c calc"!A1, a slip`,
  ]);
  const filtered = await browser.get(`/desk/log.csv?who=odhiambo&shipment=${shipment.id.slice(0, 8)}`);
  expect(await readCsv(filtered)).toHaveLength(2);
});

test("A client's actions are in the shipment's log, with the client's name and labels. The checkbox hides opened documents in the list and the CSV.", async () => {
  const person = await newClient(app, "Achieng Otieno");
  const cargo = await newShipment(app, person, "Cargo with history", ["Packing List"]);
  const change = await person.browser.open(`${cargo.portal}/change`);
  expect((await person.browser.submit(change, "Save changes", { name: "Renamed", awb: "AWB-7" })).status).toBe(303);
  const { id } = await getDocument(app.company, cargo.id, "Packing List");
  await browser.get(`${cargo.desk}/documents/${id}/file`);
  const card = (await browser.open(cargo.desk)).text;
  for (const shown of [
    "Document opened: Packing List",
    "Shipment changed Achieng Otieno (client)",
    "AWB-7, name changed",
  ])
    expect(card).toContain(shown);
  const log = await browser.open(`/desk/log?shipment=${cargo.id}`);
  expect(log.all(entries)).toHaveLength(3);
  const filtered = await browser.open(`/desk/log?shipment=${cargo.id}&opened=hide`);
  expect(filtered.text).not.toContain("Document opened: Packing List");
  expect(filtered.all(entries).map(getText)).toEqual([
    "just now Shipment changed Renamed Achieng Otieno (client) AWB-7, name changed",
    "just now File uploaded: Packing List Renamed Achieng Otieno (client)",
  ]);
  expect(filtered.form("Find").fields).toMatchObject({ opened: "hide" });
  const [, ...rows] = await readCsv(await browser.get(getHref(filtered, "Download as CSV") ?? ""));
  expect(rows.map((cells) => cells.slice(1, 8))).toEqual([
    ["Achieng Otieno (client)", "Shipment changed", cargo.id, "Renamed", "", "", "AWB-7, name changed"],
    ["Achieng Otieno (client)", "File uploaded", cargo.id, "Renamed", "Packing List", "", ""],
  ]);
});

test("The log names the recipient of a Client ID.", async () => {
  const address = "recipient.of.an.id@client.example";
  const invitations = await browser.open("/desk/invitations");
  await browser.submit(invitations, "Issue Client IDs", { count: "1", email: address });
  const page = await browser.open("/desk/log?what=client-id+send");
  expect(page.all(entries).map(getText)).toContainEqual(
    expect.stringMatching(/^just now Client ID sent recipient\.of\.an\.id@client\.example /),
  );
});
