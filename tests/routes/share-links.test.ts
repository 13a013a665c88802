import { afterEach, describe, expect, test } from "vitest";
import { newFullShipment } from "../support/full-shipment.ts";
import { getHref, unknownId } from "../support/page-parts.ts";
import { copyBrowser, expectRejectedForm, newClient, newShipment, successToast } from "../support/route-fixtures.ts";
import {
  getTestApp,
  getTestSite,
  noStorePattern,
  origin,
  type ParsedPage,
  parsePage,
  readLogDuring,
  sendRequest,
} from "../support/test-app.ts";

const app = await getTestApp();
const { sql } = app;
const site = await getTestSite();
const client = await newClient(app, "Finding Client");
const stranger = await newClient(app, "Strange Client");
const shipment = await newFullShipment(app, client, "Pumps for Eldoret");
afterEach(() => {
  app.proxy.fail("none");
  client.browser.cookies.delete("flash");
});

const openSharePage = ({ portal } = shipment) => client.browser.open(`${portal}/share`);
const listLinks = (page: ParsedPage) => page.all("main input[readonly]").map((field) => field.getAttribute("value"));
const getPath = (address: string | undefined | null) => new URL(address ?? "").pathname;

/** Creates a share link of a shipment. Returns the path of the share link. */
async function createLink(sharedShipment = shipment): Promise<string> {
  const form = await openSharePage(sharedShipment);
  const page = await client.browser.follow(await client.browser.submit(form, "Create share link"));
  const created = listLinks(page).filter((link) => !listLinks(form).includes(link));
  expect(created).toHaveLength(1);
  return getPath(created[0]);
}

describe("Print form", () => {
  test("The print form contains all data of a shipment, and no navigation, form or script.", async () => {
    const href = getHref(await client.browser.open(shipment.portal), "Print");
    expect(href).toBe(`${shipment.portal}/print`);
    const page = await client.browser.open(href ?? "");
    expect([page.status, page.h1]).toEqual([200, "Pumps for Eldoret"]);
    expect(page.title).toContain(`Pumps for Eldoret (${shipment.id.slice(0, 8)})`);
    expect(page.all("nav, header, footer, form, button, input, a, script, dialog, iframe")).toEqual([]);
    for (const text of [
      shipment.id,
      "AWB/BL MSKU-9001",
      `Client ${client.name}`,
      "2 of 10, Document Verification",
      "Upload the Packing List",
      "Commercial Invoice Uploaded. We are checking your file. secret-invoice.pdf, 5 KB,",
      "Packing List Not uploaded",
      "Insurance Certificate Not uploaded",
      "Bill of Lading Not uploaded",
      "IDF Fee KES 700.00, due 4 May 2030.",
      "Duties & Taxes KES 12,500.50, paid. At the bank",
      "Pay only to the account on our signed invoice. Not sure? Call +254 700 000 001.",
      "Document Verification, Mombasa port, Ask for Otieno",
      "Bring your passport",
      "Printed ",
    ])
      expect(page.text).toContain(text);
  });

  test("The URL of the print form rejects POST requests.", async () => {
    expect((await client.browser.post(`${shipment.portal}/print`, {})).status).toBe(404);
  });
});

test("A client can create a share link, sees the link again later, and can send it by WhatsApp with the shipment's name.", async () => {
  const own = await newShipment(app, client, "Pumps for Nakuru");
  expect(getHref(await client.browser.open(own.portal), "Share")).toBe(`${own.portal}/share`);
  const form = await openSharePage(own);
  expect(listLinks(form)).toEqual([]);
  const page = await client.browser.follow(await client.browser.submit(form, "Create share link"));
  expect(page.toasts).toEqual(successToast("Share link created"));
  const [address] = listLinks(page);
  expect(address).toMatch(new RegExp(`^${origin}/s/[\\w-]{22,}$`));
  expect(listLinks(await openSharePage(own))).toEqual([address]);
  const chat = new URL(getHref(page, "Send on WhatsApp") ?? "");
  expect(chat.origin + chat.pathname).toBe("https://wa.me/");
  const text = `Follow the shipment Pumps for Nakuru (${own.id.slice(0, 8)}) here: ${address}`;
  expect(chat.searchParams.get("text")).toBe(text);
  expect(getHref(page, "Preview")).toBe(address);
});

