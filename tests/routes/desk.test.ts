import process from "node:process";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { recordAuditEntry } from "../../app/models/audit-log.server.ts";
import { findAccountId, inviteStaffMember } from "../../app/models/staff.server.ts";
import { resultOrThrow } from "../../app/models/staff-action.server.ts";
import { ambiguousStatuses, faults } from "../support/fault-proxy.ts";
import { freePort } from "../support/free-port.ts";
import {
  allDocuments,
  copyBrowser,
  countEmailsTo,
  createLongText,
  emailSender,
  expectRejectedForm,
  getDocument,
  getField,
  getLatestEmailTo,
  getLatestLinkTo,
  type LoggedInClient,
  listDuplicateIds,
  listShipmentAuditEntries,
  measureResponse,
  newClient,
  newEmailAddress,
  newShipment,
  newShipments,
  newStaffMember,
  newStaffMemberWithoutFactor,
  replaceStoredFile,
  setUpSecondFactor,
  staffPassword,
  successToast,
  uploadDocument,
} from "../support/route-fixtures.ts";
import { issueClientIds, verifyDocumentByName } from "../support/service-role.ts";
import { moveShipment, removeStaffMember, saveArrival, sendNote, setCharge } from "../support/staff-actions.ts";
import {
  createPdf,
  expectNoInternals,
  type FormValues,
  getTestApp,
  getText,
  noStorePattern,
  type ParsedPage,
  parsePage,
  password,
  startTestSite,
} from "../support/test-app.ts";

let app: Awaited<ReturnType<typeof getTestApp>>;
let lead: Awaited<ReturnType<typeof newStaffMember>>;
let clerk: Awaited<ReturnType<typeof newStaffMember>>;
let client: LoggedInClient;
let shipment: Awaited<ReturnType<typeof newShipment>>;
/** Every address of the desk, with something behind each; files and tables among them. */
let addresses: string[];
beforeAll(async () => {
  app = await getTestApp();
  lead = await newStaffMember(app, "lead", "Wambui Njoroge");
  clerk = await newStaffMember(app, "clerk", "Akinyi Odhiambo");
  client = await newClient(app, "Baraka Mwangi");
  shipment = await newShipment(app, client, "A secret cargo", ["Packing List"]);
  const { id: document } = await getDocument(app.company, shipment.id, "Packing List");
  const [factor] = (await lead.browser.open("/desk/2fa")).all("main li a");
  addresses = [
    ...["/desk", "/desk/shipments", "/desk/shipments?q=secret&stage=1&waiting=client&page=1", shipment.desk],
    ...[`${shipment.desk}/move`, `/desk/shipments/bulk-move?moved=${shipment.id}`, "/desk/clients"],
    ...[`/desk/clients/${client.id}`, "/desk/invitations", "/desk/team", "/desk/log"],
    ...["/desk/log?what=document+open", "/desk/2fa"],
    ...[factor?.getAttribute("href") ?? "", "/desk/session", "/desk/shipments.csv?q=secret", "/desk/log.csv"],
    `${shipment.desk}/documents/${document}`,
  ];
});
afterEach(() => app.proxy.fail("none"));

/** The form of an act, as a browser sends it, for a page where it may not stand. */
const noteForm = { intent: "note", note: "Sent by hand", reason: "By hand", email: "x@client.example" };

/** The way back that a redirect to the login or to the code names. */
const createNextParam = (path: string) => `next=${encodeURIComponent(path)}`;

