import http from "node:http";
import process from "node:process";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import {
  allDocuments,
  expectRejectedForm,
  newClient,
  newShipment,
  newShipments,
  successToast,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { setAwb } from "../support/service-role.ts";
import {
  closeAccount,
  correctStage,
  moveShipment,
  resultOrThrow,
  sendNote,
  setCharge,
  setChargePaid,
} from "../support/staff-actions.ts";
import {
  createPdf,
  expectNoInternals,
  type FormValues,
  getFieldValue,
  getTestApp,
  getText,
  noStorePattern,
  origin,
  type ParsedPage,
  parsePage,
  startTestSite,
  type TestBrowser,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let client: Awaited<ReturnType<typeof newClient>>;
let stranger: Awaited<ReturnType<typeof newClient>>;
/** The stranger's one shipment. */
let secret: string;
/** The database itself: time passes there. */
let sql: postgres.Sql;

beforeAll(async () => {
  app = await getTestApp();
  sql = postgres(process.env.TESTS_DATABASE_URL ?? "", { max: 1, onnotice: () => undefined });
  client = await newClient(app, "Finding Client");
  stranger = await newClient(app, "Strange Client");
  [secret = ""] = await newShipments(app, stranger, ["Secret cargo"]);
});
afterAll(() => sql.end());
afterEach(() => app.proxy.fail("none"));

/** The names in the list of shipments on a page. */
const listShipmentNames = (page: ParsedPage) =>
  page.all("main section[aria-labelledby=shipments-title] li a").map((link) => getText(link.querySelector("span")));

/** Where a link with these words leads. */
const getHref = (page: ParsedPage, text: string) =>
  page
    .all("main a")
    .find((link) => getText(link) === text)
    ?.getAttribute("href");

/** Fills the search form in and sends it, as a browser sends a form that changes nothing. */
async function searchShipments(typed: Record<string, string>, browser = client.browser): Promise<ParsedPage> {
  const { action, fields } = (await browser.open("/portal")).form("Find");
  return browser.open(`${action}?${new URLSearchParams({ ...(fields as Record<string, string>), ...typed })}`);
}

/** The rows of a downloaded table, without its head. */
async function parseCsv(answer: Response): Promise<string[][]> {
  const text = await answer.text();
  const lines = text.split("\r\n").slice(1, -1);
  return lines.map((line) =>
    [...line.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell = ""]) => cell.replaceAll('""', '"')),
  );
}