test("A share link shows a shipment's name and stages, but no document, charge, note or person.", async () => {
  const page = await app.browser().open(await createLink());
  expect([page.status, page.h1]).toEqual([200, "Pumps for Eldoret"]);
  expect(page.text).toContain("Document Verification Stage 2 of 10. Last change: ");
  expect(page.text).toMatch(/Document Verification Mombasa port, \d{1,2} \w+ \d{4}, \d\d:\d\d EAT/);
  const html = page.html.toLowerCase();
  for (const hidden of [
    ...["invoice", "Packing", "KES", "12,500", "bank", "Otieno", "passport", "MSKU", "Commercial", "duties", "note"],
    ...[client.email, client.name, client.id, shipment.id, "Finding"],
  ])
    expect(html).not.toContain(hidden.toLowerCase());
  expect(page.all("script, form, button, nav")).toEqual([]);
});

test("Share links and print forms contain the styles for printing, and other pages have a link to these styles.", async () => {
  const browser = copyBrowser(site, client.browser);
  const shared = [await createLink(), `${shipment.portal}/print`];
  for (const path of [...shared, "/", "/portal", shipment.portal, "/portal/account"]) {
    const page = await browser.open(path);
    const styles = page.all("style").map((style) => style.text);
    expect([path, page.status, styles.join().includes("--color-ink")]).toEqual([path, 200, true]);
    const sheets = new Set(page.all("link[rel=stylesheet]").map((link) => link.getAttribute("media")));
    const expected = shared.includes(path) ? [true, []] : [false, ["print"]];
    expect([path, styles.join().includes("@media print{"), [...sheets]]).toEqual([path, ...expected]);
  }
});

