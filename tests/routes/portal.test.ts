import { describe, expect, test } from "vitest";
import { dayInEastAfrica } from "../../app/lib/dates.ts";
import { calculateFreeStorageEnd } from "../../app/models/arrival.server.ts";
import { companyDetails } from "../../app/models/content.server.ts";
import { getHref, listButtons, listLinkAddresses, listShipmentNames, shipmentLinks } from "../support/page-parts.ts";
import { allDocuments, newClient, newShipment, uploadDocument } from "../support/route-fixtures.ts";
import { advanceShipment, setAwb } from "../support/service-role.ts";
import { correctStage, resultOrThrow, saveArrival, setCharge, setChargePaid } from "../support/staff-actions.ts";
import {
  getTestApp,
  getTestSite,
  getText,
  origin,
  type ParsedPage,
  parsePage,
  type TestBrowser,
} from "../support/test-app.ts";

const app = await getTestApp();
const client = await newClient(app, "Wanjiru Kamau");

const listRows = (page: ParsedPage) =>
  page.all(shipmentLinks).map((link) => link.querySelectorAll("span").map(getText));
const readProgress = (page: ParsedPage) => page.all("[aria-label=Progress] > div p span").map(getText);

/** Reads a shipment's page. Returns each document's name and state, and whether the document has an upload form. */
function listDocuments(page: ParsedPage) {
  return page
    .all("main li")
    .filter((item) => allDocuments.includes(getText(item.querySelector("p"))))
    .map((item) => [
      ...item.querySelectorAll("p").slice(0, 2).map(getText),
      item.querySelector("input[type=file]") !== null,
    ]);
}

const addCharge = async (id: string, item: string, more: { due_on?: string; note?: string } = {}) =>
  resultOrThrow(await setCharge(app.company, id, { item, amount: 12500.5, currency: "KES", ...more }, {}));
const setPaid = async (id: string, item: string, paid: boolean) =>
  resultOrThrow(await setChargePaid(app.company, id, { item, paid, reason: paid ? undefined : "It bounced" }, {}));
const setStage = async (id: string, stage: number) =>
  resultOrThrow(await correctStage(app.company, id, { stage, reason: "It is there" }, {}));

describe("List of shipments", () => {
  test("The portal greets a client without shipments by full name and explains how to create a shipment.", async () => {
    const newcomer = await newClient(app, "Wanjiru Kamau");
    const page = await newcomer.browser.open("/portal");
    expect(page.h1).toBe("My Shipments");
    expect(page.text).toContain("Welcome, Wanjiru Kamau.");
    expect(page.text).toContain('You have no shipments yet. Click "Create Shipment" to get started!');
    expect([listShipmentNames(page), getHref(page, "Create Shipment")]).toEqual([[], "/portal/new"]);
  });

  test("The portal greets a client without a name by email address.", async () => {
    const { browser, email, id } = await newClient(app, "Nameless Client");
    await app.sql`update auth.users set raw_user_meta_data = raw_user_meta_data - 'full_name' where id = ${id}`;
    expect((await browser.open("/portal")).text).toContain(`Welcome, ${email}.`);
  });

  test("A client's list shows the name, short id and stage of each shipment, newest first.", async () => {
    const lister = await newClient(app, "Lister");
    const older = await newShipment(app, lister, "Older");
    const newer = await newShipment(app, lister, "Newer");
    await advanceShipment(app.company, older.id);
    const page = await lister.browser.open("/portal");
    expect(listRows(page)).toEqual([
      expect.arrayContaining(["Newer", newer.id.slice(0, 8), "Client Onboarding"]),
      expect.arrayContaining(["Older", older.id.slice(0, 8), "Document Verification"]),
    ]);
    expect(listLinkAddresses(page, shipmentLinks)).toEqual([newer.portal, older.portal]);
    expect(page.text).toContain("Choose a shipment");
    expect(page.text).not.toContain("You have no shipments yet");
  });

  test("A portal page has identical bytes until the client's data change, and never contains another client's data.", async () => {
    const site = await getTestSite();
    const [browser, otherBrowser] = [site.browser(), site.browser()];
    await browser.signUpAndLogIn("Achieng Otieno");
    await otherBrowser.signUpAndLogIn("Mukasa Okello");
    const readBody = async (viewer: TestBrowser, path = "/portal") => (await viewer.get(path)).text();
    // Only the first page after the login shows the 2FA reminder, so the comparison starts with the second page.
    for (const viewer of [browser, otherBrowser]) await viewer.get("/portal");
    const body = await readBody(browser);
    expect(body).toContain("Achieng Otieno");
    const otherBody = await readBody(otherBrowser);
    expect(otherBody).toContain("Mukasa Okello");
    expect(otherBody).not.toContain("Achieng");
    expect(await readBody(browser)).toBe(body);
    await browser.post("/actions/forgot-password", {});
    expect(await readBody(browser)).toContain("Feature coming soon!");
    expect(await readBody(browser)).toBe(body);
    expect(await readBody(browser, "/portal?q=tea")).toContain('value="tea"');
    await browser.createShipment("Tea");
    const head = await browser.send(new Request(`${origin}/portal`, { method: "HEAD" }));
    expect([head.status, await head.text()]).toEqual([200, ""]);
    for (const encoding of ["br", "gzip", "identity"]) {
      const response = await browser.get("/portal", { "Accept-Encoding": encoding });
      expect(response.headers.get("Content-Encoding") ?? "identity").toBe(encoding);
      expect(await response.text()).toContain("Tea");
    }
  });
});