describe("finding a shipment", () => {
  const odd = "50% off_season, (a.b) {c} 'd' \"e\" \\ null";
  let ids: Record<string, string>;
  beforeAll(async () => {
    const names = ["Tea to Mombasa", "Green tea", "Pumps for Juba", odd, "Rice"];
    const made = await newShipments(app, client, names);
    ids = Object.fromEntries(names.map((name, index) => [name, made[index] ?? ""]));
    await setAwb(app.company, ids["Pumps for Juba"] ?? "", "MSKU-7781");
    resultOrThrow(await correctStage(app.company, ids["Green tea"] ?? "", { stage: 3, reason: "It is there" }, {}));
    resultOrThrow(
      await correctStage(app.company, ids["Pumps for Juba"] ?? "", { stage: 10, reason: "It is over" }, {}),
    );
    for (const document of allDocuments) await uploadDocument(client.browser, `/portal/${ids.Rice}`, document);
  });

  test("is by its name, its AWB/BL, the beginning of its number, its stage and whose move it is", async () => {
    const found = async (typed: Record<string, string>) => listShipmentNames(await searchShipments(typed)).sort();
    expect(await found({ q: "TEA" })).toEqual(["Green tea", "Tea to Mombasa"]);
    expect(await found({ q: " tea " })).toEqual(["Green tea", "Tea to Mombasa"]);
    expect(await found({ q: "msku-77" })).toEqual(["Pumps for Juba"]);
    expect(await found({ q: (ids.Rice ?? "").slice(0, 8) })).toEqual(["Rice"]);
    expect(await found({ q: (ids.Rice ?? "").toUpperCase() })).toEqual(["Rice"]);
    expect(await found({ stage: "3" })).toEqual(["Green tea"]);
    expect(await found({ q: "tea", stage: "1" })).toEqual(["Tea to Mombasa"]);
    expect(await found({ waiting: "nobody" })).toEqual(["Pumps for Juba"]);
    expect(await found({ waiting: "company" })).toEqual(["Rice"]);
    expect(await found({ waiting: "client", q: "tea", stage: "3" })).toEqual(["Green tea"]);
    expect(await found({})).toHaveLength(5);
  });

  test("keeps in the form what was asked for, and says so when there is none", async () => {
    const page = await searchShipments({ q: "rhinoceros", stage: "7", waiting: "company" });
    expect([page.status, listShipmentNames(page)]).toEqual([200, []]);
    expect(page.text).toContain("No shipment matches.");
    expect(page.text).not.toContain("You have no shipments yet");
    expect(page.value("q")).toBe("rhinoceros");
    const chosen = (name: string) => page.all(`select[name=${name}]`).map((field) => getFieldValue(field));
    expect([chosen("stage"), chosen("waiting")]).toEqual([["7"], ["company"]]);
    expect(getHref(page, "Download as CSV")).toBe("/portal/shipments.csv?q=rhinoceros&stage=7&waiting=company");
  });

  test("takes every mark literally: it finds the name that has it, and no other", async () => {
    for (const q of ["%", "_", "'", '"', ")", ",", ".", "\\", "{c}", "(a.b)", "null", "% off_", "'d' \"e\" \\"])
      expect([q, listShipmentNames(await client.browser.open(`/portal?${new URLSearchParams({ q })}`))]).toEqual([
        q,
        [odd],
      ]);
  });

  test.each([
    ["a statement", "'; drop table public.shipments; --"],
    ["a condition", "' or 1=1 or name like '"],
    ["a filter", "name.eq.Rice),or(user_id.neq.0"],
    ["an operator", "neq.Rice"],
    ["a pattern", "%%%__%"],
    ["a list", "{Rice,Tea}"],
    ["a number", "12345"],
    ["a truth", "true"],
    ["a page", "<script>alert(1)</script>"],
    ["direction marks", "\u202eeciR\u2066"],
    ["half a character", `${"a".repeat(99)}🚢`],
    ["5 KB", "x".repeat(5000)],
    ["5 KB of marks", "%_\\',)(".repeat(700)],
  ])("by %s finds nothing and breaks nothing", async (_what, q) => {
    const page = await client.browser.open(`/portal?${new URLSearchParams({ q })}`);
    expect([page.status, listShipmentNames(page)]).toEqual([200, []]);
    expect(page.text).toContain("No shipment matches.");
    expectNoInternals(page);
    expect(page.html).not.toContain("<script>alert");
    const table = await client.browser.get(`/portal/shipments.csv?${new URLSearchParams({ q })}`);
    expect([table.status, await parseCsv(table)]).toEqual([200, []]);
  });

  test("by what makes no sense is by nothing", async () => {
    for (const search of ["q=%00", "q=%20%00%20", "stage=11", "stage=-1", "stage=1.5", "stage=x", "waiting=toString"])
      expect([search, listShipmentNames(await client.browser.open(`/portal?${search}`)).length]).toEqual([search, 5]);
    expect(listShipmentNames(await client.browser.open("/portal?q=Ri%00ce"))).toEqual(["Rice"]);
    for (const search of ["q=%ff", "q=%", "q=a&q=b", "q[]=a", "stage=3&stage=1"])
      expect([search, (await client.browser.get(`/portal?${search}`)).status]).toEqual([search, 200]);
  });

  test("shows nobody another client's, whatever the address asks for", async () => {
    const searches = [
      "q=Secret",
      `q=${secret}`,
      `q=${secret.slice(0, 8)}`,
      "q=%25",
      `q=${encodeURIComponent(stranger.email)}`,
      `opened=${secret}`,
      `user_id=${stranger.id}`,
      `caller=${stranger.id}`,
      "waiting=client' or 'a'='a",
      "stage=1) or (1=1",
      "page=-1",
      "check=1",
    ];
    for (const search of searches) {
      for (const address of [`/portal?${search}`, `/portal.data?${search}`, `/portal/shipments.csv?${search}`]) {
        const text = await (await client.browser.get(address)).text();
        expect([address, text.includes("Secret cargo")]).toEqual([address, false]);
      }
    }
    expect((await client.browser.get(`/portal/${secret}?q=Secret`)).status).toBe(404);
    expect(listShipmentNames(await searchShipments({ q: "Secret" }, stranger.browser))).toEqual(["Secret cargo"]);
  });
});

test("the pages of what was found lead to each other, and its rows keep it beside an open shipment", async () => {
  const many = await newClient(app, "Many Shipments");
  await newShipments(app, many, ["Other"]);
  await sql`insert into shipments (user_id, name, created_at)
    select ${many.id}, 'Box ' || n, now() + n * interval '1 second' from generate_series(1, 21) as n`;
  const first = await searchShipments({ q: "box", waiting: "client" }, many.browser);
  expect(listShipmentNames(first)).toEqual(Array.from({ length: 20 }, (_, index) => `Box ${21 - index}`));
  expect(getHref(first, "Older")).toBe("/portal?q=box&waiting=client&page=2");
  const second = await many.browser.open(getHref(first, "Older") ?? "");
  expect([listShipmentNames(second), getHref(second, "Older")]).toEqual([["Box 1"], undefined]);
  expect(second.value("q")).toBe("box");
  expect(getHref(second, "Newer")).toBe("/portal?q=box&waiting=client");
  expect(getHref(second, "Download as CSV")).toBe("/portal/shipments.csv?q=box&waiting=client");

  const [row] = second.all("main section[aria-labelledby=shipments-title] li a");
  const address = row?.getAttribute("href") ?? "";
  expect(address).toMatch(/^\/portal\/[0-9a-f-]{36}\?q=box&waiting=client&page=2$/);
  const opened = await many.browser.open(address);
  expect([opened.h1, listShipmentNames(opened), getHref(opened, "Newer")]).toEqual([
    "Box 1",
    ["Box 1"],
    "/portal?q=box&waiting=client",
  ]);
  expect(opened.all("main [aria-current=page]").map((link) => link.getAttribute("href"))).toEqual([address]);
  // Who has to log in first comes back to the same place.
  expect((await app.browser().get(address)).headers.get("Location")).toBe(`/login?next=${encodeURIComponent(address)}`);
  const past = await many.browser.open("/portal?q=box&page=3");
  expect(past.text).toContain("There are no older shipments.");
});