test("The page of a share link is not indexed or cached, sends no referrer, and sets no cookie.", async () => {
  for (const path of [await createLink(), `/s/${"A".repeat(27)}`]) {
    const page = await site.browser().open(path);
    expect(page.headers.get("X-Robots-Tag")).toMatch(/^noindex/);
    expect(page.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(page.headers.get("ETag")).toBeNull();
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(page.all("meta[name=robots]").map((meta) => meta.getAttribute("content"))).toEqual(["noindex, nofollow"]);
  }
  expect(await (await site.browser().get("/sitemap.xml")).text()).not.toContain("/s/");
});

test("The page of a share link with a long name and 15 places has at most 8 KB compressed and 16 KB uncompressed.", async () => {
  const long = await newShipment(app, client, "Möbel für die Botschaft, ".repeat(5).slice(0, 119));
  await sql`insert into tracking_events (shipment_id, status, location, created_at)
    select ${long.id}, 'Cargo Tracking ' || n, 'Weighbridge ' || md5(n::text), now() - n * interval '1 hour'
    from generate_series(1, 60) as n`;
  const path = await createLink(long);
  for (const [encoding, maxBytes] of [
    ["br", 8192],
    ["identity", 16_384],
  ] as const) {
    const { status, headers, body } = await sendRequest(site.port, path, { "Accept-Encoding": encoding });
    expect([status, headers["content-encoding"] ?? "identity"]).toEqual([200, encoding]);
    expect(body.length).toBeLessThanOrEqual(maxBytes);
  }
});

test("All wrong and truncated share links show the same page.", async () => {
  const path = await createLink(await newShipment(app, client, "Wrong links"));
  const wrongPaths = [
    `/s/${"A".repeat(27)}`,
    path.slice(0, -1),
    `${path}A`,
    "/s/%00",
    "/s/..%2fportal",
    `/s/${unknownId}`,
  ];
  const text =
    "Mizigo Clearing & Forwarding This link does not work The link is no longer valid or is incomplete. " +
    "Ask the sender for a new link, or call +254 700 000 001.";
  const titles = new Set<string>();
  for (const wrongPath of wrongPaths) {
    const page = await app.browser().open(wrongPath);
    expect([wrongPath, page.status, page.text]).toEqual([wrongPath, 404, text]);
    titles.add(page.title);
  }
  expect(titles.size).toBe(1);
  expect((await app.browser().get(path)).status).toBe(200);
});

test("A revoked share link is invalid, and the form that created the link does not create it again.", async () => {
  const own = await newShipment(app, client, "Revoked");
  const form = await openSharePage(own);
  const page = await client.browser.follow(await client.browser.submit(form, "Create share link"));
  const path = getPath(listLinks(page)[0]);
  const after = await client.browser.follow(await client.browser.submit(page, "End share link"));
  expect([after.toasts, listLinks(after)]).toEqual([successToast("Share link ended"), []]);
  expect((await app.browser().get(path)).status).toBe(404);
  expect((await client.browser.submit(page, "End share link")).status).toBe(303);
  client.browser.cookies.delete("flash");
  const repeated = await parsePage(await client.browser.submit(form, "Create share link"));
  expectRejectedForm(repeated, 409, "This share link has ended. Reload the page, then create a new link.");
  expect([(await app.browser().get(path)).status, listLinks(repeated)]).toEqual([404, []]);
  const invalid = { intent: "revoke-link", form: "revoke-link", link: "1' or '1'='1" };
  expect((await client.browser.post(`${own.portal}/share`, invalid)).status).toBe(400);
});

test("A shipment with five share links has no form for a sixth, and a form that was opened before is rejected.", async () => {
  const own = await newShipment(app, client, "Five links");
  const form = await openSharePage(own);
  for (let links = 1; links <= 5; links += 1) await createLink(own);
  const page = await openSharePage(own);
  expect(new Set(listLinks(page)).size).toBe(5);
  expect(page.text).toContain("A shipment can have up to five share links.");
  expect(() => page.form("Create share link")).toThrow("No button");
  const rejected = await parsePage(await client.browser.submit(form, "Create share link"));
  expectRejectedForm(
    rejected,
    409,
    "This shipment already has 5 share links, which is the maximum. End one of these links first.",
  );
});

test("A stranger cannot open the print form of a client's shipment, and cannot create or revoke its share links.", async () => {
  const own = await newShipment(app, client, "Mine to share");
  const form = await openSharePage(own);
  const page = await client.browser.follow(await client.browser.submit(form, "Create share link"));
  // An attacker leaves out the field `pageAccount`, with which the site recognises forms of another account.
  const [{ pageAccount: _created, ...createFields }, { pageAccount: _ended, ...endFields }] = [
    form.form("Create share link").fields as Record<string, string>,
    page.form("End share link").fields as Record<string, string>,
  ] as const;
  for (const path of [`${own.portal}/share`, "/portal/x/share", `/portal/${unknownId}/share`]) {
    expect([path, (await stranger.browser.get(path)).status]).toEqual([path, 404]);
    const { status } = await stranger.browser.post(path, createFields);
    expect([path, status]).toEqual([path, 404]);
    await stranger.browser.post(path, endFields);
    expect((await stranger.browser.get(path.replace("share", "print"))).status).toBe(404);
  }
  expect(listLinks(await openSharePage(own))).toEqual(listLinks(page));
});

test("No log line and no database table contains the token of a share link.", async () => {
  let token = "";
  const log = await readLogDuring("/s/", 4, async () => {
    const path = await createLink(await newShipment(app, client, "Logged link"));
    token = path.replace("/s/", "");
    for (const address of [path, `${path}x`]) await app.browser().get(address);
    await app.browser().post(path, { token });
    app.proxy.fail(500, /shared_shipment/);
    expect((await app.browser().get(path)).status).toBe(503);
  });
  expect(token).toMatch(/^[\w-]{27}$/);
  expect(log).not.toContain(token.slice(0, 12));
  const tables = await sql`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname in ('public', 'private', 'auth', 'storage')`;
  expect(tables.length).toBeGreaterThan(20);
  for (const { name } of tables) {
    const rows = await sql.unsafe(`select from ${name} as row where strpos(row::text, $1) > 0 limit 1`, [token]);
    expect([name, rows.length]).toEqual([name, 0]);
  }
});