describe("Page of a shipment", () => {
  test("The page of a new shipment shows stage 1, no AWB/BL, four documents to upload and no history.", async () => {
    const { id, portal } = await newShipment(app, client, "Tea to Mombasa");
    const page = await client.browser.open(portal);
    expect([page.h1, page.title]).toEqual(["Tea to Mombasa", expect.stringMatching(/^Tea to Mombasa · /)]);
    expect(page.text).toContain(`Shipment number ${id.slice(0, 8)}`);
    expect(page.text).toContain("AWB/BL N/A");
    expect(readProgress(page)).toEqual(["Client Onboarding", "Stage 1/10"]);
    const [progress] = page.all("progress");
    expect([progress?.getAttribute("value"), progress?.getAttribute("max")]).toEqual(["1", "10"]);
    expect(listDocuments(page)).toEqual(allDocuments.map((name) => [name, "Not uploaded", true]));
    expect(page.text).toContain("No tracking history yet.");
    expect(page.all("[aria-current=step]").map(getText)).toEqual([
      "Client Onboarding",
      "Client Onboarding: You upload the four documents that we need to start the clearance.",
    ]);
    expect(page.all("[aria-label=Progress] details li")).toHaveLength(10);
    expect(page.text).toContain("Packing List Not uploaded The packing list names all packages with their contents");
    const sameFilter = await client.browser.open(`${portal}?page=1`);
    expect(listLinkAddresses(sameFilter, "main [aria-current=page]")).toEqual([portal]);
  });

  test("The page of a shipment shows its stage, its AWB/BL, and its history in East Africa Time, newest first.", async () => {
    const { id, portal } = await newShipment(app, client, "Moving");
    for (const location of ["Nairobi", undefined, "Port of <Mombasa>"])
      await advanceShipment(app.company, id, location);
    await setAwb(app.company, id, "176-12345675");
    const page = await client.browser.open(portal);
    expect(readProgress(page)).toEqual(["Customs Declaration", "Stage 4/10"]);
    expect(page.text).toContain("AWB/BL 176-12345675");
    expect(page.text).not.toContain("No tracking history yet.");
    const events = page.all("main li").filter((item) => item.querySelector("time"));
    const time = /\d{1,2} [A-Z][a-z]{2,3} \d{4}, \d\d:\d\d EAT/.source;
    expect(events.map((event) => event.querySelectorAll("p").map(getText))).toEqual([
      ["Customs Declaration (latest)", expect.stringMatching(new RegExp(`^Port of <Mombasa>, ${time}$`))],
      ["IDF Application", expect.stringMatching(new RegExp(`^${time}$`))],
      ["Document Verification", expect.stringMatching(new RegExp(`^Nairobi, ${time}$`))],
    ]);
    for (const event of events) {
      const element = event.querySelector("time");
      const utc = Date.parse(element?.getAttribute("datetime") ?? "");
      const nairobi = new Date(utc + 3 * 60 * 60 * 1000).toISOString();
      expect(getText(element)).toContain(`${nairobi.slice(0, 4)}, ${nairobi.slice(11, 16)} EAT`);
    }
  });
});

