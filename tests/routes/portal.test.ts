import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { anonymousClient } from "../../app/lib/supabase/client.server.ts";
import { companyDetails, storageTariff } from "../../app/models/content.server.ts";
import { getLastFreeDay } from "../../app/models/free-storage.ts";
import { advanceShipment, issueClientIds, setAwb, verifyDocumentByName } from "../support/service-role.ts";
import { correctStage, resultOrThrow, saveArrival, setCharge, setChargePaid } from "../support/staff-actions.ts";
import {
  createPdf,
  getTestApp,
  getText,
  logInToBackend,
  noStorePattern,
  type ParsedPage,
  parsePage,
  password,
  startTestSite,
  type TestBrowser,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let client: TestBrowser;
beforeAll(async () => {
  app = await getTestApp();
  client = app.browser();
  await client.signUpAndLogIn("Wanjiru Kamau");
});

const getShipmentId = (path: string) => path.replace("/portal/", "");
/** The shipments in the list of a page: name, short id and status as one line each. */
const listShipments = (page: ParsedPage) =>
  page
    .all("main section[aria-labelledby=shipments-title] li a")
    .map((link) => link.querySelectorAll("span").map(getText));

describe("the list of shipments", () => {
  test("says how to begin when there is none, and greets by the full name", async () => {
    const page = await client.open("/portal");
    expect(page.h1).toBe("My Shipments");
    expect(page.text).toContain("Welcome, Wanjiru Kamau.");
    expect(page.text).toContain('You have no shipments yet. Click "Create Shipment" to get started!');
    expect(listShipments(page)).toEqual([]);
    const [create] = page.all("main a").filter((link) => getText(link) === "Create Shipment");
    expect(create?.getAttribute("href")).toBe("/portal/new");
  });

  test("greets by the e-mail address who gave no name", async () => {
    const [clientId] = await issueClientIds(app.company, 1);
    const email = "nameless@client.example";
    await anonymousClient().auth.signUp({ email, password, options: { data: { client_id: clientId } } });
    const browser = app.browser();
    await browser.confirmEmail(email);
    await browser.logIn(email);
    expect((await browser.open("/portal")).text).toContain(`Welcome, ${email}.`);
  });

  test("looked at again is the same to the byte, for whoever it is for, until anything on it is another", async () => {
    const site = await startTestSite();
    onTestFinished(() => void site.close());
    const [one, other] = [site.browser(), site.browser()];
    await one.signUpAndLogIn("Achieng Otieno");
    await other.signUpAndLogIn("Mukasa Okello");
    const bodyOf = async (browser: TestBrowser, path = "/portal") => (await browser.get(path)).text();
    // Once with the reminder of the second factor.
    await one.get("/portal");
    const before = await bodyOf(one);
    expect(await bodyOf(one)).toBe(before);
    expect(before).toContain("Achieng Otieno");
    await other.get("/portal");
    for (const _again of [1, 2]) {
      const page = await bodyOf(other);
      expect(page).toContain("Mukasa Okello");
      expect(page).not.toContain("Achieng");
      expect(await bodyOf(one)).toBe(before);
    }
    await one.post("/actions/forgot-password", {});
    expect(await bodyOf(one)).toContain("Feature coming soon!");
    expect(await bodyOf(one)).toBe(before);
    await one.submit(await one.open("/portal"), "Use the light theme");
    expect(await bodyOf(one)).toContain('class="light"');
    expect(await bodyOf(one, "/portal?q=tea")).toContain('value="tea"');
    await one.createShipment("Tea");
    const head = await one.send(new Request("http://127.0.0.1:3000/portal", { method: "HEAD" }));
    expect([head.status, await head.text()]).toEqual([200, ""]);
    for (const encoding of ["br", "gzip", "identity"]) {
      const answer = await one.get("/portal", { "Accept-Encoding": encoding });
      expect(answer.headers.get("Content-Encoding") ?? "identity").toBe(encoding);
      expect(await answer.text()).toContain("Tea");
    }
  });

  test("shows name, the first 8 characters of the id and the status, newest first", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Lister");
    const older = await browser.createShipment("Older");
    const newer = await browser.createShipment("Newer");
    await advanceShipment(app.company, getShipmentId(older));
    const page = await browser.open("/portal");
    const line = (name: string, path: string, status: string) => {
      const short = getShipmentId(path).slice(0, 8);
      return expect.arrayContaining([name, short, status]);
    };
    expect(listShipments(page)).toEqual([
      line("Newer", newer, "Client Onboarding"),
      line("Older", older, "Document Verification"),
    ]);
    expect(
      page.all("main section[aria-labelledby=shipments-title] li a").map((link) => link.getAttribute("href")),
    ).toEqual([newer, older]);
    expect(page.text).toContain("Choose a shipment");
    expect(page.text).not.toContain("You have no shipments yet");
  });

  test("is cut into pages of 20, and each leads to the other", async () => {
    const browser = app.browser();
    const { id } = await logInToBackend(await browser.signUpAndLogIn("Many"));
    for (let index = 1; index <= 21; index += 1) {
      const { error } = await app.company.from("shipments").insert({ user_id: id, name: `Number ${index}` });
      expect(error).toBeNull();
    }
    const names = (page: ParsedPage) => listShipments(page).map(([name]) => name);
    const first = await browser.open("/portal");
    expect(names(first)).toEqual(Array.from({ length: 20 }, (_, index) => `Number ${21 - index}`));
    const link = (page: ParsedPage, text: string) => page.all("main a").find((one) => getText(one) === text);
    expect(link(first, "Newer")).toBeUndefined();
    const second = await browser.open(link(first, "Older")?.getAttribute("href") ?? "");
    expect(names(second)).toEqual(["Number 1"]);
    expect(link(second, "Older")).toBeUndefined();
    expect(names(await browser.open(link(second, "Newer")?.getAttribute("href") ?? ""))).toEqual(names(first));

    const last = await browser.open("/portal?page=3");
    expect(last.status).toBe(200);
    expect(last.text).toContain("There are no older shipments.");
    for (const odd of ["0", "-1", "1.5", "abc", "", "1e99", "2'--"]) {
      const page = await browser.open(`/portal?page=${encodeURIComponent(odd)}`);
      expect([page.status, names(page)], odd).toEqual([200, names(first)]);
    }
  });
});