describe("the door of the desk", () => {
  test("sends strangers to the login, by every address, and shows them nothing", async () => {
    for (const path of addresses) {
      const stranger = app.browser();
      for (const answer of [await stranger.get(path), await stranger.post(path, noteForm)]) {
        expect([path, answer.status]).toEqual([path, 303]);
        expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
        expect(await answer.text()).toBe("");
        // A file is no place to come back to: its page is.
        const to = path.includes("/documents/") ? /^\/login(\?next=.*)?$/ : `/login?${createNextParam(path)}`;
        expect(answer.headers.get("Location")).toEqual(typeof to === "string" ? to : expect.stringMatching(to));
      }
    }
    const data = await (await app.browser().get("/desk/shipments.data")).text();
    expect(data).toContain("/login");
    expect(data).not.toContain("secret");
  });

  test("lets a colleague back to the page they asked for, by password and code", async () => {
    const browser = app.browser();
    const path = "/desk/shipments?q=secret&stage=1";
    const login = await browser.follow(await browser.get(path));
    const half = await browser.submit(login, "Log in", { email: clerk.email, password: staffPassword });
    expect(half.headers.get("Location")).toBe(`/login/verify?${createNextParam(path)}`);
    const code = await browser.follow(half);
    for (const address of addresses) {
      for (const answer of [await browser.get(address), await browser.post(address, noteForm)]) {
        expect([address, answer.status]).toEqual([address, 303]);
        expect(answer.headers.get("Location")).toMatch(/^\/login\/verify(\?next=|$)/);
        expect(await answer.text()).toBe("");
      }
    }
    const entered = await browser.submit(code, "Verify", { code: await clerk.authenticator.freshCode() });
    expect(entered.headers.get("Location")).toBe(path);
    expect((await browser.follow(entered)).text).toContain("A secret cargo");
  });

  test("lets a colleague back to a search with a star, and to no address that leads out of the desk", async () => {
    const path = "/desk/shipments?q=tea*&check=1";
    // With codes of their own: nobody has more than three within half a minute.
    const seeker = await newStaffMember(app, "clerk", "Star Seeker");
    const logIn = async (from: string) => {
      const browser = app.browser();
      const login = await browser.open(from);
      const half = await browser.submit(login, "Log in", { email: seeker.email, password: staffPassword });
      return { browser, to: half.headers.get("Location") ?? "" };
    };
    const asked = (await app.browser().get(path)).headers.get("Location") ?? "";
    expect(asked).toBe(`/login?${createNextParam(path)}`);
    const { browser, to } = await logIn(asked);
    expect(to).toBe(`/login/verify?${createNextParam(path)}`);
    const code = await seeker.authenticator.freshCode();
    const entered = await browser.submit(await browser.open(to), "Verify", { code });
    expect(entered.headers.get("Location")).toBe(path);
    expect((await browser.follow(entered)).form("Find").fields).toMatchObject({ q: "tea*", check: "1" });

    const out = [
      "/desk/../../evil",
      "/desk/..",
      "/desk/./../evil",
      "/desk/shipments/../../../evil?q=1",
      "/desk/%2e%2e/evil",
    ];
    for (const evil of out) {
      expect([evil, (await logIn(`/login?${createNextParam(evil)}`)).to]).toEqual([evil, "/login/verify"]);
      const person = app.browser();
      const byHand = await person.post("/login", { email: client.email, password, next: evil });
      expect([evil, byHand.headers.get("Location")]).toEqual([evil, "/portal"]);
      const again = await person.get(`/login?${createNextParam(evil)}`);
      expect([evil, again.headers.get("Location")]).toEqual([evil, "/portal"]);
    }
    const half = await logIn("/login");
    const form = { code: await seeker.authenticator.freshCode(), next: "/desk/../../evil" };
    const verified = await half.browser.post("/login/verify", form);
    expect(verified.headers.get("Location")).toBe("/portal");
  });

  test("is the same door however its address is spelled: the page for colleagues, and nothing for anybody else", async () => {
    const halfWay = await newStaffMemberWithoutFactor(app, "clerk", "Odd Speller");
    const look = ({ status, title, h1, text }: ParsedPage) => ({ status, title, h1, text });
    const unknown = look(await client.browser.open("/no-such-page"));
    // Other files make shipments and clients meanwhile.
    const own = `?q=${encodeURIComponent(client.email)}`;
    const spelled: [string, string][] = [
      [`/desk/Shipments${own}`, `/desk/shipments${own}`],
      [`/DESK/shipments/${own}`, `/desk/shipments${own}`],
      [shipment.desk.replace("desk", "Desk") + own, shipment.desk + own],
      [shipment.desk.toUpperCase() + own, shipment.desk + own],
      [`/%64esk/clients${own}`, `/desk/clients${own}`],
      [`/%64esk/%63lients/${client.id}`, `/desk/clients/${client.id}`],
      ["/desk/LOG?who=Nobody", "/desk/log?who=Nobody"],
      ["/desk/Invitations?page=999", "/desk/invitations?page=999"],
    ];
    for (const [odd, plain] of spelled) {
      const asked = await clerk.browser.open(odd);
      expect([odd, look(asked)]).toEqual([odd, look(await clerk.browser.open(plain))]);
      expect([odd, asked.status, asked.headers.get("Cache-Control")]).toEqual([odd, 200, "private, no-store"]);
      const stranger = await app.browser().get(odd);
      expect([odd, stranger.status, stranger.headers.get("Location")]).toEqual([
        odd,
        303,
        expect.stringMatching(/^\/login(\?|$)/),
      ]);
      expect(await stranger.text()).toBe("");
      expect([odd, look(await client.browser.open(odd))]).toEqual([odd, unknown]);
      const set = await halfWay.browser.get(odd);
      expect([odd, set.headers.get("Location")]).toEqual([odd, "/desk/2fa"]);
    }
    const colleagues = await clerk.browser.open("/desk/Team");
    expect([colleagues.status, colleagues.text.includes("This page is for leads.")]).toEqual([403, true]);
  });

  test("is for a client the page of an unknown address, however they ask", async () => {
    const secured = await newClient(app, "Careful Client");
    await setUpSecondFactor(secured.browser, "/portal/2fa");
    const half = app.browser();
    await half.post("/login", { email: secured.email, password });
    const look = (page: ParsedPage) => [
      ...[page.status, page.title, page.h1, page.text, page.headers.get("Content-Type")],
      ...page.all("header button, html").map((part) => part.getAttribute("class") ?? ""),
    ];
    await client.browser.open("/");
    const unknown = look(await client.browser.open("/no-such-page"));
    expect(unknown[0]).toBe(404);
    for (const path of addresses) {
      for (const browser of [client.browser, secured.browser]) {
        const opened = await browser.open(path);
        expect([path, ...look(opened)]).toEqual([path, ...unknown]);
        expect(opened.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
      }
      for (const browser of [client.browser, half]) {
        const posted = await parsePage(await browser.post(path, noteForm));
        expect([path, ...look(posted)]).toEqual([path, ...unknown]);
      }
    }
    for (const browser of [client.browser, secured.browser, half]) {
      expect((await browser.get(shipment.desk)).status).toBe(404);
      expect(await (await browser.get("/desk/shipments.data")).text()).not.toContain("A secret cargo");
    }
    const acts = await listShipmentAuditEntries(app.company, shipment.id);
    expect(acts).toEqual([]);
  });

  test("and the portal lead whoever is signed in from an address without a page to their own first page, all others home", async () => {
    const unknownId = "0b51e3a8-0000-4000-8000-000000000000";
    const way = async (browser: typeof client.browser, path: string) => {
      const page = await browser.open(path);
      const [link] = page.all("main a");
      return [path, page.status, getText(link), link?.getAttribute("href")];
    };
    const inPortal = ["", "/share", "/change", "/print", `/documents/${unknownId}`].map(
      (part) => `/portal/${unknownId}${part}`,
    );
    for (const path of [...inPortal, "/portal/no/such/page"])
      expect(await way(client.browser, path)).toEqual([path, 404, "My Shipments", "/portal"]);
    const atDesk = ["", "/move", `/documents/${unknownId}`].map((part) => `/desk/shipments/${unknownId}${part}`);
    for (const path of [
      ...atDesk,
      "/desk/shipments/x",
      `/desk/clients/${unknownId}`,
      "/desk/no-such",
      "/portal/no/such/page",
    ])
      expect(await way(clerk.browser, path)).toEqual([path, 404, "Today", "/desk"]);
    const home = ["Go to the home page", "/"];
    for (const path of ["/desk/no-such", "/no-such-page"])
      expect(await way(client.browser, path)).toEqual([path, 404, ...home]);
    for (const path of ["/desk/no-such", "/portal/no/such/page", "/no-such-page"])
      expect(await way(app.browser(), path)).toEqual([path, 404, ...home]);
    expect(await way(clerk.browser, "/no-such-page")).toEqual(["/no-such-page", 404, ...home]);
  });

  test("leads colleagues away from the portal, which is the clients'", async () => {
    for (const path of ["/portal", "/portal/new", "/portal/2fa", shipment.portal]) {
      expect((await clerk.browser.get(path)).headers.get("Location"), path).toBe("/desk");
      const form = { name: "Mine", idempotencyKey: crypto.randomUUID() };
      expect((await clerk.browser.post(path, form)).headers.get("Location"), path).toBe("/desk");
    }
    const { data } = await app.company.from("shipments").select("id").eq("user_id", clerk.id);
    expect(data).toEqual([]);
  });

  test("leads a colleague without a second factor to set one up, from every address, and opens then", async () => {
    const { browser } = await newStaffMemberWithoutFactor(app, "lead", "New Colleague");
    for (const path of addresses.filter((path) => !["/desk/2fa", "/desk/session"].includes(path))) {
      for (const answer of [await browser.get(path), await browser.post(path, noteForm)]) {
        expect([path, answer.status, answer.headers.get("Location")]).toEqual([path, 303, "/desk/2fa"]);
        expect(await answer.text()).toBe("");
      }
    }
    const page = await browser.open("/desk/2fa");
    expect(page.text).toContain("The desk opens once this is set up.");
    await setUpSecondFactor(browser, "/desk/2fa");
    expect((await browser.open("/desk")).h1).toBe("Today");
  });

  test("of the colleagues' page is shut to clerks, who are told so, and whose forms do nothing", async () => {
    const colleagues = () =>
      app.company.from("staff_members").select("*").in("account", [lead.id, clerk.id]).order("account");
    const before = await colleagues();
    const friend = newEmailAddress("friend");
    const page = await clerk.browser.open("/desk/team");
    expect([page.status, page.h1]).toEqual([403, "Desk"]);
    expect(page.text).toContain("This page is for leads.");
    const [back] = page.all("main a").filter((link) => getText(link) === "Today");
    expect(back?.getAttribute("href")).toBe("/desk");
    expect((await clerk.browser.open("/desk")).all("main nav a").map(getText)).not.toContain("Colleagues");
    const acts: FormValues[] = [
      { intent: "invite", name: "Own Friend", email: friend, role: "lead" },
      { intent: "role", account: clerk.id, role: "lead" },
      { intent: "send-link", account: lead.id },
      { intent: "remove-2fa", account: lead.id, reason: "Mine" },
      { intent: "remove", account: lead.id, reason: "Mine" },
    ];
    for (const act of acts) {
      expect((await clerk.browser.post("/desk/team", act as Record<string, string>)).status).toBe(403);
    }
    // A page of clients is no way round it.
    for (const intent of ["send-link", "remove-2fa", "close-account", "erase"]) {
      const answer = await clerk.browser.post(`/desk/clients/${lead.id}`, { intent, reason: "Mine" });
      expect([403, 404]).toContain(answer.status);
    }
    expect(await colleagues()).toEqual(before);
    await expect(findAccountId(app.company, friend)).rejects.toThrow("There is no account");
    expect((await lead.browser.get("/desk")).status).toBe(200);
  });

  test("is shut at once behind a removed colleague: their open page leads to the login, its forms do nothing", async () => {
    const leaver = await newStaffMember(app, "clerk", "Leaver Otieno");
    const other = copyBrowser(app, leaver.browser);
    const page = await leaver.browser.open(shipment.desk);
    const { fields, action } = page.form("Send note");
    resultOrThrow(await removeStaffMember(app.company, leaver.id, "Left us"));
    const answer = await other.post(action, { ...(fields as Record<string, string>), note: "A last word" });
    expect(answer.headers.get("Location")).toMatch(/^\/login/);
    const gone = await leaver.browser.get("/desk/clients");
    expect(gone.headers.get("Location")).toBe(`/login?${createNextParam("/desk/clients")}`);
    expect(leaver.browser.cookies.has("session")).toBe(false);
    expect(await listShipmentAuditEntries(app.company, shipment.id)).toEqual([]);
    const login = await parsePage(await app.browser().post("/login", { email: leaver.email, password: staffPassword }));
    expect([login.status, login.toasts[0]?.title]).toEqual([400, "Login Failed"]);

    const email = newEmailAddress("never-came");
    await inviteStaffMember(app.company, app.company, emailSender, { name: "Never Came", email, role: "clerk" });
    resultOrThrow(await removeStaffMember(app.company, await findAccountId(app.company, email), "Changed our mind"));
    expect((await app.browser().open(await getLatestLinkTo(email))).text).toContain(
      "This link has been used or is too old.",
    );
  });
});

describe("when the backend fails, the desk says so, has a way to try again, and is there again afterwards:", () => {
  function expectUnavailable(page: ParsedPage, path: string) {
    expect([path, page.status]).toEqual([path, 503]);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expectNoInternals(page);
    expect(page.text).not.toContain("secret");
    const [again] = page.all("main a").filter((link) => getText(link) === "Try again");
    expect(again?.getAttribute("href")).toBe(path);
    expect(clerk.browser.cookies.has("session")).toBe(true);
  }

  test.each([500, "html"] as const)("every page and every form of it, at %s", async (fault) => {
    app.proxy.fail(fault);
    for (const path of addresses) expectUnavailable(await lead.browser.open(path), path);
    const forms = ["/desk?index", shipment.desk, `${shipment.desk}/move`, "/desk/shipments/bulk-move"];
    forms.push(`/desk/clients/${client.id}`, "/desk/invitations", "/desk/team", "/desk/2fa");
    for (const path of forms) {
      const form = await parsePage(await lead.browser.post(path, noteForm));
      expect([path, form.status]).toEqual([path, 503]);
      expect(form.text).toContain("Our records do not answer at the moment.");
      expectNoInternals(form);
    }
    app.proxy.fail("none");
    expect((await lead.browser.open("/desk/shipments")).status).toBe(200);
  });

  test.each([...faults, ...ambiguousStatuses, "other json"] as const)(
    "the page of a shipment, at %s",
    async (fault) => {
      app.proxy.fail(fault, fault === "other json" ? /desk_shipments/ : /./);
      expectUnavailable(await clerk.browser.open(shipment.desk), shipment.desk);
      app.proxy.fail("none");
      expect((await clerk.browser.open(shipment.desk)).h1).toBe("A secret cargo");
    },
  );
});

describe("a page of the desk costs the backend one call, which says who asks too:", () => {
  test.each([
    ["/desk", "desk_today"],
    ["/desk/shipments?q=secret&stage=1&waiting=client&page=2", "desk_shipments"],
    ["a shipment", "desk_shipments"],
    ["a shipment, asked for by script", "desk_shipments"],
    ["the move of a shipment", "desk_shipments"],
    ["/desk/shipments?check=1", "desk_shipments"],
    ["the answer to a bulk move", "desk_move_result"],
    ["/desk/Shipments", "desk_shipments"],
    ["/desk/clients?q=baraka", "desk_clients"],
    ["a client", "desk_clients"],
    ["/desk/invitations", "desk_invitations"],
    ["/desk/team", "desk_team"],
    ["/desk/log?who=Somebody&page=2", "desk_log"],
    ["/desk/2fa", "get_viewer"],
    ["/desk/session", "get_viewer"],
  ])("%s", async (page, name) => {
    const behind: Record<string, string> = {
      "a shipment": shipment.desk,
      "a shipment, asked for by script": `${shipment.desk}.data`,
      "the move of a shipment": `${shipment.desk}/move`,
      "the answer to a bulk move": `/desk/shipments/bulk-move?moved=${shipment.id}`,
      "a client": `/desk/clients/${client.id}`,
    };
    const calls = await app.proxy.during(async () => {
      expect((await lead.browser.get(behind[page] ?? page)).status).toBeLessThan(300);
    });
    expect(calls.map((call) => call.split("?")[0])).toEqual([`GET /rest/v1/rpc/${name}`]);
  });
});

describe("however much there is to show, a page of the desk crosses the line in one flight:", () => {
  /** The size of the first flight of ten TCP segments, headers included, in bytes (RFC 6928). */
  const firstFlight = 14_300;
  let site: Awaited<ReturnType<typeof startTestSite>>;
  let full: Awaited<ReturnType<typeof newShipment>>;
  let owner: LoggedInClient;
  let many: string[];
  beforeAll(async () => {
    site = await startTestSite();
    owner = await newClient(app, "Consolidated Importers and Distributors of Western Kenya Limited");
    const names = Array.from({ length: 40 }, (_, index) => createLongText(index, 115));
    many = await newShipments(app, owner, names);
    full = await newShipment(app, owner, createLongText(99, 115), allDocuments);
    const [company, id] = [app.company, full.id];
    for (const [index, item] of ["idf-fee", "duties", "agent-fee"].entries()) {
      const note = createLongText(100 + index, 100);
      const charge = { item, amount: 1_234_567.89 + index, currency: "KES", due_on: "2027-01-15", note };
      resultOrThrow(await setCharge(company, id, charge, {}));
    }
    resultOrThrow(
      await saveArrival(
        company,
        id,
        { place: "naivasha", day: "2026-11-20", size: 40, free_storage_ends_on: "2026-11-24" },
        {},
      ),
    );
    for (let event = 0; event < 10; event += 1)
      resultOrThrow(await sendNote(company, id, createLongText(200 + event, 160), {}));
    const page = await clerk.browser.open(full.desk);
    for (const [index, name] of allDocuments.slice(2).entries()) {
      await clerk.browser.submit(page, `Send back the ${name}`, { reason: createLongText(300 + index, 100) });
    }
    clerk.browser.cookies.delete("flash");
    for (let line = 0; line < 51; line += 1) {
      const [before, after] = [
        { stage: (line % 9) + 1 },
        { stage: ((line + 4) % 9) + 1, location: createLongText(line, 60) },
      ];
      const act = {
        action: "shipment correct",
        shipment_id: id,
        before,
        after,
        reason: createLongText(400 + line, 150),
      };
      await recordAuditEntry(company, createLongText(500 + (line % 9), 20), act);
      if (line < 8)
        await recordAuditEntry(company, "Somebody", {
          action: "account close",
          account_id: owner.id,
          reason: createLongText(line, 200),
        });
    }
    for (let invitation = 0; invitation < 21; invitation += 1) {
      const issued_for = createLongText(600 + invitation, 110);
      await company.rpc("issue_client_ids", {
        issued_for,
        sent_to: newEmailAddress("somebody.with.a.long.name", "client.example"),
      });
    }
  });
  afterAll(() => site.close());

  test.each([
    ["today", () => "/desk"],
    ["the list of shipments, twenty of them", () => `/desk/shipments?q=${encodeURIComponent(owner.email)}`],
    ["a shipment with all there can be", () => `${full.desk}?q=${encodeURIComponent(owner.email)}`],
    ["its move", () => `${full.desk}/move`],
    ["the answer to a move of twenty", () => `/desk/shipments/bulk-move?missing=${many.slice(0, 20).join("%2C")}`],
    ["the list of clients", () => "/desk/clients"],
    ["a client with many shipments", () => `/desk/clients/${owner.id}`],
    ["the invitations, twenty of them", () => "/desk/invitations"],
    ["the colleagues", () => "/desk/team"],
    ["the log, fifty lines of it", () => `/desk/log?shipment=${full.id}`],
    ["the second factors", () => "/desk/2fa"],
  ])("%s", async (_page, address) => {
    const { status, bytes } = await measureResponse(site.port, address(), lead.browser);
    expect(status).toBe(200);
    expect(bytes).toBeLessThanOrEqual(firstFlight);
  });

  test("a file too carries what keeps browsers from guessing what it is", async () => {
    const address = addresses.find((path) => path.includes("/documents/")) ?? "";
    const { status, headers } = await measureResponse(site.port, address, lead.browser);
    expect([status, headers["x-content-type-options"]]).toEqual([200, "nosniff"]);
    expect(headers["content-security-policy"]).toBe("sandbox; default-src 'none'");
  });

  test("and is made once a view, for who asks and for nobody after them", async () => {
    const lines: string[] = [];
    const spy = vi
      .spyOn(console, "log")
      .mockImplementation((...said) => void lines.push(...said.join(" ").split("\n")));
    const pages = ["/desk/clients", "/desk/Clients?q=baraka", shipment.desk];
    try {
      for (const path of pages) {
        for (let view = 1; view <= 2; view += 1) {
          lines.length = 0;
          const { status, headers } = await measureResponse(site.port, path, lead.browser);
          const id = headers["x-request-id"];
          const own = () => lines.filter((line) => line.includes('"event":"request"') && line.includes(`"${id}"`));
          expect([path, status]).toEqual([path, 200]);
          await expect.poll(own).not.toEqual([]);
          expect([path, own().length]).toEqual([path, 1]);
        }
        const stranger = await site.browser().get(path);
        expect([path, stranger.status, await stranger.text()]).toEqual([path, 303, ""]);
      }
    } finally {
      spy.mockRestore();
    }
  });
});

/** The names of the shipments on a page of the list. */
const listShipmentNames = (page: ParsedPage) =>
  page
    .all("main form#selected-shipments li")
    .map((row) => getText(row.querySelector("label span")))
    .sort();
const searchNames = async (search: string) => listShipmentNames(await clerk.browser.open(`/desk/shipments?${search}`));

describe("the list of shipments", () => {
  let owner: LoggedInClient;
  let tea: Awaited<ReturnType<typeof newShipment>>;
  beforeAll(async () => {
    owner = await newClient(app, "Zawadi Finder");
    tea = await newShipment(app, owner, "Tea 100% <pure>", allDocuments);
    const coffee = await newShipment(app, owner, "Coffee_beans");
    await app.company.rpc("save_shipment_numbers", { shipment_id: coffee.id, awb: "MSCU7654321" });
    resultOrThrow(await moveShipment(app.company, coffee.id, { despiteMissing: true }, {}));
  });

  test("finds by name, AWB/BL, the beginning of the id, the client's name and e-mail, whatever the case", async () => {
    expect(await searchNames("q=tEa+100%25")).toEqual(["Tea 100% <pure>"]);
    expect(await searchNames("q=mscu7654321")).toEqual(["Coffee_beans"]);
    expect(await searchNames(`q=${tea.id.slice(0, 8)}`)).toContain("Tea 100% <pure>");
    expect(await searchNames("q=zawadi+FINDER")).toEqual(["Coffee_beans", "Tea 100% <pure>"]);
    expect(await searchNames(`q=${encodeURIComponent(owner.email)}`)).toEqual(["Coffee_beans", "Tea 100% <pure>"]);
    expect(await searchNames("q=Coffee%25")).toEqual([]);
    const none = await clerk.browser.open("/desk/shipments?q=nobody-has-this");
    expect([none.status, none.text.includes("No shipment matches.")]).toEqual([200, true]);
  });

  test("is filtered by stage and by whose move it is, and the form shows what was asked", async () => {
    expect(await searchNames("q=zawadi&stage=2")).toEqual(["Coffee_beans"]);
    expect(await searchNames("q=zawadi&waiting=company")).toEqual(["Tea 100% <pure>"]);
    expect(await searchNames("q=zawadi&waiting=client&stage=1")).toEqual([]);
    const page = await clerk.browser.open("/desk/shipments?q=zawadi&stage=2&waiting=client");
    expect(page.form("Find").fields).toMatchObject({ q: "zawadi", stage: "2", waiting: "client" });
    const [row] = page.all("main form#selected-shipments li a");
    expect(row?.getAttribute("href")).toMatch(/\?q=zawadi&stage=2&waiting=client$/);
    const beside = await clerk.browser.open(row?.getAttribute("href") ?? "");
    expect(beside.all("main section a[aria-current=page]").map(getText)).toEqual([
      expect.stringContaining("Coffee_beans"),
    ]);
  });

  test("asks for those with a document to check alone: here, in the table, on the way on, and from Today", async () => {
    const own = await newClient(app, "Unchecked Owner");
    const whole = await newShipment(app, own, "Whole", allDocuments);
    await newShipment(app, own, "Half", allDocuments);
    const checked = await newShipment(app, own, "Checked", ["Packing List"]);
    await verifyDocumentByName(app.company, checked.id, "Packing List");
    const back = await newShipment(app, own, "Sent back", ["Packing List"]);
    await clerk.browser.submit(await clerk.browser.open(back.desk), "Send back the Packing List", { reason: "Torn" });
    clerk.browser.cookies.delete("flash");
    await newShipment(app, own, "Empty");
    const filter = `q=${encodeURIComponent(own.email)}`;
    expect(await searchNames(`${filter}&check=1`)).toEqual(["Half", "Whole"]);
    expect(await searchNames(`${filter}&check=1&stage=2`)).toEqual([]);
    for (const odd of ["check=0", "check=yes", "check=", "check=11"]) {
      expect([odd, await searchNames(`${filter}&${odd}`)]).toEqual([
        odd,
        ["Checked", "Empty", "Half", "Sent back", "Whole"],
      ]);
    }
    const page = await clerk.browser.open(`/desk/shipments?${filter}&check=1`);
    expect(page.form("Find").fields).toMatchObject({ q: own.email, check: "1" });
    const plain = (await clerk.browser.open(`/desk/shipments?${filter}`)).form("Find").fields;
    expect(plain).not.toHaveProperty("check");
    const links = page.all("main a").map((link) => link.getAttribute("href"));
    expect(links).toContain(`${whole.desk}?${filter}&check=1`);
    const table = page.all("main a").find((link) => getText(link) === "Download as CSV");
    const rows = parseCsv(await (await clerk.browser.get(table?.getAttribute("href") ?? "")).text()).slice(1);
    expect(rows.map(([, name]) => name).sort()).toEqual(["Half", "Whole"]);
    await verifyDocumentByName(app.company, whole.id, "Bill of Lading");
    expect(await searchNames(`${filter}&check=1`)).toEqual(["Half", "Whole"]);
    for (const name of allDocuments.slice(0, 3)) await verifyDocumentByName(app.company, whole.id, name);
    expect(await searchNames(`${filter}&check=1`)).toEqual(["Half"]);
    await newShipment(app, own, "Much to check", allDocuments);
    await newShipment(app, own, "More to check", ["Packing List"]);
    const today = (await clerk.browser.open("/desk")).all("main a").map((link) => link.getAttribute("href"));
    expect(today).toContain("/desk/shipments?check=1");
  });

  test("shows each with its client, stage, move and last change, and a way to its page", async () => {
    const page = await clerk.browser.open("/desk/shipments?q=coffee_beans");
    const [row] = page.all("main form#selected-shipments li a");
    expect(getText(row)).toMatch(
      /^Coffee_beans Zawadi Finder 2\/10 Document Verification Client's move MSCU7654321 \d{1,2} .* EAT$/,
    );
    expect(listDuplicateIds(page)).toEqual([]);
  });

  test("comes in pages of twenty, each leads to the other with the filter, and nonsense is not asked", async () => {
    const many = await newClient(app, "Many Shipments");
    const names = Array.from({ length: 21 }, (_, index) => `Number ${String(index + 1).padStart(2, "0")}`);
    await newShipments(app, many, names);
    const filter = `q=${encodeURIComponent(many.email)}&stage=1&waiting=client`;
    const first = await clerk.browser.open(`/desk/shipments?${filter}`);
    const link = (page: ParsedPage, text: string) => page.all("main a").find((one) => getText(one) === text);
    expect(link(first, "Previous page")).toBeUndefined();
    expect(listShipmentNames(first)).toHaveLength(20);
    const second = await clerk.browser.open(link(first, "Next page")?.getAttribute("href") ?? "");
    expect([...listShipmentNames(first), ...listShipmentNames(second)].sort()).toEqual(names);
    expect(link(second, "Next page")).toBeUndefined();
    const back = await clerk.browser.open(link(second, "Previous page")?.getAttribute("href") ?? "");
    expect(listShipmentNames(back)).toEqual(listShipmentNames(first));
    for (const odd of [
      ...["page=0", "page=-1", "page=1.5", "page=abc", "page=1e99", "stage=11", "stage=x", "waiting=toString"],
      ...["waiting=mine", "waiting=constructor"],
    ]) {
      const own = [`q=${encodeURIComponent(many.email)}`, odd].join("&");
      expect([odd, listShipmentNames(await clerk.browser.open(`/desk/shipments?${own}`)).length]).toEqual([odd, 20]);
    }
    for (const q of ["%00", "%2527", "\\", "%ED%A0%80", "x".repeat(5000), "'; drop table"]) {
      expect([q, (await clerk.browser.get(`/desk/shipments?q=${q}`)).status]).toEqual([q, 200]);
    }
  });
});

/** The cells of a table in CSV (RFC 4180). */
function parseCsv(text: string): string[][] {
  const lines: string[][] = [[]];
  for (const [, cell = "", end] of text.matchAll(/"((?:[^"]|"")*)"(,|\r\n)/g)) {
    lines.at(-1)?.push(cell.replaceAll('""', '"'));
    if (end !== ",") lines.push([]);
  }
  return lines.slice(0, -1);
}