describe("Payments", () => {
  test("A click on a payment button only shows a toast that payments are a demo.", async () => {
    const { portal } = await newShipment(app, client, "Demo payments");
    const page = await client.browser.open(portal);
    for (const [name, title] of [
      ["IDF Fee", "Action: Pay IDF Fee"],
      ["Duties & Taxes", "Action: Pay Duties"],
      ["Agent Fee", "Action: Pay Agent Fee"],
    ] as const) {
      const calls = await app.proxy.during(async () => {
        const response = await client.browser.submit(page, `Pay ${name}`);
        expect(response.headers.get("Location")).toBe(portal);
        const description = "This is a demo. No payment will be processed.";
        expect((await client.browser.follow(response)).toasts).toEqual([{ title, description, variant: "default" }]);
      });
      expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
    }
    for (const payment of ["", "everything"])
      expect((await client.browser.post(`${portal}/payments`, { payment })).status).toBe(400);
    expect((await client.browser.get(`${portal}/payments`)).headers.get("Location")).toBe(portal);
  });

  test("A paid charge has no payment button until it is marked as unpaid.", async () => {
    const { id, portal } = await newShipment(app, client, "Paid in part");
    const open = () => client.browser.open(portal);
    const listPayButtons = async () => listButtons(await open()).filter((text) => text.startsWith("Pay "));
    for (const item of ["idf-fee", "duties", "agent-fee"]) await addCharge(id, item);
    expect(await listPayButtons()).toEqual(["Pay IDF Fee", "Pay Duties & Taxes", "Pay Agent Fee"]);
    await setPaid(id, "duties", true);
    expect(await listPayButtons()).toEqual(["Pay IDF Fee", "Pay Agent Fee"]);
    expect((await open()).text).toContain("Duties & Taxes KES 12,500.50, paid");
    await setPaid(id, "duties", false);
    expect(await listPayButtons()).toHaveLength(3);
  });

  test("While a charge is unpaid, the page says how to pay and whom to call, even after the shipment is closed.", async () => {
    const { id, portal } = await newShipment(app, client, "Coffee to pay for");
    const readPayments = async () => (await client.browser.open(portal)).all("#payments").map(getText).join();
    const instruction = /Pay only to the account on our signed invoice\. Not sure\? Call (.+?)\.$/;
    expect(await readPayments()).not.toMatch(/invoice/i);
    await addCharge(id, "duties");
    expect(await readPayments()).toMatch(
      /IDF Fee Nothing to pay yet Pay IDF Fee Duties & Taxes KES 12,500\.50\. Pay Duties & Taxes Agent Fee Nothing to pay yet/,
    );
    expect((await client.browser.open(`${portal}/print`)).text).not.toContain("Nothing to pay yet");
    await addCharge(id, "agent-fee");
    expect(instruction.exec(await readPayments())?.[1]).toBe(companyDetails.offices[0]?.phone);
    await setPaid(id, "duties", true);
    expect(await readPayments()).toMatch(instruction);
    await setPaid(id, "agent-fee", true);
    expect(await readPayments()).not.toMatch(/invoice/i);
    await setPaid(id, "duties", false);
    expect(await readPayments()).toMatch(instruction);
    await setStage(id, 10);
    const page = await client.browser.open(portal);
    expect(readProgress(page)).toEqual(["Shipment Closed", "Stage 10/10"]);
    expect(page.text).toContain("Closed. KES 12,500.50 is still due. Pay the Duties & Taxes.");
    expect(page.text).toContain("Packing List Not uploaded The packing list names all packages");
    const closed = await readPayments();
    expect(closed).toContain("KES 12,500.50.");
    expect(closed).toMatch(instruction);
  });
});

