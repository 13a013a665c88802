import { describe, expect, test } from "vitest";
import { findAccountId, inviteStaffMember, resultOrThrow } from "../../app/models/staff.server.ts";
import { listDeskAddresses, noteForm, type StaffMember } from "../support/desk-fixtures.ts";
import { getHref, listLinkAddresses, unknownId } from "../support/page-parts.ts";
import {
  copyBrowser,
  emailSender,
  getLatestLinkTo,
  listShipmentAuditEntries,
  newClient,
  newEmailAddress,
  newShipment,
  newStaffMember,
  newStaffMemberWithoutFactor,
  setUpSecondFactor,
  staffPassword,
} from "../support/route-fixtures.ts";
import { removeStaffMember } from "../support/staff-actions.ts";
import {
  getTestApp,
  getText,
  noStorePattern,
  type ParsedPage,
  parsePage,
  password,
  type TestBrowser,
} from "../support/test-app.ts";

const app = await getTestApp();
const lead = await newStaffMember(app, "lead", "Wambui Njoroge");
const clerk = await newStaffMember(app, "clerk", "Akinyi Odhiambo");
const client = await newClient(app, "Baraka Mwangi");
const shipment = await newShipment(app, client, "A secret cargo", ["Packing List"]);
const addresses = await listDeskAddresses(app, lead.browser, client, shipment);

const createNextParam = (path: string) => `next=${encodeURIComponent(path)}`;