describe("what waits for a client", () => {
  let waiter: Awaited<ReturnType<typeof newClient>>;
  const all = "All 7 that are your move";
  const movesOn = (page: ParsedPage) => page.all("section[aria-label='Your move'] li a").length;
  beforeAll(async () => {
    waiter = await newClient(app, "Waiting Client");
    await newShipments(app, waiter, ["Box 1", "Box 2", "Box 3", "Box 4", "Box 5", "Box 6"]);
  });

  test("is six shipments at most, and a link to all of them where there are more", async () => {
    const six = await waiter.browser.open("/portal");
    expect([movesOn(six), six.text.includes("that are your move")]).toEqual([6, false]);
    const [closed = ""] = await newShipments(app, waiter, ["Box 7", "Closed"]).then((ids) => ids.slice(1));
    resultOrThrow(await correctStage(app.company, closed, { stage: 10, reason: "It is over" }, {}));
    const seven = await waiter.browser.open("/portal");
    expect([movesOn(seven), getHref(seven, all)]).toEqual([6, "/portal?waiting=client"]);
    const found = await waiter.browser.open(getHref(seven, all) ?? "");
    expect(listShipmentNames(found).sort()).toEqual([1, 2, 3, 4, 5, 6, 7].map((number) => `Box ${number}`));
  });

  test("gives way, with the welcome, to what somebody looks for", async () => {
    const look = (page: ParsedPage) => [
      page.text.includes("Welcome"),
      page.text.includes("Choose a"),
      movesOn(page) > 0,
    ];
    for (const search of ["", "?page=1", "?page=2", "?q=&stage=&waiting=", "?q=+"])
      expect([search, look(await waiter.browser.open(`/portal${search}`))]).toEqual([search, [true, true, true]]);
    for (const search of ["?q=box", "?q=rhinoceros", "?stage=1", "?waiting=client", "?waiting=nobody&page=2"]) {
      const page = await waiter.browser.open(`/portal${search}`);
      expect([search, page.h1, look(page)]).toEqual([search, "My Shipments", [false, false, false]]);
      expect(() => page.form("Find")).not.toThrow();
    }
  });
});

describe("the table of shipments", () => {
  test("is a download of what the list finds, with cells that no spreadsheet runs", async () => {
    const exporter = await newClient(app, "Exporting Client");
    const names = ["=1+1", "+254700", "-2+3", "@SUM(A1)", '=HYPERLINK("http://x")', "＝1+1", 'Plain, "quoted"'];
    const made = await newShipments(app, exporter, names);
    await setAwb(app.company, made[6] ?? "", "=cmd|' /C calc'!A0");
    const answer = await exporter.browser.get("/portal/shipments.csv");
    expect(answer.headers.get("Content-Type")).toBe("text/csv; charset=utf-8");
    expect(answer.headers.get("Content-Disposition")).toBe('attachment; filename="shipments.csv"');
    expect(answer.headers.get("Cache-Control")).toBe("private, no-store");
    const rows = await parseCsv(answer);
    expect(rows.map(([, name]) => name).sort()).toEqual(
      [...names.slice(0, 6).map((name) => `'${name}`), 'Plain, "quoted"'].sort(),
    );
    for (const cell of rows.flat()) expect(cell).not.toMatch(/^\s*[=+\-@\t\r]/);
    const [quoted] = await parseCsv(await exporter.browser.get("/portal/shipments.csv?q=plain"));
    expect(quoted?.slice(0, 7)).toEqual([
      made[6],
      'Plain, "quoted"',
      "'=cmd|' /C calc'!A0",
      "",
      "1",
      "Client Onboarding",
      "Your move",
    ]);
    expect(await parseCsv(await exporter.browser.get("/portal/shipments.csv?waiting=nobody"))).toEqual([]);
  });

  test("has its times in East Africa Time, as spreadsheets sort them, and says so in its heading", async () => {
    const timed = await newClient(app, "Timed Client");
    await sql`insert into shipments (user_id, name, created_at, changed_at)
      values (${timed.id}, 'At night', '2026-02-28T21:04:59.9Z', '2026-12-31T23:30:00Z')`;
    const answer = await timed.browser.get("/portal/shipments.csv");
    const [head] = (await answer.clone().text()).split("\r\n");
    expect(head).toBe(
      '"Shipment","Name","AWB/BL","Containers","Stage","Status","Whose move","Opened (EAT)","Last change (EAT)"',
    );
    const [row] = await parseCsv(answer);
    expect(row?.slice(-2)).toEqual(["2026-03-01 00:04", "2027-01-01 02:30"]);
  });

  test("has every row once when there are more than one call brings, opened at the same moment", async () => {
    const large = await newClient(app, "Large Client");
    await sql`insert into shipments (user_id, name) select ${large.id}, 'Row ' || n from generate_series(1, 502) as n`;
    const rows = await parseCsv(await large.browser.get("/portal/shipments.csv"));
    expect(rows).toHaveLength(502);
    expect(new Set(rows.map(([id]) => id)).size).toBe(502);
    expect(await parseCsv(await large.browser.get("/portal/shipments.csv?q=row+501"))).toHaveLength(1);
  });

  test("is for who is logged in, and takes no form", async () => {
    const answer = await app.browser().get("/portal/shipments.csv?q=tea");
    expect([answer.status, answer.headers.get("Location")?.startsWith("/login"), await answer.text()]).toEqual([
      303,
      true,
      "",
    ]);
    expect((await client.browser.post("/portal/shipments.csv", {})).status).toBe(404);
  });

  test("is cut off, and does not end as if it were whole, when the session ends between two of its pages", async () => {
    const leaving = await newClient(app, "Leaving Client");
    await sql`insert into shipments (user_id, name) select ${leaving.id}, 'Row ' || n from generate_series(1, 502) as n`;
    const whole = await leaving.browser.get("/portal/shipments.csv");
    expect(await parseCsv(whole)).toHaveLength(502);
    const begun = await leaving.browser.get("/portal/shipments.csv");
    expect(begun.status).toBe(200);
    await sql`delete from auth.sessions where user_id = ${leaving.id}`;
    const end = await begun.text().then(
      () => "whole",
      () => "cut off",
    );
    expect(end).toBe("cut off");
  });

  test("is a page of words when the backend does not answer", async () => {
    app.proxy.fail(503, /portal_shipments_export/);
    const calls = await app.proxy.during(async () => {
      const page = await parsePage(await client.browser.get("/portal/shipments.csv"));
      expect([page.status, page.headers.get("Content-Disposition")]).toEqual([503, null]);
      expectNoInternals(page);
    });
    // Once, and again twice.
    expect(calls.filter((call) => call.includes("portal_shipments_export"))).toHaveLength(3);
  });
});