describe("the table of shipments", () => {
  let owner: LoggedInClient;
  let ids: string[];
  const awkward = ['=HYPERLINK("http://evil.example","Click")', "+254 700", "-1+1", "@SUM(A1)", 'Say "chai", أحمد'];
  beforeAll(async () => {
    owner = await newClient(app, "Table Owner");
    const names = [...awkward, ...Array.from({ length: 515 }, (_, index) => `Row ${index}`)];
    ids = await newShipments(app, owner, names);
  });
  const address = () => `/desk/shipments.csv?q=${encodeURIComponent(owner.email)}`;

  test("has every shipment of the filter once, of all pages, in UTF-8 that a spreadsheet knows", async () => {
    const answer = await clerk.browser.get(address());
    expect(answer.headers.get("Content-Type")).toBe("text/csv; charset=utf-8");
    expect(answer.headers.get("Content-Disposition")).toBe('attachment; filename="shipments.csv"');
    expect(answer.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const [head, ...rows] = parseCsv(bytes.toString("utf8"));
    expect(head).toEqual([
      ...["Shipment", "Name", "Client", "E-mail", "AWB/BL", "Containers", "Stage", "Status", "Whose move"],
      ...["Opened (EAT)", "Last change (EAT)"],
    ]);
    expect(rows.map(([id]) => id).sort()).toEqual([...ids].sort());
    const row = rows.find(([, name]) => name === "Row 7");
    expect(row?.slice(2, 9)).toEqual(["Table Owner", owner.email, "", "", "1", "Client Onboarding", "Client's move"]);
  });

  test("runs nothing in a spreadsheet: what begins like a formula begins with an apostrophe", async () => {
    const rows = parseCsv(await (await clerk.browser.get(address())).text());
    const names = rows.map(([, name = ""]) => name);
    for (const name of awkward.slice(0, 4)) {
      expect(names).toContain(`'${name}`);
      expect(names).not.toContain(name);
    }
    expect(names).toContain('Say "chai", أحمد');
    for (const cell of rows.flat()) expect(cell).not.toMatch(/^\s*[=+\-@\t\r]/);
  });

  test("begins before its last rows are fetched, and breaks off when these cannot be, instead of ending short", async () => {
    const whole = await clerk.browser.get(address());
    const pieces: number[] = [];
    for await (const piece of whole.body ?? []) pieces.push(piece.length);
    expect(pieces.length).toBeGreaterThan(1);

    app.proxy.fail(500, /before/);
    const broken = await clerk.browser.get(address());
    expect(broken.status).toBe(200);
    await expect(broken.text()).rejects.toThrow();
    app.proxy.fail(500, /desk_shipments_export/);
    const refused = await parsePage(await clerk.browser.get(address()));
    expect(refused.status).toBe(503);
    expectNoInternals(refused);
  });

  test("of a filter that finds nothing is a head alone", async () => {
    const answer = await clerk.browser.get(`${address()}&stage=9`);
    expect(parseCsv(await answer.text())).toHaveLength(1);
  });
});

describe("the log", () => {
  let logged: Awaited<ReturnType<typeof newShipment>>;
  beforeAll(async () => {
    logged = await newShipment(app, client, "Logged");
    const page = await clerk.browser.open(logged.desk);
    await clerk.browser.submit(page, "Correct the stage", { stage: "3", reason: '=cmd|"/c calc"!A1, a slip' });
    clerk.browser.cookies.delete("flash");
    for (let line = 1; line <= 51; line += 1) {
      await recordAuditEntry(app.company, "Log Writer", {
        action: "shipment extend-retention",
        shipment_id: logged.id,
        reason: `Line ${line}`,
      });
    }
  });
  const reasons = (page: ParsedPage) => [...page.text.matchAll(/Reason: (Line \d+)/g)].map(([, reason]) => reason);

  test("is filtered by who, what, shipment and day, and says so in its form", async () => {
    const page = await clerk.browser.open(`/desk/log?who=${encodeURIComponent(clerk.name)}&shipment=${logged.id}`);
    expect(page.text).toMatch(/Stage corrected Logged Akinyi Odhiambo .* EAT stage 1 → stage 3 Reason: =cmd/);
    expect(page.form("Find").fields).toMatchObject({ who: clerk.name, shipment: logged.id });
    const kind = await clerk.browser.open(`/desk/log?what=shipment+correct&shipment=${logged.id}`);
    expect(kind.form("Find").fields).toMatchObject({ what: "shipment correct" });
    expect([kind.text.includes("=cmd"), reasons(kind)]).toEqual([true, []]);
    const today = new Date(Date.now() + 3 * 60 * 60 * 1000).toISOString().slice(0, 10);
    const search = `who=Log+Writer&what=shipment+extend-retention&shipment=${logged.id}`;
    expect(reasons(await clerk.browser.open(`/desk/log?${search}&day=${today}`))).toHaveLength(50);
    expect(reasons(await clerk.browser.open(`/desk/log?${search}&day=2020-01-01`))).toEqual([]);
    for (const odd of ["day=2026-02-30", "day=2026-13-01", "day=x", "page=0", "page=x"]) {
      expect([odd, reasons(await clerk.browser.open(`/desk/log?${search}&${odd}`)).length]).toEqual([odd, 50]);
    }
    for (const who of ["%00", "'", "%25"]) expect((await clerk.browser.get(`/desk/log?who=${who}`)).status).toBe(200);
  });

  test("comes newest first in pages of fifty, with the filter, and its lines lead to shipments", async () => {
    const first = await clerk.browser.open(`/desk/log?who=Log+Writer&shipment=${logged.id}`);
    expect(reasons(first)[0]).toBe("Line 51");
    const [more] = first.all("main a").filter((link) => getText(link) === "Next page");
    const second = await clerk.browser.open(more?.getAttribute("href") ?? "");
    expect(reasons(second)).toEqual(["Line 1"]);
    const [link] = first.all("main form ~ div li a");
    expect([link?.getAttribute("href"), getText(link)]).toEqual([logged.desk, "Logged"]);
  });

  test("finds by part of a name, by the beginning of an id, and by account, and says so when nothing is like that", async () => {
    const nothing = "Nothing like that has been done.";
    const lines = async (search: string) => {
      const { status, text, all } = await clerk.browser.open(`/desk/log?${search}`);
      return [status, all("main form ~ div li").length, text.includes(nothing)];
    };
    const found = async (search: string) => {
      const page = await clerk.browser.open(`/desk/log?${search}`);
      expect([search, page.text.includes(nothing)]).toEqual([search, false]);
      return page.all("main form ~ div li").map(getText);
    };
    const id = logged.id;
    for (const who of ["Akinyi+Odhiambo", "KINYI+odh", "odhiambo"]) {
      expect([who, await found(`who=${who}&shipment=${id}`)]).toEqual([
        who,
        [expect.stringContaining("Stage corrected Logged Akinyi Odhiambo")],
      ]);
    }
    for (const shipment of [id.slice(0, 8), id.slice(0, 13), id.toUpperCase(), ` ${id.slice(0, 8)} `]) {
      const search = `who=odhiambo&shipment=${encodeURIComponent(shipment)}`;
      expect([shipment, await found(search)]).toEqual([shipment, [expect.stringContaining("Stage corrected Logged")]]);
    }
    const table = await (await clerk.browser.get(`/desk/log.csv?who=odhiambo&shipment=${id.slice(0, 8)}`)).text();
    expect(parseCsv(table).slice(1)).toHaveLength(1);

    const person = await newClient(app, "Logged Person");
    await recordAuditEntry(app.company, "Log Writer", {
      action: "account close",
      account_id: person.id,
      reason: "As they asked",
    });
    const [all] = (await clerk.browser.open(`/desk/clients/${person.id}`))
      .all("main a")
      .filter((link) => getText(link) === "All of the log");
    expect(all?.getAttribute("href")).toBe(`/desk/log?account=${person.id}`);
    const of = await clerk.browser.open(all?.getAttribute("href") ?? "");
    expect(of.all("main form ~ div li").map(getText)).toEqual([
      expect.stringMatching(/^Account closed Logged Person Log Writer .* EAT Reason: As they asked$/),
    ]);
    expect(of.form("Find").fields).toMatchObject({ account: person.id });
    expect(of.all("main form ~ div li a").map((link) => link.getAttribute("href"))).toEqual([
      `/desk/clients/${person.id}`,
    ]);

    for (const none of [
      ...["who=Nobody+is+called+so", "who=%25", "who=_", "who=Akinyi_Odhiambo", "shipment=zzzz", "shipment=000"],
      ...[`shipment=${id.slice(1)}`, `shipment=${id}0`, "shipment=%25", "shipment=A+secret+cargo", "what=no+such+act"],
      ...[`account=${id}`, `account=${person.id}&who=odhiambo`, "day=2020-01-01"],
    ]) {
      expect([none, await lines(none)]).toEqual([none, [200, 0, true]]);
    }
  });

  test("of a shipment and of a client on whom nothing was done says that, and not that nothing was found", async () => {
    const person = await newClient(app, "Untouched Person");
    const untouched = await newShipment(app, person, "Untouched");
    for (const path of [untouched.desk, `/desk/clients/${person.id}`]) {
      const { text } = await clerk.browser.open(path);
      expect([path, text.match(/Log (Nothing.*?\.)/)?.[1]]).toEqual([path, "Nothing has been done yet."]);
    }
  });

  test("shows sums of money with their cents", async () => {
    const charged = await newShipment(app, client, "Charged with cents");
    const charge = (amount: number) =>
      setCharge(app.company, charged.id, { item: "idf-fee", amount, currency: "KES" }, { actor_name: "Log Writer" });
    resultOrThrow(await charge(98450.5));
    resultOrThrow(await charge(1200000));
    expect((await clerk.browser.open(charged.desk)).text).toContain("IDF Fee, KES 98,450.50 → KES 1,200,000.00");
  });

  test("is a table too, with the same filter and no formulas", async () => {
    const answer = await clerk.browser.get(`/desk/log.csv?shipment=${logged.id}`);
    expect(answer.headers.get("Content-Disposition")).toBe('attachment; filename="log.csv"');
    const [head, ...rows] = parseCsv(await answer.text());
    expect(head).toEqual(["At", "Who", "What", "Shipment", "Document", "Account", "Before", "After", "Reason"]);
    expect(rows).toHaveLength(52);
    expect(rows.at(-1)).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      ...[clerk.name, "shipment correct", logged.id, "", "", '{"stage": 1}', '{"stage": 3}'].map((cell) =>
        cell.startsWith("{") ? cell.replaceAll(" ", "") : cell,
      ),
      `'=cmd|"/c calc"!A1, a slip`,
    ]);
  });
});