test("The list and a shipment's page show who must act next, and have a link to the client's next action.", async () => {
  const mover = await newClient(app, "Mover");
  const { browser } = mover;
  const tea = await newShipment(app, mover, "Tea");
  const rice = await newShipment(app, mover, "Rice");
  for (const name of allDocuments) await uploadDocument(browser, rice.portal, name);
  await addCharge(tea.id, "duties", { due_on: "2030-05-04", note: "At the bank" });

  const list = await browser.open("/portal");
  expect(listRows(list).map((row) => [row[0], row.includes("Waiting for you"), row.includes("With us")])).toEqual([
    ["Rice", false, true],
    ["Tea", true, false],
  ]);
  expect(list.text).toContain("With us: 1.");
  expect(list.text).toContain("Pay the Duties & Taxes by 4 May 2030.");
  const [href = ""] = listLinkAddresses(list, "section[aria-label='Waiting for you'] li a");
  const [path, hash = ""] = href.split(/(?=#)/);
  expect([path, hash]).toEqual([tea.portal, expect.stringMatching(/^#file-[0-9a-f-]{36}$/)]);

  const page = await browser.open(tea.portal);
  expect(getHref(page, "Upload the Commercial Invoice")).toBe(hash);
  expect(page.all(`input${hash}`)).toHaveLength(1);
  expect(page.text).toContain("KES 12,500.50, due 4 May 2030. At the bank");
  expect(page.text).toMatch(/Waiting for you\. Upload the .*\. Pay the Duties & Taxes by 4 May 2030\./);
  const complete = await browser.open(rice.portal);
  expect(complete.text).toContain("With us. We have your documents, and we start work within one working day.");
  expect(complete.text).toContain("The packing list names all packages");
  // The page shows the accepted file types only until every document has a file.
  expect(complete.text).not.toContain("Maximum 10 MB");
});

test("Until the release of the cargo, a shipment's page and print form show its place and free storage, emphasised on the last two days.", async () => {
  const { id, portal } = await newShipment(app, client, "Stored");
  const openPrintForm = async () => (await client.browser.open(`${portal}/print`)).text;
  const listTexts = async () =>
    (await client.browser.open(portal))
      .all("main p")
      .filter((element) => /^Arrived at/.test(getText(element)))
      .map((element) => ({ text: getText(element), isUrgent: element.classList.contains("text-attention") }));
  expect([await listTexts(), await openPrintForm()]).toEqual([[], expect.not.stringContaining("Free storage")]);
  const cited = String.raw`You pay for storage from .*\. Source, as of 22 December 2025: `;
  for (const [storage_location, cargo, daysAgo, isUrgent, text] of [
    [
      "mombasa",
      "container-20",
      0,
      false,
      `^Arrived at Mombasa port on .* Free at the port until .*, 4 days left. ${cited}`,
    ],
    [
      "nairobi",
      "container-40",
      2,
      true,
      "^Arrived at Nairobi ICD on .* Free at the Nairobi depot until .*, 2 days left.",
    ],
    ["entebbe-airport", "air", 2, false, "^Arrived at Entebbe airport on .* Ask us for the free days.$"],
    ["mombasa", "vehicle", 9, false, "^Arrived at Mombasa port on .* Ask us for the free days.$"],
  ] as const) {
    const day = dayInEastAfrica(new Date(Date.now() - daysAgo * 86_400_000));
    const free_storage_ends_on = calculateFreeStorageEnd(storage_location, cargo, day) ?? undefined;
    resultOrThrow(await saveArrival(app.company, id, { storage_location, cargo, day, free_storage_ends_on }, {}));
    const texts = await listTexts();
    expect([cargo, texts]).toEqual([cargo, [{ text: expect.stringMatching(new RegExp(text)), isUrgent }]]);
    expect(await openPrintForm()).toContain(`Free storage ${texts[0]?.text}`);
  }
  await setStage(id, 9);
  expect([await listTexts(), await openPrintForm()]).toEqual([[], expect.not.stringContaining("Free storage")]);
});

test("No portal page contains a password, token, key or unnecessary account data.", async () => {
  const session = client.browser.cookies.get("session") ?? "";
  const tokens: Record<string, string> = JSON.parse(
    Buffer.from(session.replace(/^base64-/, ""), "base64url").toString(),
  );
  const pages = [await client.browser.open("/portal")];
  pages.push(await parsePage(await client.browser.post("/portal/new", { name: "x" })));
  for (const { html } of pages) {
    for (const secret of [tokens.access_token, tokens.refresh_token, session, process.env.SUPABASE_SECRET_KEY]) {
      expect(secret?.length).toBeGreaterThan(10);
      expect(html).not.toContain(secret);
    }
    expect(html).not.toMatch(/sb_(publishable|secret)_/);
    expect(html).not.toMatch(/user_metadata|app_metadata|identities|confirmed_at|last_sign_in_at|authenticated/);
  }
});