describe("a shipment's name and AWB/BL", () => {
  const awbOn = (page: ParsedPage) => /AWB\/BL (.*?) (Change|Share)/.exec(page.text)?.[1];

  test("are given when it is made, and a number that is too long keeps what was typed", async () => {
    const { browser } = client;
    const form = await browser.open("/portal/new");
    const typed = { name: "Solar panels", awb: "1".repeat(65) };
    const refused = await parsePage(await browser.submit(form, "Create Shipment", typed));
    expect([refused.status, refused.problems.map(({ text }) => text)]).toEqual([
      400,
      ["Use at most 64 characters for the AWB/BL."],
    ]);
    expect([refused.value("name"), refused.value("awb")]).toEqual([typed.name, typed.awb]);
    expect((await browser.submit(form, "Create Shipment", { name: "Solar", awb: "1\u202e2" })).status).toBe(400);
    const made = await browser.submit(refused, "Create Shipment", { awb: " 176-12345675 " });
    const page = await browser.follow(made);
    expect([page.h1, awbOn(page)]).toEqual(["Solar panels", "176-12345675"]);
    const none = await browser.follow(
      await browser.submit(await browser.open("/portal/new"), "Create Shipment", { name: "No number", awb: "" }),
    );
    expect(awbOn(none)).toBe("N/A");
  });

  test("are changed together while it is at stage 1", async () => {
    const { browser } = client;
    const { portal } = await newShipment(app, client, "Old name");
    const link = getHref(await browser.open(portal), "Change");
    expect(link).toBe(`${portal}/change`);
    const form = await browser.open(link ?? "");
    expect([form.value("name"), form.value("awb")]).toEqual(["Old name", ""]);
    const answer = await browser.submit(form, "Save", { name: "New name", awb: "MSKU-1" });
    expect(answer.headers.get("Location")).toBe(portal);
    const page = await browser.follow(answer);
    expect([page.h1, awbOn(page), page.toasts]).toEqual(["New name", "MSKU-1", successToast("Shipment changed")]);
    expect(listShipmentNames(page)).toContain("New name");
    await browser.submit(await browser.open(`${portal}/change`), "Save", { awb: "" });
    expect(awbOn(await browser.open(portal))).toBe("N/A");
  });

  test.each([
    ["no name", { name: "" }, "Enter a name for the shipment."],
    ["blanks as its name", { name: "   " }, "Enter a name for the shipment."],
    ["a name of 121 characters", { name: "n".repeat(121) }, "Use at most 120 characters for the name."],
    ["a number of 65 characters", { awb: "9".repeat(65) }, "Use at most 64 characters for the AWB/BL."],
    ["a name of two lines", { name: "a\u0007b" }, expect.stringMatching(/character/)],
  ])("are not changed to %s, and what was typed stays", async (_what, wrong, why) => {
    const { browser } = client;
    const { portal } = await newShipment(app, client, "Kept name");
    const typed = { name: "Typed name", awb: "Typed number", ...wrong };
    const page = await parsePage(await browser.submit(await browser.open(`${portal}/change`), "Save", typed));
    expect([page.status, page.title.startsWith("Error: "), page.problems.map(({ text }) => text)]).toEqual([
      400,
      true,
      [why],
    ]);
    expect(page.problems.map(({ id }) => page.has(id))).toEqual([true]);
    expect(page.value("awb")).toBe(typed.awb);
    expect(page.value("name").trim()).toBe(typed.name.trim());
    expect((await browser.open(portal)).h1).toBe("Kept name");
  });

  test("are not changed by a form of before, nor once it has moved on", async () => {
    const { browser } = client;
    const { id, portal } = await newShipment(app, client, "Moving on");
    const [first, second] = [await browser.open(`${portal}/change`), await browser.open(`${portal}/change`)];
    expect((await browser.submit(first, "Save", { name: "First" })).status).toBe(303);
    browser.cookies.delete("flash");
    const stale = await parsePage(await browser.submit(second, "Save", { name: "Second", awb: "S-2" }));
    const why = "This shipment has changed since you opened the form. Look at it again.";
    expect([stale.status, stale.toasts]).toEqual([
      409,
      [{ title: "Not changed", description: why, variant: "destructive" }],
    ]);
    expect([stale.value("name"), stale.value("awb")]).toEqual(["Second", "S-2"]);
    expect([stale.saidOf("name"), stale.saidOf("awb")]).toEqual([["Stored: First"], ["Stored: none"]]);
    const overwritten = await browser.follow(await browser.submit(stale, "Save", { name: "First", awb: "S-3" }));
    expect([overwritten.h1, awbOn(overwritten)]).toEqual(["First", "S-3"]);
    // What is typed as it is stored needs no such words.
    const same = await parsePage(await browser.submit(second, "Save", { name: "First", awb: "S-4" }));
    expect([same.saidOf("name"), same.saidOf("awb")]).toEqual([[], ["Stored: S-3"]]);
    for (const expectedVersion of ["", "x", "-1"])
      expect((await browser.post(`${portal}/change`, { name: "x", expectedVersion })).status).toBe(409);

    const open = await browser.open(`${portal}/change`);
    resultOrThrow(await moveShipment(app.company, id, { despiteMissing: true }, {}));
    const late = await parsePage(await browser.submit(open, "Save", { name: "Too late" }));
    const words = "This shipment has moved on: call us to change its name or its numbers.";
    expect([late.status, late.toasts.map(({ description }) => description)]).toEqual([409, [words]]);
    const page = await browser.open(portal);
    expect([page.h1, getHref(page, "Change")]).toEqual(["First", undefined]);
    const moved = await browser.open(`${portal}/change`);
    expect(moved.text).toContain(words);
    expect(moved.all("main form, main input")).toEqual([]);
  });

  test("are nobody else's to see or to change", async () => {
    const { portal } = await newShipment(app, client, "Not yours");
    const { fields } = (await client.browser.open(`${portal}/change`)).form("Save");
    for (const path of [
      `${portal}/change`,
      "/portal/x/change",
      "/portal/0b51e3a8-0000-4000-8000-000000000000/change",
    ]) {
      const page = await stranger.browser.open(path);
      expect([path, page.status, page.text.includes("Not yours")]).toEqual([path, 404, false]);
      const typed = { ...(fields as Record<string, string>), name: "Mine now" };
      expect([path, (await stranger.browser.post(path, typed)).status]).toEqual([path, 404]);
    }
    expect((await app.browser().get(`${portal}/change`)).headers.get("Location")).toContain("/login");
    expect((await client.browser.open(portal)).h1).toBe("Not yours");
  });
});

