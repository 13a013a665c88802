import { expect, test } from "vitest";
import { recordAuditEntry } from "../../app/models/audit-log.server.ts";
import { getHref, listLinkAddresses, readCsv } from "../support/page-parts.ts";
import { newClient, newShipment, newStaffMember } from "../support/route-fixtures.ts";
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
const entries = "main form ~ div li";
const noEntries = "No activity found.";

test("The activity log is filtered by person, action, shipment and day, its form shows the filter, and it says if no entry matches.", async () => {
  const fields = { who: "KINYI odh", what: "shipment correct", shipment: shipment.id.slice(0, 8) };
  const corrections = await browser.open(`/desk/log?${new URLSearchParams(fields)}`);
  expect(corrections.text).toMatch(/Stage corrected Logged Akinyi Odhiambo .* EAT stage 1 → stage 3 Reason: =cmd/);
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

test("The page of a client links to the client's entries in the activity log.", async () => {
  const person = await newClient(app, "Logged Person");
  const entry = { action: "account close", account_id: person.id, reason: "As they asked" };
  await recordAuditEntry(app.company, "Log Writer", entry);
  const href = getHref(await browser.open(`/desk/clients/${person.id}`), "Full activity log");
  expect(href).toBe(`/desk/log?account=${person.id}`);
  const page = await browser.open(href ?? "");
  expect(page.all(entries).map(getText)).toEqual([
    expect.stringMatching(/^Account closed Logged Person Log Writer .* EAT Reason: As they asked$/),
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