/** Checks that a GET and a POST request for this path get a redirect without a body. */
async function expectRedirects(browser: TestBrowser, path: string, location: unknown): Promise<void> {
  for (const response of [await browser.get(path), await browser.post(path, noteForm)]) {
    expect([path, response.status, response.headers.get("Location")]).toEqual([path, 303, location]);
    expect(response.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(await response.text()).toBe("");
  }
}

/** Logs a team member in with the password but without the code of the second factor. */
async function logInWithoutCode(member: StaffMember, loginPath: string) {
  const browser = app.browser();
  const form = { email: member.email, password: staffPassword };
  const response = await browser.submit(await browser.open(loginPath), "Log in", form);
  return { browser, location: response.headers.get("Location") ?? "" };
}

const summarize = ({ status, title, h1, text }: ParsedPage) => ({ status, title, h1, text });

test("A team member can open the desk only after entering the code, and is then redirected to the requested search.", async () => {
  const path = "/desk/shipments?q=tea*&check=1";
  const login = (await app.browser().get(path)).headers.get("Location") ?? "";
  expect(login).toBe(`/login?${createNextParam(path)}`);
  const { browser, location } = await logInWithoutCode(clerk, login);
  expect(location).toBe(`/login/verify?${createNextParam(path)}`);
  for (const address of addresses)
    await expectRedirects(browser, address, expect.stringMatching(/^\/login\/verify(\?next=|$)/));
  const code = await clerk.authenticator.freshCode();
  const response = await browser.submit(await browser.open(location), "Verify", { code });
  expect(response.headers.get("Location")).toBe(path);
  expect((await browser.follow(response)).form("Find").fields).toMatchObject({ q: "tea*", check: "1" });
});

test("Neither the password form nor the code form of a login redirects to a page outside the desk and the portal.", async () => {
  const next = "/desk/../../evil";
  const login = `/login?${createNextParam(next)}`;
  const { browser, location } = await logInWithoutCode(lead, login);
  expect(location).toBe("/login/verify");
  const form = { code: await lead.authenticator.freshCode(), next };
  expect((await browser.post("/login/verify", form)).headers.get("Location")).toBe("/portal");
});

test("A URL of the desk in another spelling shows the same page to team members and the same rejection to others.", async () => {
  const withoutFactor = await newStaffMemberWithoutFactor(app, "clerk", "Odd Speller");
  const unknownPage = summarize(await client.browser.open("/no-such-page"));
  // Other test files create shipments and clients in parallel, so the search limits the lists to this client.
  const own = `?q=${encodeURIComponent(client.email)}`;
  for (const [spelling, path] of [
    [`/DESK/Shipments/${own}`, `/desk/shipments${own}`],
    [shipment.desk.toUpperCase() + own, shipment.desk + own],
    [`/%64esk/%63lients/${client.id}`, `/desk/clients/${client.id}`],
    ["/desk/LOG?who=Nobody", "/desk/log?who=Nobody"],
  ] as const) {
    const page = await clerk.browser.open(spelling);
    expect([spelling, summarize(page)]).toEqual([spelling, summarize(await clerk.browser.open(path))]);
    expect([page.status, page.headers.get("Cache-Control")]).toEqual([200, "private, no-store"]);
    await expectRedirects(app.browser(), spelling, expect.stringMatching(/^\/login(\?|$)/));
    expect([spelling, summarize(await client.browser.open(spelling))]).toEqual([spelling, unknownPage]);
    await expectRedirects(withoutFactor.browser, spelling, "/desk/2fa");
  }
  expect((await clerk.browser.open("/desk/Team")).status).toBe(403);
});

test("Every URL of the desk shows a client the page for an unknown URL, with or without a second factor.", async () => {
  const secured = await newClient(app, "Careful Client");
  await setUpSecondFactor(secured.browser, "/portal/2fa");
  const beforeCode = app.browser();
  await beforeCode.post("/login", { email: secured.email, password });
  const describePage = (page: ParsedPage) => [
    ...[page.status, page.title, page.h1, page.text, page.headers.get("Content-Type")],
    ...page.all("header button, html").map((part) => part.getAttribute("class") ?? ""),
  ];
  await client.browser.open("/");
  const unknownPage = describePage(await client.browser.open("/no-such-page"));
  expect(unknownPage[0]).toBe(404);
  for (const path of addresses) {
    const page = await client.browser.open(path);
    expect([path, ...describePage(page)]).toEqual([path, ...unknownPage]);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect([path, (await client.browser.post(path, noteForm)).status]).toEqual([path, 404]);
  }
  for (const browser of [client.browser, secured.browser, beforeCode]) {
    expect(describePage(await browser.open(shipment.desk))).toEqual(unknownPage);
    const response = await browser.post(shipment.desk, noteForm);
    expect([response.status, (await response.text()).includes("A secret cargo")]).toEqual([404, false]);
  }
  for (const browser of [client.browser, secured.browser, beforeCode, app.browser()])
    expect(await (await browser.get("/desk/shipments.data")).text()).not.toContain("A secret cargo");
  expect(await listShipmentAuditEntries(app.company, shipment.id)).toEqual([]);
});

test("Public pages have a link to the desk for a team member, and to the shipments for a client who logs in later.", async () => {
  const { browser } = await newStaffMember(app, "clerk", "Shared Computer");
  const readAccountLinks = async () => {
    const page = await browser.open("/about");
    const links = [...page.all("header nav a"), ...page.all("footer nav a")].map(getText);
    return ["Client Login", "My Shipments", "Desk"].filter((name) => links.includes(name));
  };
  await browser.open("/desk");
  expect(await readAccountLinks()).toEqual(["Desk"]);
  await browser.post("/portal/sign-out", {});
  expect(await readAccountLinks()).toEqual(["Client Login"]);
  const { email } = await newClient(app, "Next Person");
  await browser.follow(await browser.post("/login", { email, password }));
  expect(await readAccountLinks()).toEqual(["My Shipments"]);
});

test("The page for an unknown URL has a link that works for the viewer's role.", async () => {
  const unknownPage = "/portal/no/such/page";
  const inPortal = ["", "/share", "/change", "/print", `/documents/${unknownId}`].map(
    (part) => `/portal/${unknownId}${part}`,
  );
  const documentParts = ["", "/file", "/view"].map((part) => `/documents/${unknownId}${part}`);
  const inDesk = ["", "/arrival", "/move", ...documentParts].map((part) => `/desk/shipments/${unknownId}${part}`);
  inDesk.push("/desk/shipments/x", `/desk/clients/${unknownId}`, "/desk/no-such", unknownPage);
  const outside = ["/desk/no-such", "/no-such-page"];
  const home = ["Go to the home page", "/"];
  for (const [browser, paths, link] of [
    [client.browser, [...inPortal, unknownPage], ["Go to My Shipments", "/portal"]],
    [clerk.browser, inDesk, ["Go to the Today page", "/desk"]],
    [client.browser, outside, home],
    [app.browser(), [...outside, unknownPage], home],
    [clerk.browser, ["/no-such-page"], home],
  ] as const)
    for (const path of paths) {
      const page = await browser.open(path);
      const [first] = page.all("main a");
      expect([path, page.status, getText(first), first?.getAttribute("href")]).toEqual([path, 404, ...link]);
    }
});

test("A team member is redirected from the portal to the desk and cannot create a shipment.", async () => {
  for (const path of ["/portal", "/portal/new", "/portal/2fa", "/portal/account", shipment.portal]) {
    expect((await clerk.browser.get(path)).headers.get("Location"), path).toBe("/desk");
    const form = { name: "Mine", idempotencyKey: crypto.randomUUID() };
    expect((await clerk.browser.post(path, form)).headers.get("Location"), path).toBe("/desk");
  }
  expect((await app.company.from("shipments").select("id").eq("user_id", clerk.id)).data).toEqual([]);
});

test("A team member without a second factor is redirected to the page that sets up 2FA, and can then open the desk.", async () => {
  const { browser } = await newStaffMemberWithoutFactor(app, "lead", "New Member");
  for (const path of addresses.filter((path) => !["/desk/2fa", "/desk/session"].includes(path)))
    await expectRedirects(browser, path, "/desk/2fa");
  expect((await browser.open("/desk/2fa")).text).toContain("Set up 2FA to open the desk.");
  await setUpSecondFactor(browser, "/desk/2fa");
  expect((await browser.open("/desk")).h1).toBe("Today");
});

test("A clerk sees no link to the page Team, gets status 403 from it, and cannot send its forms.", async () => {
  const email = newEmailAddress("friend");
  const page = await clerk.browser.open("/desk/team");
  expect([page.status, page.h1]).toEqual([403, "We cannot process this request"]);
  expect(page.text).toContain("Only leads can open this page.");
  expect(getHref(page, "Go to the Today page")).toBe("/desk");
  expect(listLinkAddresses(await clerk.browser.open("/desk"), "header nav a")).not.toContain("/desk/team");
  for (const form of [
    { intent: "invite", name: "Own Friend", email, role: "lead" },
    { intent: "role", account: clerk.id, role: "lead" },
    { intent: "remove", account: lead.id, reason: "Mine" },
  ] as Record<string, string>[])
    expect((await clerk.browser.post("/desk/team", form)).status).toBe(403);
  await expect(findAccountId(app.company, email)).rejects.toThrow("There is no account");
  expect((await lead.browser.get("/desk")).status).toBe(200);
});

describe("Removed team members", () => {
  test("A removed team member is redirected to the login page, and cannot log in or send a form that was opened before.", async () => {
    const leaver = await newStaffMember(app, "clerk", "Leaver Otieno");
    const otherTab = copyBrowser(app, leaver.browser);
    const { fields, action } = (await leaver.browser.open(shipment.desk)).form("Send note");
    resultOrThrow(await removeStaffMember(app.company, leaver.id, "Left us"));
    const response = await otherTab.post(action, { ...(fields as Record<string, string>), note: "A last word" });
    expect(response.headers.get("Location")).toMatch(/^\/login/);
    const clients = await leaver.browser.get("/desk/clients");
    expect(clients.headers.get("Location")).toBe(`/login?${createNextParam("/desk/clients")}`);
    expect(leaver.browser.cookies.has("session")).toBe(false);
    expect(await listShipmentAuditEntries(app.company, shipment.id)).toEqual([]);
    const login = await parsePage(await app.browser().post("/login", { email: leaver.email, password: staffPassword }));
    expect([login.status, login.toasts[0]?.title]).toEqual([400, "Login Failed"]);
  });

  test("If a team member is removed before the first login, the link in the invitation becomes invalid.", async () => {
    const email = newEmailAddress("never-came");
    await inviteStaffMember(app.company, app.company, emailSender, { name: "Never Came", email, role: "clerk" });
    resultOrThrow(await removeStaffMember(app.company, await findAccountId(app.company, email), "Changed our mind"));
    const page = await app.browser().open(await getLatestLinkTo(email));
    expect(page.text).toContain("This link has been used or has expired.");
  });
});