describe("a shipment beside a list that is searched keeps the list so", () => {
  const filter = "?q=pump&waiting=client";
  let portal: string;
  beforeAll(async () => {
    ({ portal } = await newShipment(app, client, "Pump for Lamu", ["Packing List"]));
  });
  /** Where a button of a page leads, without the toast of the next page. */
  async function after(page: ParsedPage, button: string, typed: FormValues = {}) {
    const answer = await client.browser.submit(page, button, typed);
    client.browser.cookies.delete("flash");
    return answer.headers.get("Location");
  }
  const page = () => client.browser.open(`${portal}${filter}`);

  test("when a file is sent or taken back", async () => {
    expect(await after(await page(), "Upload the Commercial Invoice", { file: createPdf() })).toBe(
      `${portal}${filter}`,
    );
    expect(await after(await page(), "Take it back: the Packing List")).toBe(`${portal}${filter}`);
    expect((await client.browser.open(portal)).text).toContain("Packing List Not uploaded");
  });

  test("when a payment is asked for", async () => {
    expect(await after(await page(), "Pay IDF Fee")).toBe(`${portal}${filter}`);
  });

  test("when it is changed, and when that is cancelled", async () => {
    const form = await client.browser.open(getHref(await page(), "Change") ?? "");
    expect(getHref(form, "Cancel")).toBe(`${portal}${filter}`);
    const refused = await parsePage(await client.browser.submit(form, "Save", { name: "" }));
    expect(getHref(refused, "Cancel")).toBe(`${portal}${filter}`);
    expect(await after(refused, "Save", { name: "Pump for Manda" })).toBe(`${portal}${filter}`);
  });

  test("when a link to it is made and ended, and when that is closed", async () => {
    const share = `${portal}/share${filter}`;
    expect(getHref(await page(), "Share")).toBe(share);
    expect(await after(await client.browser.open(share), "Make a link")).toBe(share);
    const made = await client.browser.open(share);
    expect(getHref(made, "Close")).toBe(`${portal}${filter}`);
    expect(await after(made, "End this link")).toBe(share);
  });
});