describe("a shipment", () => {
  let path: string;
  beforeAll(async () => {
    path = await client.createShipment("Tea to Mombasa");
  });

  test("begins at stage 1 without AWB/BL, with four documents to upload and no history", async () => {
    const page = await client.open(path);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(page.h1).toBe("Tea to Mombasa");
    expect(page.title).toMatch(/^Tea to Mombasa · /);
    expect(page.text).toContain(`Shipment ${getShipmentId(path).slice(0, 8)}`);
    expect(page.text).toContain("AWB/BL N/A");
    expect(listStages(page)).toEqual(["Client Onboarding", "Stage 1/10"]);
    const [progress] = page.all("progress");
    expect([progress?.getAttribute("value"), progress?.getAttribute("max")]).toEqual(["1", "10"]);
    expect(listDocuments(page)).toEqual([
      ["Commercial Invoice", "Not uploaded", true],
      ["Packing List", "Not uploaded", true],
      ["Insurance Certificate", "Not uploaded", true],
      ["Bill of Lading", "Not uploaded", true],
    ]);
    expect(page.text).toContain("No tracking history yet.");
    // The stations on wide screens, and the list of stages on phones.
    expect(page.all("[aria-current=step]").map(getText)).toEqual(["Client Onboarding", "Client Onboarding"]);
  });

  test("shows each document's state: uploaded by the client, then verified by the company", async () => {
    const shipment = await client.createShipment("Documents");
    const upload = async (name: string) =>
      client.follow(await client.submit(await client.open(shipment), `Upload the ${name}`, { file: createPdf() }));
    await upload("Packing List");
    const uploaded = await upload("Bill of Lading");
    expect(uploaded.toasts).toEqual([
      { title: "Bill of Lading uploaded", description: "We check it next.", variant: "default" },
    ]);
    await verifyDocumentByName(app.company, getShipmentId(shipment), "Packing List");
    expect(listDocuments(await client.open(shipment))).toEqual([
      ["Commercial Invoice", "Not uploaded", true],
      ["Packing List", "Verified", false],
      ["Insurance Certificate", "Not uploaded", true],
      ["Bill of Lading", "Uploaded, we check it next", false],
    ]);
  });

  test("shows its stages and its history, newest first, in East Africa Time", async () => {
    const shipment = await client.createShipment("Moving");
    await advanceShipment(app.company, getShipmentId(shipment), "Nairobi");
    await advanceShipment(app.company, getShipmentId(shipment));
    await advanceShipment(app.company, getShipmentId(shipment), "Port of <Mombasa>");
    await setAwb(app.company, getShipmentId(shipment), "176-12345675");
    await expect(setAwb(app.company, getShipmentId(shipment), "176-12345675")).rejects.toThrow(
      "The shipment has these numbers already.",
    );
    const page = await client.open(shipment);
    expect(listStages(page)).toEqual(["Customs Declaration", "Stage 4/10"]);
    expect(page.text).toContain("AWB/BL 176-12345675");
    expect(page.text).not.toContain("No tracking history yet.");
    const events = page.all("main li").filter((item) => item.querySelector("time"));
    const shown = events.map((event) => event.querySelectorAll("p").map(getText));
    const time = /\d{1,2} [A-Z][a-z]{2,3} \d{4}, \d\d:\d\d EAT/.source;
    expect(shown).toEqual([
      ["Customs Declaration (latest)", expect.stringMatching(new RegExp(`^Port of <Mombasa>, ${time}$`))],
      ["IDF Application", expect.stringMatching(new RegExp(`^${time}$`))],
      ["Document Verification", expect.stringMatching(new RegExp(`^Nairobi, ${time}$`))],
    ]);
    for (const event of events) {
      const mark = event.querySelector("time");
      const utc = Date.parse(mark?.getAttribute("datetime") ?? "");
      const nairobi = new Date(utc + 3 * 60 * 60 * 1000).toISOString();
      expect(getText(mark)).toContain(`${nairobi.slice(0, 4)}, ${nairobi.slice(11, 16)} EAT`);
    }
  });

  test("that is closed says so", async () => {
    const shipment = await client.createShipment("Closing");
    for (let stage = 1; stage < 10; stage += 1) await advanceShipment(app.company, getShipmentId(shipment));
    const page = await client.open(shipment);
    expect(listStages(page)).toEqual(["Shipment Closed", "Stage 10/10"]);
    expect(page.text).toContain("This shipment is closed.");
  });

  test("stays selected with its page of the list", async () => {
    const page = await client.open(`${path}?page=1`);
    expect(page.all("main [aria-current=page]").map((link) => link.getAttribute("href"))).toEqual([path]);
  });

  test.each([
    ["IDF Fee", "Action: Pay IDF Fee"],
    ["Duties & Taxes", "Action: Pay Duties"],
    ["Agent Fee", "Action: Pay Agent Fee"],
  ])("has a button for the %s that only says what it would do", async (name, title) => {
    const calls = await app.proxy.during(async () => {
      const answer = await client.submit(await client.open(path), `Pay ${name}`);
      expect(answer.headers.get("Location")).toBe(path);
      expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
      const page = await client.follow(answer);
      expect(page.toasts).toEqual([
        { title, description: "This is a demo. No payment will be processed.", variant: "default" },
      ]);
    });
    expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
    expect((await client.open(path)).toasts).toEqual([]);
  });

  test("has no button for what is paid, and has it again when the payment is taken back", async () => {
    const shipment = await client.createShipment("Paid in part");
    const items = ["idf-fee", "duties", "agent-fee"];
    for (const item of items)
      resultOrThrow(await setCharge(app.company, getShipmentId(shipment), { item, amount: 5, currency: "KES" }, {}));
    const buttons = async () =>
      (await client.open(shipment)).all("#payments button, [aria-labelledby=payments] button").map(getText);
    const every = ["Pay IDF Fee", "Pay Duties & Taxes", "Pay Agent Fee"];
    expect(await buttons()).toEqual(every);
    resultOrThrow(await setChargePaid(app.company, getShipmentId(shipment), { item: "duties", paid: true }, {}));
    expect(await buttons()).toEqual([every[0], every[2]]);
    expect((await client.open(shipment)).text).toContain("Duties & Taxes KES 5.00, Paid");
    const back = { item: "duties", paid: false, reason: "It bounced" };
    resultOrThrow(await setChargePaid(app.company, getShipmentId(shipment), back, {}));
    expect(await buttons()).toEqual(every);
  });

  test("has no other payment", async () => {
    for (const payment of ["", "everything"]) {
      expect((await client.post(`${path}/payments`, { payment })).status).toBe(400);
    }
    expect((await client.get(`${path}/payments`)).headers.get("Location")).toBe(path);
  });
});