describe("a document's file", () => {
  const fileName = "Añadido – 发票 'final' 100%.pdf";
  let held: Awaited<ReturnType<typeof newShipment>>;
  let document: string;
  let address: string;
  beforeAll(async () => {
    held = await newShipment(app, client, "With a file");
    await uploadDocument(client.browser, held.portal, "Packing List", createPdf(fileName, 3000));
    document = (await getDocument(app.company, held.id, "Packing List")).id;
    const links = (await clerk.browser.open(held.desk)).all("main a");
    address = links.find((link) => getText(link) === "Open the Packing List")?.getAttribute("href") ?? "";
  });

  test("comes as it was sent, as a download under its own name that no browser shows, runs or keeps; and is logged", async () => {
    const answer = await clerk.browser.get(address);
    expect(answer.status).toBe(200);
    const header = (name: string) => answer.headers.get(name) ?? "";
    expect(header("Content-Type")).toBe("application/pdf");
    expect(header("Content-Disposition")).toMatch(
      /^attachment; filename="[ -!#-[\]-~]+"; filename\*=UTF-8''[\w.!~%-]+$/,
    );
    expect(decodeURIComponent(header("Content-Disposition").split("UTF-8''")[1] ?? "")).toBe(fileName);
    expect(header("Cache-Control")).toMatch(noStorePattern);
    expect(header("Content-Security-Policy")).toBe("sandbox; default-src 'none'");
    const body = Buffer.from(await answer.arrayBuffer());
    expect(body.equals(Buffer.from(await createPdf(fileName, 3000).arrayBuffer()))).toBe(true);
    const [act] = (await listShipmentAuditEntries(app.company, held.id)).filter(
      ({ action }) => action === "document open",
    );
    expect(act?.actor_name).toBe(clerk.name);
    expect((await clerk.browser.open(held.desk)).text).toMatch(
      /Log Opened: Packing List Akinyi Odhiambo \d{1,2} [A-Z][a-z]+ \d{4}, \d\d:\d\d EAT/,
    );
  });

  test("is not there for an id that is unknown, none, of another shipment, or without a file, and nothing was opened", async () => {
    const opened = async () => [
      await listShipmentAuditEntries(app.company, held.id),
      await listShipmentAuditEntries(app.company, shipment.id),
    ];
    const before = await opened();
    const missing = await getDocument(app.company, held.id, "Bill of Lading");
    const unknown = "0b51e3a8-0000-4000-8000-000000000000";
    for (const path of [
      `${held.desk}/documents/${unknown}`,
      `${held.desk}/documents/not-a-uuid`,
      `${held.desk}/documents/${missing.id}`,
      `/desk/shipments/${unknown}/documents/${document}`,
      `${shipment.desk}/documents/${document}`,
    ]) {
      const page = await clerk.browser.open(path);
      expect([path, page.status, page.h1]).toEqual([path, 404, "There is no page here"]);
      expect([path, page.headers.get("Content-Disposition")]).toEqual([path, null]);
    }
    expect(await opened()).toEqual(before);
  });

  test("that cannot be fetched is no file, but a page that says so", async () => {
    for (const of of [/open_document/, /storage/]) {
      app.proxy.fail(500, of);
      const page = await clerk.browser.open(address);
      expect([page.status, page.headers.get("Content-Disposition")]).toEqual([503, null]);
      expect(page.text).toContain("Our records do not answer at the moment.");
      expectNoInternals(page);
      app.proxy.fail("none");
    }
  });

  test("that was exchanged in the store is not sent, and the page says so", async () => {
    const { storage_path } = await getDocument(app.company, held.id, "Packing List");
    await replaceStoredFile(app.company, storage_path ?? "");
    const page = await clerk.browser.open(address);
    expect([page.status, page.headers.get("Content-Disposition")]).toEqual([409, null]);
    expect(page.html).not.toContain("another file");
    expect(page.text).toContain("The stored file is not the one that was uploaded.");
  });
});