/** A shipment with something of everything: files, charges, history and a note. */
async function newFullShipment(name: string) {
  const shipment = await newShipment(app, client, name);
  await uploadDocument(client.browser, shipment.portal, "Commercial Invoice", createPdf("secret-invoice.pdf", 5000));
  const charge = { item: "duties", amount: 12500.5, currency: "KES", due_on: "2030-05-04", note: "At the bank" };
  resultOrThrow(await setCharge(app.company, shipment.id, charge, {}));
  resultOrThrow(await setChargePaid(app.company, shipment.id, { item: "duties", paid: true }, {}));
  resultOrThrow(
    await setCharge(app.company, shipment.id, { ...charge, item: "idf-fee", amount: 700, note: undefined }, {}),
  );
  resultOrThrow(
    await moveShipment(
      app.company,
      shipment.id,
      { location: "Mombasa port", note: "Ask for Otieno", despiteMissing: true },
      {},
    ),
  );
  resultOrThrow(await sendNote(app.company, shipment.id, "Bring your passport", {}));
  await setAwb(app.company, shipment.id, "MSKU-9001");
  return shipment;
}

/** How many bytes the body of an answer has as it crosses the line. */
function measureBytes(port: number, path: string, encoding: string): Promise<number> {
  const headers = { "Accept-Encoding": encoding };
  return new Promise((resolve, reject) => {
    const request = http.get({ port, path, headers, agent: false }, (response) => {
      expect([encoding, response.statusCode]).toEqual([encoding, 200]);
      expect(response.headers["content-encoding"] ?? "identity").toBe(encoding);
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on("end", () => resolve(bytes));
    });
    request.on("error", reject);
  });
}

describe("the print form of a shipment", () => {
  test("has everything of it on a page with nothing to press and no script", async () => {
    const { id, portal } = await newFullShipment("Turbines for Kisumu");
    const link = getHref(await client.browser.open(portal), "Print form");
    expect(link).toBe(`${portal}/print`);
    const page = await client.browser.open(link ?? "");
    expect([page.status, page.h1, page.title]).toEqual([
      200,
      "Turbines for Kisumu",
      expect.stringContaining(`Turbines for Kisumu (${id.slice(0, 8)})`),
    ]);
    expect(page.all("nav, header, footer, form, button, input, a, script, dialog, iframe")).toEqual([]);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    const told = [
      id,
      "AWB/BL MSKU-9001",
      `Client ${client.name}`,
      "2 of 10, Document Verification",
      "Upload the Packing List",
      "Commercial Invoice Uploaded, we check it next. secret-invoice.pdf, 5 KB,",
      "Packing List Not uploaded",
      "Insurance Certificate Not uploaded",
      "Bill of Lading Not uploaded",
      "IDF Fee KES 700.00, due 4 May 2030.",
      "Duties & Taxes KES 12,500.50, Paid. At the bank",
      "Pay as our signed invoice says. In doubt, call +254 700 000 001.",
      "Document Verification, Mombasa port, Ask for Otieno",
      "Bring your passport",
      "As it stood on",
    ];
    expect(told.filter((one) => !page.text.includes(one))).toEqual([]);
  });

  test("is its owner's alone", async () => {
    const { portal } = await newShipment(app, client, "Private print");
    for (const path of [`${portal}/print`, "/portal/x/print", "/portal/0b51e3a8-0000-4000-8000-000000000000/print"]) {
      const page = await stranger.browser.open(path);
      expect([path, page.status, page.html.includes("Private print")]).toEqual([path, 404, false]);
    }
    expect((await app.browser().get(`${portal}/print`)).headers.get("Location")).toContain("/login");
    expect((await client.browser.post(`${portal}/print`, {})).status).toBe(404);
  });
});