/** The status on the page of a shipment, and which stage that is. */
const listStages = (page: ParsedPage) => page.all("[aria-label=Progress] > div p span").map(getText);

/** The documents on the page of a shipment: name, state, and whether there is a form to upload it. */
function listDocuments(page: ParsedPage) {
  return page
    .all("main li")
    .filter((item) => /^(Commercial|Packing|Insurance|Bill)/.test(getText(item.querySelector("p"))))
    .map((item) => [
      ...item.querySelectorAll("p").slice(0, 2).map(getText),
      item.querySelector("input[type=file]") !== null,
    ]);
}

test("a page that was refused and one that went well never show a password, token or key", async () => {
  const session = client.cookies.get("session") ?? "";
  const kept = JSON.parse(Buffer.from(session.replace(/^base64-/, ""), "base64url").toString()) as Record<
    string,
    string
  >;
  for (const page of [await client.open("/portal"), await parsePage(await client.post("/portal/new", { name: "x" }))]) {
    for (const secret of [kept.access_token, kept.refresh_token, session, process.env.SUPABASE_SECRET_KEY]) {
      expect(secret?.length).toBeGreaterThan(10);
      expect(page.html).not.toContain(secret);
    }
    expect(page.html).not.toMatch(/sb_(publishable|secret)_/);
    // What the backend keeps of a person besides the name and the id.
    expect(page.html).not.toMatch(/user_metadata|app_metadata|identities|confirmed_at|last_sign_in_at|authenticated/);
  }
});