describe("an account of a client", () => {
  /** Presses a button on the page of a client, with a reason. */
  async function press(who: { id: string }, button: string, reason = "They asked by phone") {
    const page = await clerk.browser.open(`/desk/clients/${who.id}`);
    return clerk.browser.follow(await clerk.browser.submit(page, button, { reason }));
  }

  test("is found by name, e-mail and client ID, and its page shows its shipments and what was done", async () => {
    const person = await newClient(app, "Findable Person");
    await newShipment(app, person, "Of the findable");
    const page = await clerk.browser.open(`/desk/clients/${person.id}`);
    expect(page.h1).toBe("Findable Person");
    expect(page.text).toMatch(/Of the findable 1\/10 Client Onboarding Client's move/);
    expect(listDuplicateIds(page)).toEqual([]);
    const [, clientId = ""] = /Client ID ([0-9A-Z-]{12,})/.exec(page.text) ?? [];
    for (const q of ["findABLE per", person.email.toUpperCase(), clientId.toLowerCase()]) {
      const list = await clerk.browser.open(`/desk/clients?q=${encodeURIComponent(q)}`);
      expect([q, list.all("main a[data-row]").map((link) => link.getAttribute("href"))]).toEqual([
        q,
        [`/desk/clients/${person.id}`],
      ]);
    }
    expect((await clerk.browser.open("/desk/clients?q=nobody-is-called-so")).text).toContain("No client matches.");
    for (const id of ["0b51e3a8-0000-4000-8000-000000000000", "not-a-uuid", lead.id]) {
      const answers = [await clerk.browser.open(`/desk/clients/${id}`)];
      answers.push(
        await parsePage(await clerk.browser.post(`/desk/clients/${id}`, { intent: "close-account", reason: "x" })),
      );
      for (const { status, h1 } of answers) expect([id, status, h1]).toEqual([id, 404, "There is no page here"]);
    }
  });

  test("that is closed is left at once, its login refused in plain words; opened again, it opens", async () => {
    const person = await newClient(app, "Closed Person");
    const { portal } = await newShipment(app, person, "Stays");
    const form = await person.browser.open(portal);
    const refused = await parsePage(
      await clerk.browser.submit(await clerk.browser.open(`/desk/clients/${person.id}`), "Close account", {
        reason: " ",
      }),
    );
    expect(refused.status).toBe(400);
    expect(getField(refused, "close-account-reason").said).toEqual(["Say why, in a few words."]);
    expect((await person.browser.get("/portal")).status).toBe(200);

    const closed = await press(person, "Close account");
    expect(closed.toasts).toEqual(successToast("The account is closed"));
    expect(closed.text).toContain("Account Closed");
    expect(closed.all("button").map(getText)).not.toContain("Send a new-password link");
    const late = copyBrowser(app, person.browser);
    expect((await late.submit(form, "Upload the Packing List", { file: createPdf() })).headers.get("Location")).toMatch(
      /^\/login/,
    );
    expect((await person.browser.get("/portal")).headers.get("Location")).toBe("/login");
    const login = await parsePage(await person.browser.post("/login", { email: person.email, password }));
    expect([login.status, login.toasts[0]?.title]).toEqual([400, "Login Failed"]);
    expect(login.toasts[0]?.description).toBe("The e-mail address or the password is not right.");

    const open = await press(person, "Open account again", "A mistake of ours");
    expect(open.toasts).toEqual(successToast("The account is open again"));
    expect(open.text).toMatch(
      /Account opened again .* Reason: A mistake of ours Account closed .* Reason: They asked by phone/,
    );
    await person.browser.logIn(person.email);
    expect((await person.browser.open(portal)).h1).toBe("Stays");
  });

  test("loses its second factor and its sessions, opens with its password alone, and its owner is told by mail", async () => {
    const person = await newClient(app, "Lost Phone");
    const without = await clerk.browser.open(`/desk/clients/${person.id}`);
    expect(without.all("button").map(getText)).not.toContain("Remove second factor");
    await setUpSecondFactor(person.browser, "/portal/2fa");
    const mails = await countEmailsTo(person.email);
    const page = await press(person, "Remove second factor");
    const told = await getLatestEmailTo(person.email);
    expect([told.count - mails, told.subject]).toEqual([1, "Two-factor authentication is off"]);
    expect(told.text).toContain("If you did not ask for this, call us at once.");
    expect(told.text).not.toContain("They asked by phone");
    expect(page.toasts).toEqual(successToast("The account opens with its password alone"));
    expect(page.text).toContain("2FA Off");
    expect((await person.browser.get("/portal")).headers.get("Location")).toBe("/login");
    await person.browser.logIn(person.email);
    const again = await parsePage(
      await clerk.browser.post(`/desk/clients/${person.id}`, {
        intent: "remove-2fa",
        form: "remove-2fa",
        reason: "Twice",
      }),
    );
    expectRejectedForm(again, 409, "This account has no second factor.");
    expect(await countEmailsTo(person.email)).toBe(mails + 1);
  });

  test("is sent a link to a new password, which the colleague never sees", async () => {
    const person = await newClient(app, "Forgot Password");
    const before = await countEmailsTo(person.email);
    const answer = await clerk.browser.submit(
      await clerk.browser.open(`/desk/clients/${person.id}`),
      "Send a new-password link",
    );
    const page = await clerk.browser.follow(answer);
    expect(page.toasts).toEqual(successToast("The link is on its way"));
    const mail = await getLatestEmailTo(person.email);
    expect([mail.count - before, mail.subject]).toEqual([1, "Set a new password"]);
    const link = await getLatestLinkTo(person.email);
    expect(page.html).not.toContain(link.split("token=")[1]);
    expect((await app.browser().open(link)).form("Set password").fields).toHaveProperty("password");
    expect((await person.browser.get("/portal")).status).toBe(200);
  });

  test("is not erased while its shipments have to be kept, and its page says until when", async () => {
    const person = await newClient(app, "Kept Person");
    const { id } = await newShipment(app, person, "Kept");
    const { data } = await app.company.from("shipments").select("retention_ends_on").eq("id", id).single();
    const day = data?.retention_ends_on ?? "";
    const page = await clerk.browser.open(`/desk/clients/${person.id}`);
    expect(page.all("button").map(getText)).not.toContain("Erase");
    expect(page.text).toMatch(/It cannot be erased before \d{1,2} [A-Z][a-z]+ \d{4}: its shipments have to be kept/);
    const { action } = page.form("Close account");
    const forced = await parsePage(
      await clerk.browser.post(action, { intent: "erase", form: "erase", reason: "By hand" }),
    );
    const why = `This account has shipments that have to be kept, the last until ${day}: nothing was deleted.`;
    expectRejectedForm(forced, 409, why);
    expect((await person.browser.open("/portal")).text).toContain("Kept");
  });

  test("is erased when nothing is kept: nobody is signed in to it, and its address is as new", async () => {
    const person = await newClient(app, "Erased Person");
    const list = await press(person, "Erase");
    expect(list.h1).toBe("Clients");
    expect(list.toasts).toEqual(successToast("The account is gone"));
    expect((await clerk.browser.get(`/desk/clients/${person.id}`)).status).toBe(404);
    expect((await person.browser.get("/portal")).headers.get("Location")).toBe("/login");
    expect((await person.browser.post("/login", { email: person.email, password })).status).toBe(400);
    const [clientId = ""] = await issueClientIds(app.company, 1);
    const form = { clientId, fullName: "Same Address", email: person.email, password };
    expect((await app.browser().post("/signup", form)).status).toBe(303);
  });
});

describe("an invitation of a client", () => {
  const issue = async (typed: FormValues) =>
    clerk.browser.submit(await clerk.browser.open("/desk/invitations"), "Issue", typed);
  const idIn = (page: ParsedPage) => /[0-9A-Z]{4}(-[0-9A-Z]{4}){2,}/.exec(page.toasts[0]?.title ?? "")?.[0] ?? "";
  /** The page of the unused ones on which an ID stands, the oldest being on the first; throws when it is on none. */
  async function pageWith(clientId: string) {
    let page = await clerk.browser.open("/desk/invitations");
    while (!page.text.includes(clientId)) {
      const next = page.all("main a").find((link) => getText(link) === "Next page");
      if (!next) throw new Error(`${clientId} stands nowhere`);
      page = await clerk.browser.open(next.getAttribute("href") ?? "");
    }
    return page;
  }
  /** All client IDs that were issued for somebody. */
  async function issuedFor(whom: string) {
    const { data } = await app.company.from("client_ids").select("client_id, sent_to").eq("issued_for", whom);
    return data ?? [];
  }

  test("comes by mail with a link to a sign-up that has the client ID filled in, and opens an account", async () => {
    const email = newEmailAddress("invited", "client.example");
    const page = await clerk.browser.follow(await issue({ for: "Mombasa Millers", email }));
    const clientId = idIn(page);
    expect(page.toasts).toEqual(successToast(`${clientId} is on its way`));
    expect((await pageWith(clientId)).text).toContain(`Mombasa Millers, ${email}`);
    const link = await getLatestLinkTo(email);
    const visitor = app.browser();
    const form = await visitor.open(link);
    expect(form.value("clientId")).toBe(clientId);
    const typed = { fullName: "Miller Person", email, password };
    expect((await visitor.submit(form, "Create Account", typed)).headers.get("Location")).toBe("/login");
    await visitor.confirmEmail(email);
    await visitor.logIn(email);
    expect((await visitor.open("/portal")).text).toContain("Welcome, Miller Person.");
    await expect(pageWith(clientId)).rejects.toThrow("nowhere");
  });

  test("is issued once when the button is pressed twice, and once more when somebody asks again", async () => {
    const page = await clerk.browser.open("/desk/invitations");
    const other = copyBrowser(app, clerk.browser);
    const typed = { count: "3", for: "Twice Traders" };
    const answers = await Promise.all([clerk.browser.submit(page, "Issue", typed), other.submit(page, "Issue", typed)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    clerk.browser.cookies.delete("flash");
    expect(await issuedFor("Twice Traders")).toHaveLength(3);
    expect((await clerk.browser.follow(await issue(typed))).toasts).toEqual(successToast("3 issued"));
    expect(await issuedFor("Twice Traders")).toHaveLength(6);
  });

  test("is mailed once when its form is sent twice at once and once more, and not after it was withdrawn", async () => {
    const email = newEmailAddress("mailed-once", "client.example");
    const page = await clerk.browser.open("/desk/invitations");
    const other = copyBrowser(app, clerk.browser);
    const typed = { for: "Mailed Once", email };
    const send = (browser = clerk.browser) => browser.submit(page, "Issue", typed);
    const answers = [...(await Promise.all([send(), send(other)])), await send()];
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    const [{ client_id: clientId = "" } = {}, ...more] = await issuedFor("Mailed Once");
    expect(more).toEqual([]);
    expect((await clerk.browser.open("/desk/invitations")).toasts).toEqual(successToast(`${clientId} is on its way`));
    expect((await getLatestEmailTo(email)).count).toBe(1);

    const reason = { reason: "Wrong person" };
    await clerk.browser.submit(await pageWith(clientId), `Withdraw ${clientId}`, reason);
    clerk.browser.cookies.delete("flash");
    const late = await parsePage(await send());
    expectRejectedForm(late, 409, "This form issued a client ID before. Open the page again.");
    expect([await countEmailsTo(email), await issuedFor("Mailed Once")]).toEqual([1, []]);
  });

  test("is mailed again from its line, once for a form, and only where it was sent and while it is unused", async () => {
    const email = newEmailAddress("mailed-again", "client.example");
    const clientId = idIn(await clerk.browser.follow(await issue({ for: "Mailed Again", email })));
    const page = await pageWith(clientId);
    const other = copyBrowser(app, clerk.browser);
    const button = `Send again ${clientId}`;
    const answers = await Promise.all([clerk.browser.submit(page, button), other.submit(page, button)]);
    answers.push(await clerk.browser.submit(page, button));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect((await clerk.browser.open("/desk/invitations")).toasts).toEqual(successToast(`${clientId} is on its way`));
    const mail = await getLatestEmailTo(email);
    expect(mail.count).toBe(2);
    expect(mail.text).toContain(clientId);
    await clerk.browser.submit(await pageWith(clientId), button);
    clerk.browser.cookies.delete("flash");
    expect(await countEmailsTo(email)).toBe(3);

    const unsent = idIn(await clerk.browser.follow(await issue({ for: "Never mailed" })));
    expect((await pageWith(unsent)).all("button").map(getText)).not.toContain(`Send again ${unsent}`);
    await app.browser().post("/signup", { clientId, fullName: "Came In", email: newEmailAddress("came-in"), password });
    const { action, fields } = page.form(button);
    const why = "This Client ID is not known, or has been used, or was issued without an address.";
    for (const one of [clientId, unsent, "0000-0000-0000-0000"]) {
      const form = { ...(fields as Record<string, string>), clientId: one, idempotencyKey: crypto.randomUUID() };
      expectRejectedForm(await parsePage(await clerk.browser.post(action, form)), 409, why);
    }
    expect(await countEmailsTo(email)).toBe(3);
  });

  test("is issued once when the answer was lost and the same form is sent again", async () => {
    const page = await clerk.browser.open("/desk/invitations");
    app.proxy.fail("lost answer", /issue_client_ids/);
    const lost = await parsePage(await clerk.browser.submit(page, "Issue", { for: "Lost Line" }));
    app.proxy.fail("none");
    expect(lost.status).toBe(503);
    const again = await clerk.browser.follow(await clerk.browser.submit(lost, "Issue"));
    expect((await issuedFor("Lost Line")).map(({ client_id }) => client_id)).toEqual([idIn(again)]);
  });

  test.each<[FormValues, string, string]>([
    [{ count: "0" }, "count", "Give a number from 1 to 100."],
    [{ count: "101" }, "count", "Give a number from 1 to 100."],
    [{ count: "1.5" }, "count", "Give a number from 1 to 100."],
    [{ count: "many" }, "count", "Give a number from 1 to 100."],
    [{ count: "" }, "count", "Give a number from 1 to 100."],
    [{ count: "2", email: "a@b.example" }, "count", "Send one client ID at a time, or leave the e-mail address out."],
    [{ email: "nobody" }, "email", "Enter an e-mail address in the form name@example.com."],
    [{ for: "x".repeat(121) }, "for", "Use at most 120 characters."],
  ])("%j is refused beside its field, with what was typed", async (typed, name, why) => {
    const page = await parsePage(await issue({ for: "Never issued", ...typed }));
    expect(page.status).toBe(400);
    expect(getField(page, `issue-${name}`).said.at(-1)).toBe(why);
    expect(page.form("Issue").fields).toMatchObject(typed);
    expect(await issuedFor("Never issued")).toEqual([]);
  });

  test("that is withdrawn opens no account, and one that was used cannot be withdrawn", async () => {
    const clientId = idIn(await clerk.browser.follow(await issue({ for: "Withdrawn" })));
    const page = await pageWith(clientId);
    const button = `Withdraw ${clientId}`;
    const refused = await parsePage(await clerk.browser.submit(page, button, { reason: "" }));
    expect(getField(refused, `withdraw-${clientId}-reason`).said).toEqual(["Say why, in a few words."]);
    const gone = await clerk.browser.follow(await clerk.browser.submit(refused, button, { reason: "Wrong person" }));
    expect(gone.toasts).toEqual(successToast(`${clientId} is withdrawn`));
    const { data } = await app.company.from("client_ids").select("client_id").eq("client_id", clientId);
    expect(data).toEqual([]);
    const form = { clientId, fullName: "Too Late", email: newEmailAddress("late", "client.example"), password };
    const signUp = await parsePage(await app.browser().post("/signup", form));
    expect([signUp.status, signUp.toasts[0]?.title]).toEqual([400, "Sign up Failed"]);
    const again = await parsePage(await clerk.browser.submit(page, button, { reason: "Twice" }));
    expectRejectedForm(again, 409, "This Client ID is not known, or has been used.");
  });

  const notSent = "Done, but its mail could not be sent: it is on Today's list";

  test("whose mail cannot be sent is sent again from Today's list, once for a form, and leaves the list with it", async () => {
    const email = newEmailAddress("reachable-later", "client.example");
    const failing = async (act: () => Promise<Response>) => {
      process.env.SMTP_URL = `smtp://127.0.0.1:${await freePort()}`;
      return act().finally(() => {
        delete process.env.SMTP_URL;
      });
    };
    await failing(() => issue({ for: "Reachable Later", email }));
    clerk.browser.cookies.delete("flash");
    const button = `Send again: the client ID to ${email}`;
    const page = await clerk.browser.open("/desk");
    const still = await clerk.browser.follow(await failing(() => clerk.browser.submit(page, button)));
    expect(still.toasts).toEqual(successToast(notSent));
    expect(still.all("button").filter((one) => getText(one) === button)).toHaveLength(1);

    const other = copyBrowser(app, clerk.browser);
    const answers = await Promise.all([clerk.browser.submit(still, button), other.submit(still, button)]);
    answers.push(await clerk.browser.submit(still, button));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    const [{ client_id = "" } = {}] = await issuedFor("Reachable Later");
    const after = await clerk.browser.open("/desk");
    expect(after.toasts).toEqual(successToast(`${client_id} is on its way`));
    expect(after.text).not.toContain(email);
    const mail = await getLatestEmailTo(email);
    expect([mail.count, mail.text.includes(client_id)]).toEqual([1, true]);
  });

  test("whose mail cannot be sent is said to be, and stands on Today's list until somebody has dealt with it", async () => {
    const email = newEmailAddress("unreachable", "client.example");
    process.env.SMTP_URL = `smtp://127.0.0.1:${await freePort()}`;
    const answer = await issue({ for: "Unreachable", email }).finally(() => {
      delete process.env.SMTP_URL;
    });
    const page = await clerk.browser.follow(answer);
    const [{ client_id = "" } = {}] = await issuedFor("Unreachable");
    expect(client_id).not.toBe("");
    expect(page.toasts).toEqual(successToast(notSent));
    expect(await countEmailsTo(email)).toBe(0);
    const today = await clerk.browser.open("/desk");
    expect(today.text).toContain(`The client ID to ${email}`);
    const after = await clerk.browser.follow(
      await clerk.browser.submit(today, `Dealt with: the client ID to ${email}`),
    );
    expect(after.toasts).toEqual(successToast("Taken off the list"));
    expect(after.text).not.toContain(email);
  });
});

describe("a colleague", () => {
  const page = () => lead.browser.open("/desk/team");
  const invite = async (typed: FormValues) => lead.browser.submit(await page(), "Invite", typed);
  const row = (shown: ParsedPage, email: string) =>
    shown
      .all("main li")
      .map(getText)
      .find((line) => line.includes(email)) ?? "";

  test("is invited by mail, sets a password and a second factor, and is at the desk in the role they were given", async () => {
    const email = newEmailAddress("invited");
    const typed = { name: "Otieno <Ouma>", email, role: "lead" };
    const told = await lead.browser.follow(await invite(typed));
    expect(told.toasts).toEqual(successToast("The invitation is on its way"));
    expect(row(told, email)).toContain(`Otieno <Ouma> ${email}, lead, invited, not come yet`);
    expect((await getLatestEmailTo(email)).text).toContain("Otieno <Ouma>, you have an account at our desk now.");
    const again = await lead.browser.submit(told, "Send the invitation again to Otieno <Ouma>");
    expect((await lead.browser.follow(again)).toasts).toEqual(successToast("The invitation is on its way"));
    expect((await getLatestEmailTo(email)).count).toBe(2);

    const browser = app.browser();
    await browser.submit(await browser.open(await getLatestLinkTo(email)), "Set password", { password: staffPassword });
    await browser.logIn(email, staffPassword);
    await setUpSecondFactor(browser, "/desk/2fa");
    expect((await browser.open("/desk/team")).text).toContain("Otieno <Ouma> (you)");
    expect(row(await page(), email)).toMatch(/, lead, last login .* EAT/);
  });

  test("is mailed once by a form that is sent twice at once and once more, the first time and again", async () => {
    const email = newEmailAddress("invited-once");
    const typed = { name: "Invited Once", email, role: "clerk" };
    const other = copyBrowser(app, lead.browser);
    for (const [button, fields, count] of [
      ["Invite", typed, 1],
      ["Send the invitation again to Invited Once", {}, 2],
    ] as const) {
      const form = await page();
      const send = (browser: typeof other) => browser.submit(form, button, fields);
      const answers = [...(await Promise.all([send(lead.browser), send(other)])), await send(other)];
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
      expect((await page()).toasts).toEqual(successToast("The invitation is on its way"));
      expect([button, await countEmailsTo(email)]).toEqual([button, count]);
      expect((await app.browser().open(await getLatestLinkTo(email))).form("Set password").fields).toHaveProperty(
        "password",
      );
    }
    const id = await findAccountId(app.company, email);
    const { data } = await app.company.from("audit_log").select("action").eq("account_id", id);
    expect(data).toEqual(Array(2).fill({ action: "team invite" }));
  });

  test.each<[FormValues, string, string]>([
    [{ name: "", email: "x@company.example", role: "clerk" }, "name", "Enter your full name."],
    [{ name: "X", email: "nobody", role: "clerk" }, "email", "Enter an e-mail address in the form name@example.com."],
    [{ name: "X", email: "x@company.example", role: "owner" }, "role", "Choose what they may do."],
  ])("is not invited with %j, which stays in the form", async (typed, name, why) => {
    const refused = await parsePage(await invite(typed));
    expect(refused.status).toBe(400);
    expect(getField(refused, `invite-${name}`).said.at(-1)).toBe(why);
    expect(refused.form("Invite").fields).toMatchObject({ name: typed.name, email: typed.email });
  });

  test("has an address of their own: neither a client's nor a colleague's is invited", async () => {
    const typed = { name: "Double", email: client.email.toUpperCase(), role: "clerk" };
    const refused = await parsePage(await invite(typed));
    expectRejectedForm(refused, 409, "This address has a client's account. A colleague needs an address of their own.");
    expect(refused.form("Invite").fields).toMatchObject(typed);
    for (const { id } of refused.problems) expect(refused.has(id)).toBe(true);
    const second = await parsePage(await invite({ name: "Double", email: clerk.email, role: "lead" }));
    expectRejectedForm(second, 409, "This address is a colleague's already.");
    expect((await client.browser.get("/portal")).status).toBe(200);
  });

  test("becomes a lead and a clerk again, at once; and is removed with a reason, at once", async () => {
    const other = await newStaffMember(app, "clerk", "Changing Role");
    const promoted = await lead.browser.follow(await lead.browser.submit(await page(), "Make a lead of Changing Role"));
    expect(promoted.toasts).toEqual(successToast("Role changed"));
    expect((await other.browser.get("/desk/team")).status).toBe(200);
    await lead.browser.submit(await page(), "Make a clerk of Changing Role");
    expect((await other.browser.get("/desk/team")).status).toBe(403);
    lead.browser.cookies.delete("flash");

    const button = "Remove Changing Role";
    const refused = await parsePage(await lead.browser.submit(await page(), button, { reason: "" }));
    expect(getField(refused, `remove-${other.id}-reason`).said).toEqual(["Say why, in a few words."]);
    const removed = await lead.browser.follow(await lead.browser.submit(refused, button, { reason: "Left us" }));
    expect(removed.toasts).toEqual(successToast("Removed, and signed out everywhere"));
    expect(removed.text).toMatch(new RegExp(`Removed .*Changing Role, ${other.email}`));
    expect((await other.browser.get("/desk")).headers.get("Location")).toMatch(/^\/login/);
    const log = await lead.browser.open("/desk/log?what=team+remove");
    expect(log.text).toMatch(new RegExp(`${lead.name} .* Reason: Left us`));
    expect(listDuplicateIds(removed)).toEqual([]);
  });

  test("whose phone is lost sets up another factor, after a lead took the old one off", async () => {
    const other = await newStaffMember(app, "clerk", "Phone Lost");
    const button = "Remove second factor of Phone Lost";
    const gone = await lead.browser.follow(await lead.browser.submit(await page(), button, { reason: "Phone stolen" }));
    expect(gone.toasts).toEqual(successToast("They set up a new second factor next"));
    expect((await getLatestEmailTo(other.email)).subject).toBe("Two-factor authentication is off");
    expect((await other.browser.get("/desk")).headers.get("Location")).toMatch(/^\/login/);
    await other.browser.logIn(other.email, staffPassword);
    expect((await other.browser.get("/desk")).headers.get("Location")).toBe("/desk/2fa");
  });

  test("who is the last lead stays one, and stays", async () => {
    // Everybody else who is a lead steps back, and this one tries to.
    const { data } = await app.company
      .from("staff_members")
      .select("account_id")
      .eq("role", "lead")
      .is("removed_at", null);
    const others = (data ?? []).map(({ account_id }) => account_id).filter((account) => account !== lead.id);
    try {
      for (const account of others)
        resultOrThrow(
          await app.company.rpc("change_staff_role", { account_id: account, role: "clerk" }).then(toActionResult),
        );
      const forms: Record<string, string>[] = [
        { intent: "role", account: lead.id, role: "clerk" },
        { intent: "remove", account: lead.id, reason: "Enough" },
      ];
      for (const form of forms) {
        const refused = await parsePage(await lead.browser.post("/desk/team", { ...form, form: "x" }));
        expectRejectedForm(refused, 409, "This is the last lead who works here: make somebody else a lead first.");
      }
      expect((await lead.browser.get("/desk/team")).status).toBe(200);
    } finally {
      for (const account of others) await app.company.rpc("change_staff_role", { account_id: account, role: "lead" });
    }
  });
});

const toActionResult = ({ error }: { error: { message: string } | null }) =>
  error ? { reason: error.message, status: 500 } : { result: null };

test("a notice is read by every client above their shipments, changed, and gone once it is ended", async () => {
  const set = async (text: string) =>
    clerk.browser.submit(await clerk.browser.open("/desk"), "Set the notice", { text });
  const empty = await parsePage(await set(""));
  expect([empty.status, getField(empty, "announce-text").said.at(-1)]).toEqual([400, "Write the notice."]);
  const long = await parsePage(await set("x".repeat(201)));
  expect(getField(long, "announce-text")).toMatchObject({ value: "x".repeat(201), isMarked: true });

  try {
    const first = "Customs system <down> since 09:10";
    const said = await clerk.browser.follow(await set(first));
    expect(said.toasts).toEqual(successToast("All clients read it now"));
    expect(said.text).toContain(first);
    for (const path of ["/portal", shipment.portal]) expect((await client.browser.open(path)).text).toContain(first);
    await set("Customs system up again");
    clerk.browser.cookies.delete("flash");
    const changed = await client.browser.open("/portal");
    expect([changed.text.includes("up again"), changed.text.includes(first)]).toEqual([true, false]);
  } finally {
    const ended = await clerk.browser.submit(await clerk.browser.open("/desk"), "End this notice");
    expect((await clerk.browser.follow(ended)).toasts).toEqual(successToast("Nothing is said to all clients any more"));
  }
  expect((await client.browser.open("/portal")).text).not.toContain("up again");
});

test("today's lists name what waits, each line with a way to the place on its page, which is there", async () => {
  const own = await newShipment(app, client, "Due in storage", ["Packing List"]);
  const arrival = { place: "mombasa", day: "2019-05-02", size: 20, free_storage_ends_on: "2019-05-06" };
  resultOrThrow(await saveArrival(app.company, own.id, arrival, {}));
  const page = await clerk.browser.open("/desk");
  expect(listDuplicateIds(page)).toEqual([]);
  const lists = page.all("main section, main [class*=border]").map(getText).join(" ");
  for (const title of [
    "Documents to check",
    "Free storage",
    "Standing still",
    "Your move at the client's",
    "Not delivered",
  ])
    expect(lists).toContain(title);
  const links = page.all("main a").map((link) => link.getAttribute("href") ?? "");
  expect(links).toContain(`${own.desk}#storage`);
  for (const link of links.filter((href) => href.includes("#")).slice(0, 5)) {
    const [path = "", id = ""] = link.split("#");
    expect([link, (await clerk.browser.open(path)).has(id)]).toEqual([link, true]);
  }
});