describe("a link to share a shipment", () => {
  let shipment: Awaited<ReturnType<typeof newFullShipment>>;
  let site: Awaited<ReturnType<typeof startTestSite>>;
  beforeAll(async () => {
    shipment = await newFullShipment("Pumps for Eldoret");
    site = await startTestSite();
  });
  afterAll(() => site.close());

  const sharePage = (browser: TestBrowser = client.browser, { portal } = shipment) => browser.open(`${portal}/share`);
  /** The addresses of the links on the page, the oldest first. */
  const linksOn = (page: ParsedPage) =>
    page.all("main input[readonly]").map((field) => field.getAttribute("value") ?? "");
  const pathOf = (address: string) => new URL(address).pathname;
  /** Makes a link and returns its path. */
  async function makeLink(of = shipment): Promise<string> {
    const before = linksOn(await sharePage(client.browser, of));
    const page = await client.browser.follow(
      await client.browser.submit(await sharePage(client.browser, of), "Make a link"),
    );
    const made = linksOn(page).filter((link) => !before.includes(link));
    expect(made).toHaveLength(1);
    return pathOf(made[0] ?? "");
  }

  test("is made with one press, shown again later, and sent by WhatsApp with the reference", async () => {
    expect(getHref(await client.browser.open(shipment.portal), "Share")).toBe(`${shipment.portal}/share`);
    const empty = await sharePage();
    expect(linksOn(empty)).toEqual([]);
    const page = await client.browser.follow(await client.browser.submit(empty, "Make a link"));
    expect(page.toasts).toEqual(successToast("The link is made"));
    const [address = ""] = linksOn(page);
    expect(address).toMatch(new RegExp(`^${origin}/s/[\\w-]{22,}$`));
    expect(linksOn(await sharePage())).toEqual([address]);
    const chat = new URL(getHref(page, "Send by WhatsApp") ?? "");
    expect(chat.origin + chat.pathname).toBe("https://wa.me/");
    expect(chat.searchParams.get("text")).toBe(
      `Pumps for Eldoret (${shipment.id.slice(0, 8)}), where it is now: ${address}`,
    );
    expect(getHref(page, "See what they see")).toBe(address);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  });

  test("shows the name, the stage and the history to who has it, and nothing of documents, charges or people", async () => {
    const page = await app.browser().open(await makeLink());
    expect([page.status, page.h1]).toEqual([200, "Pumps for Eldoret"]);
    expect(page.text).toContain("Document Verification Stage 2 of 10. Last change: ");
    expect(page.text).toMatch(/Document Verification Mombasa port, \d{1,2} \w+ \d{4}, \d\d:\d\d EAT/);
    const hidden = [
      "invoice",
      "Packing",
      "KES",
      "12,500",
      "bank",
      "Otieno",
      "passport",
      "MSKU",
      "Commercial",
      "duties",
      "note",
    ];
    hidden.push(client.email, client.name, client.id, shipment.id, "Finding");
    expect(hidden.filter((one) => page.html.toLowerCase().includes(one.toLowerCase()))).toEqual([]);
    expect(page.all("script, form, button, nav")).toEqual([]);
  });

  test("and the print form carry the rules of paper in themselves; other pages have them in the stylesheet", async () => {
    const path = await makeLink();
    const browser = site.browser();
    for (const [name, value] of client.browser.cookies) browser.cookies.set(name, value);
    /** Whether the rules within a page have those of paper, and where its stylesheets are for. */
    async function paperOf(address: string) {
      const page = await browser.open(address);
      const rules = page
        .all("style")
        .map((style) => style.text)
        .join("");
      expect([address, page.status, rules.includes("--color-ink")]).toEqual([address, 200, true]);
      const sheets = new Set(page.all("link[rel=stylesheet]").map((link) => link.getAttribute("media")));
      return { paper: rules.includes("@media print{"), sheets };
    }
    for (const address of [path, `${shipment.portal}/print`])
      expect([address, await paperOf(address)]).toEqual([address, { paper: true, sheets: new Set() }]);
    for (const address of ["/", "/portal", shipment.portal, "/portal/account"])
      expect([address, await paperOf(address)]).toEqual([address, { paper: false, sheets: new Set(["print"]) }]);
  });

  test("is not found by search engines, tells nobody where one came from, and is kept by nobody", async () => {
    for (const path of [await makeLink(), `/s/${"A".repeat(27)}`]) {
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

  test("answers with at most 8 KB, with a long name and thirty places", async () => {
    const long = await newShipment(app, client, "Möbel für die Botschaft, ".repeat(5).slice(0, 119));
    await sql`insert into tracking_events (shipment_id, status, location, created_at)
      select ${long.id}, 'Cargo Tracking ' || n, 'Weighbridge ' || md5(n::text), now() - n * interval '1 hour'
      from generate_series(1, 60) as n`;
    const path = await makeLink(long);
    const sizes = [];
    for (const encoding of ["br", "gzip", "identity"])
      sizes.push([encoding, await measureBytes(site.port, path, encoding)]);
    expect(
      sizes.map(([encoding, bytes]) => [encoding, Number(bytes) <= (encoding === "identity" ? 16_384 : 8192)]),
    ).toEqual([
      ["br", true],
      ["gzip", true],
      ["identity", true],
    ]);
  });

  test("that is wrong, cut off or ended is the same page as any other", async () => {
    const own = await newShipment(app, client, "Links of a while");
    const path = await makeLink(own);
    const past = await makeLink(own);
    const closed = await newClient(app, "Closing Client");
    const theirs = await newShipment(app, closed, "Of a closed account");
    const made = await closed.browser.follow(
      await closed.browser.submit(await sharePage(closed.browser, theirs), "Make a link"),
    );
    const [ofClosed = ""] = linksOn(made);
    expect((await app.browser().get(pathOf(ofClosed))).status).toBe(200);
    resultOrThrow(await closeAccount(app.company, closed.id, "Closed"));
    const links = (await sharePage(client.browser, own)).all("main [name=link]");
    const link = links.at(-1)?.getAttribute("value") ?? "";
    await sql`update private.share_links set expires_at = now() - interval '1 second' where id = ${link}`;
    const wrong = [
      `/s/${"A".repeat(27)}`,
      path.slice(0, -1),
      `${path}A`,
      "/s/x",
      "/s/%00",
      "/s/..%2fportal",
      `/s/${"x".repeat(3000)}`,
      `/s/${link}`,
      past,
      pathOf(ofClosed),
    ];
    const pages = await Promise.all(wrong.map((one) => app.browser().open(one)));
    const look = ({ status, title, text }: ParsedPage) => ({ status, title, text });
    for (const [index, page] of pages.entries())
      expect([wrong[index], look(page)]).toEqual([
        wrong[index],
        {
          status: 404,
          title: pages[0]?.title,
          text:
            "Mizigo Clearing & Forwarding This link opens nothing It has ended, or it is not complete. " +
            "Ask who sent it to you for another one, or call +254 700 000 001.",
        },
      ]);
    expect((await app.browser().get(path)).status).toBe(200);
    expect(linksOn(await sharePage(client.browser, own)).map(pathOf)).toEqual([path]);
  });

  test("ends when its owner ends it, and by nobody else", async () => {
    const own = await newShipment(app, client, "Ended");
    const form = await sharePage(client.browser, own);
    const made = await client.browser.follow(await client.browser.submit(form, "Make a link"));
    const path = pathOf(linksOn(made)[0] ?? "");
    const page = await sharePage(client.browser, own);
    const { fields } = page.form("End this link");
    const theirs = `/portal/${secret}/share`;
    await stranger.browser.post(theirs, fields as Record<string, string>);
    await stranger.browser.post(`${own.portal}/share`, fields as Record<string, string>);
    expect((await app.browser().get(path)).status).toBe(200);
    const ended = await client.browser.follow(await client.browser.submit(page, "End this link"));
    expect([ended.toasts, linksOn(ended)]).toEqual([successToast("Link ended"), []]);
    expect((await app.browser().get(path)).status).toBe(404);
    expect((await client.browser.submit(page, "End this link")).status).toBe(303);
    client.browser.cookies.delete("flash");
    // Nor does the form that made it make it again.
    const again = await parsePage(await client.browser.submit(form, "Make a link"));
    expectRejectedForm(again, 409, "The link of this form has ended. Open this page again to make another one.");
    expect([(await app.browser().get(path)).status, linksOn(again)]).toEqual([404, []]);
    for (const link of ["", "x", "1' or '1'='1"])
      expect(
        (await client.browser.post(`${own.portal}/share`, { intent: "revoke-link", form: "revoke-link", link })).status,
      ).toBe(400);
  });

  test("is one of five at most, also of many made at once, and the same form sent twice makes one", async () => {
    const own = await newShipment(app, client, "Five links");
    const form = await sharePage(client.browser, own);
    await Promise.all([1, 2, 3].map(() => client.browser.submit(form, "Make a link")));
    expect(linksOn(await sharePage(client.browser, own))).toHaveLength(1);
    const forms = await Promise.all([1, 2, 3, 4, 5, 6, 7].map(() => sharePage(client.browser, own)));
    const answers = await Promise.all(forms.map((one) => client.browser.submit(one, "Make a link")));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 303, 303, 303, 409, 409, 409]);
    client.browser.cookies.delete("flash");
    const page = await sharePage(client.browser, own);
    expect(linksOn(page)).toHaveLength(5);
    expect(new Set(linksOn(page)).size).toBe(5);
    expect(page.text).toContain("Five links, as many as there can be.");
    expect(() => page.form("Make a link")).toThrow("No button");
    const refused = await parsePage(
      await client.browser.submit(form, "Make a link", { idempotencyKey: crypto.randomUUID() }),
    );
    expectRejectedForm(refused, 409, "This shipment has five links, as many as there can be. End one first.");
    await client.browser.submit(page, "End this link");
    client.browser.cookies.delete("flash");
    expect((await client.browser.submit(await sharePage(client.browser, own), "Make a link")).status).toBe(303);
  });

  test("is its owner's to make, and seen on no page of a stranger's", async () => {
    const own = await newShipment(app, client, "Mine to share");
    const { fields } = (await sharePage(client.browser, own)).form("Make a link");
    for (const path of [
      `${own.portal}/share`,
      "/portal/x/share",
      "/portal/0b51e3a8-0000-4000-8000-000000000000/share",
    ]) {
      expect([path, (await stranger.browser.get(path)).status]).toEqual([path, 404]);
      expect([path, (await stranger.browser.post(path, fields as Record<string, string>)).status]).toEqual([path, 404]);
    }
    expect((await app.browser().get(`${own.portal}/share`)).headers.get("Location")).toContain("/login");
    expect(linksOn(await sharePage(client.browser, own))).toEqual([]);
  });

  test("stands in no line of the log, and in no table as it is", async () => {
    const own = await newShipment(app, client, "Logged link");
    const lines: string[] = [];
    const spy = vi.spyOn(console, "log").mockImplementation((...said) => void lines.push(said.join(" ")));
    let token = "";
    try {
      const path = await makeLink(own);
      token = path.replace("/s/", "");
      for (const one of [path, `${path}x`, path]) await app.browser().get(one);
      await app.browser().post(path, { token });
      app.proxy.fail(500, /shared_shipment/);
      expect((await app.browser().get(path)).status).toBe(503);
      await expect.poll(() => lines.join("\n").match(/"route":"\/s\//g)).toHaveLength(5);
    } finally {
      spy.mockRestore();
    }
    expect(token).toMatch(/^[\w-]{27}$/);
    expect(lines.join("\n")).not.toContain(token.slice(0, 12));
    const tables = await sql`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('public', 'private', 'auth', 'storage')`;
    const holding = [];
    for (const { name } of tables) {
      const found = await sql.unsafe(`select from ${name} as row where strpos(row::text, $1) > 0 limit 1`, [token]);
      if (found.length > 0) holding.push(name);
    }
    expect([tables.length > 20, holding]).toEqual([true, []]);
  });
});