describe("whose move it is", () => {
  test("is told in the list, in the work list and on the page, from documents and charges", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Mover");
    const tea = await browser.createShipment("Tea");
    const rice = await browser.createShipment("Rice");
    for (const name of ["Commercial Invoice", "Packing List", "Insurance Certificate", "Bill of Lading"])
      expect((await browser.submit(await browser.open(rice), `Upload the ${name}`, { file: createPdf() })).status).toBe(
        303,
      );
    const charge = { item: "duties", amount: 12500.5, currency: "KES", due_on: "2030-05-04", note: "At the bank" };
    await setCharge(app.company, getShipmentId(tea), charge, {});

    const list = await browser.open("/portal");
    expect(listShipments(list).map((row) => [row[0], row.includes("Your move"), row.includes("With us")])).toEqual([
      ["Rice", false, true],
      ["Tea", true, false],
    ]);
    const [move] = list.all("section[aria-label='Your move'] li a").map((link) => link.getAttribute("href") ?? "");
    expect(move).toMatch(new RegExp(`^${tea}#file-[0-9a-f-]{36}$`));
    expect(list.text).toContain("1 with us, 0 closed.");
    expect(list.text).toContain("Pay the Duties & Taxes by 4 May 2030.");

    const page = await browser.open(tea);
    // The button of the move leads to the field of the first document that is missing.
    const [press] = page.all("[aria-label=Progress] a");
    expect([getText(press), press?.getAttribute("href")]).toEqual([
      "Upload the Commercial Invoice",
      move?.slice(tea.length),
    ]);
    expect(page.all(`input${move?.slice(tea.length)}`)).toHaveLength(1);
    expect(page.text).toContain("KES 12,500.50, due 4 May 2030. At the bank");
    expect(page.text).toMatch(/Your move\. Upload the .*\. Pay the Duties & Taxes by 4 May 2030\./);
    expect((await browser.open(rice)).text).toContain("With us. Your documents are here.");

    await setChargePaid(app.company, getShipmentId(tea), { item: "duties", paid: true }, {});
    expect((await browser.open(tea)).text).toContain("KES 12,500.50, Paid. At the bank");
  });

  test("says below the payments how to pay and whom to call, while something is unpaid on an open shipment", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Payer");
    const coffee = await browser.createShipment("Coffee to pay for");
    const payments = async () => (await browser.open(coffee)).all("#payments").map(getText).join();
    const how = /Pay as our signed invoice says\. In doubt, call (.+?)\.$/;
    expect(await payments()).not.toMatch(/invoice/i);

    await setCharge(app.company, getShipmentId(coffee), { item: "duties", amount: 5, currency: "KES" }, {});
    await setCharge(app.company, getShipmentId(coffee), { item: "agent-fee", amount: 7, currency: "KES" }, {});
    expect(how.exec(await payments())?.[1]).toBe(companyDetails.offices[0]?.phone);
    await setChargePaid(app.company, getShipmentId(coffee), { item: "duties", paid: true }, {});
    expect(await payments()).toMatch(how);
    await setChargePaid(app.company, getShipmentId(coffee), { item: "agent-fee", paid: true }, {});
    expect(await payments()).not.toMatch(/invoice/i);

    await setChargePaid(
      app.company,
      getShipmentId(coffee),
      { item: "duties", paid: false, reason: "It came back" },
      {},
    );
    expect(await payments()).toMatch(how);
    await correctStage(app.company, getShipmentId(coffee), { stage: 10, reason: "Delivered" }, {});
    const closed = await payments();
    expect(closed).toContain("KES 5.00.");
    expect(closed).not.toMatch(/invoice/i);
  });

  test("and where free storage stands, until the cargo has left", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Stored");
    const path = await browser.createShipment("Stored");
    expect((await browser.open(path)).text).not.toContain("Free at the port");
    const day = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 10);
    const arrival = {
      place: "mombasa",
      day,
      size: 40,
      free_storage_ends_on: getLastFreeDay(day, storageTariff),
    } as const;
    await saveArrival(app.company, getShipmentId(path), arrival, {});
    expect((await browser.open(path)).text).toMatch(
      /Free at the port until .*, 4 days left\. From .* about USD 60 a day/,
    );
    await correctStage(app.company, getShipmentId(path), { stage: 9, reason: "It has left" }, {});
    expect((await browser.open(path)).text).not.toContain("Free at the port");
  });

  test("and free storage is emphasised once it ends within two days, and stands on paper too", async () => {
    const browser = app.browser();
    await browser.signUpAndLogIn("Hurried");
    const path = await browser.createShipment("Hurried");
    const sheet = async () => (await browser.open(`${path}/print`)).text;
    /** The words about storage on the page, and whether they are emphasised. */
    async function storage() {
      const page = await browser.open(path);
      const [told, ...more] = page.all("main p").filter((one) => /free storage|free at the port/i.test(getText(one)));
      expect(more).toEqual([]);
      return { text: getText(told), isUrgent: told?.classList.contains("text-attention") };
    }
    /** The cargo came so many days ago; the tests of the tariff have the days themselves. */
    async function came(daysAgo: number) {
      const day = new Date(Date.now() + 3 * 3_600_000 - daysAgo * 86_400_000).toISOString().slice(0, 10);
      const arrival = {
        place: "mombasa",
        day,
        size: 20,
        free_storage_ends_on: getLastFreeDay(day, storageTariff),
      } as const;
      resultOrThrow(await saveArrival(app.company, getShipmentId(path), arrival, {}));
    }
    expect(await sheet()).not.toContain("Free storage");
    for (const [daysAgo, isUrgent, said] of [
      [0, false, /^Free at the port until .*, 4 days left\./],
      [2, true, /^Free at the port until .*, 2 days left\./],
      [9, true, /^Free storage ended on .* a day now \(estimate\)\.$/],
    ] as const) {
      await came(daysAgo);
      const told = await storage();
      expect([daysAgo, told]).toEqual([daysAgo, { text: expect.stringMatching(said), isUrgent }]);
      expect(await sheet()).toContain(`Free storage ${told.text}`);
    }
    resultOrThrow(await correctStage(app.company, getShipmentId(path), { stage: 9, reason: "It has left" }, {}));
    expect(await sheet()).not.toContain("Free storage");
  });
});
