import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createUnsubscribeUrl } from "../../app/models/email-delivery.server.ts";
import { accountPath, isLoggedIn, newLoggedInBrowser, submitOnAccount } from "../support/account-suite.ts";
import {
  expectRejectedForm,
  getLatestEmailTo,
  listDuplicateIds,
  newClient,
  newStaffMember,
  successToast,
} from "../support/route-fixtures.ts";
import { getTestApp, getText, noStorePattern, origin, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const { sql } = app;
afterEach(() => app.proxy.fail("none"));

describe("account page", () => {
  let client: Awaited<ReturnType<typeof newClient>>;
  beforeAll(async () => {
    client = await newClient(app, "Account Owner");
  });

  test("The portal links to the account page, which has every form and is not cached", async () => {
    const links = (await client.browser.open("/portal")).all("main a");
    expect(links.find((link) => getText(link) === "Account")?.getAttribute("href")).toBe(accountPath);
    const page = await client.browser.open(accountPath);
    expect([page.status, page.h1]).toEqual([200, "Your account"]);
    expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    expect(page.text).toContain(`Email ${client.email} Client ID `);
    for (const button of [
      "Save name",
      "Change password",
      "Change email",
      "Save email settings",
      "Log out all other devices",
    ])
      expect(() => page.form(button)).not.toThrow();
    expect(listDuplicateIds(page)).toEqual([]);
  });

  test("A client saves a name, and the portal shows it as text", async () => {
    const { browser } = client;
    const saved = await browser.follow(
      await submitOnAccount(browser, "Save name", { fullName: "  Achieng' <b>Otieno</b> " }),
    );
    expect([saved.toasts, saved.value("fullName")]).toEqual([successToast("Name saved"), "Achieng' <b>Otieno</b>"]);
    const portal = await browser.open("/portal");
    expect(portal.text).toContain("Welcome, Achieng' <b>Otieno</b>.");
    expect(portal.html).not.toContain("<b>Otieno");
  });

  test.each(["", "n".repeat(101), "\u202e\u200b"])(
    "A client cannot save the name %j, and the previous name is unchanged",
    async (fullName) => {
      const { browser } = client;
      const previous = (await browser.open(accountPath)).value("fullName");
      const page = await parsePage(await submitOnAccount(browser, "Save name", { fullName }));
      expect([page.status, page.problems.map(({ id }) => page.has(id))]).toEqual([400, [true]]);
      if (fullName.length > 100) expect(page.value("fullName")).toBe(fullName.slice(0, 100));
      expect((await browser.open(accountPath)).value("fullName")).toBe(previous);
    },
  );

  test.each(["", "erase-all", "toString", "__proto__"])(
    "The account page rejects a form with the unknown intent %j",
    async (intent) => {
      expect((await client.browser.post(accountPath, { intent, form: intent })).status).toBe(400);
    },
  );

  test("A client turns shipment emails off and on, and the link in a shipment email turns the emails off too", async () => {
    const { browser, id } = client;
    /** Returns whether the page's box is checked, and the number of opt-outs in the database. */
    const readChoice = async () => {
      const [box] = (await browser.open(accountPath)).all("#shipment-emails input[name=enabled]");
      const rows = await sql`select from private.email_opt_outs where account_id = ${id}`;
      return { isChecked: box?.hasAttribute("checked"), optOuts: rows.length };
    };
    const [on, off] = [
      { isChecked: true, optOuts: 0 },
      { isChecked: false, optOuts: 1 },
    ];
    expect(await readChoice()).toEqual(on);
    const { fields } = (await browser.open(accountPath)).form("Save email settings");
    const { enabled: _, ...unchecked } = fields as Record<string, string>;
    const turnedOff = await browser.follow(await browser.post(accountPath, unchecked));
    expect([turnedOff.toasts, await readChoice()]).toEqual([successToast("Email settings saved"), off]);
    const turnedOn = await browser.follow(await submitOnAccount(browser, "Save email settings", { enabled: "yes" }));
    expect([turnedOn.toasts, await readChoice()]).toEqual([successToast("Email settings saved"), on]);
    await app.browser().post(createUnsubscribeUrl(id).replace(origin, ""), { "List-Unsubscribe": "One-Click" });
    expect(await readChoice()).toEqual(off);
  });

  test("A client signs out every other device and stays logged in on the current device", async () => {
    const devices = [await newLoggedInBrowser(app, client.email), await newLoggedInBrowser(app, client.email)];
    expect((await client.browser.open(accountPath)).text).toContain("on this device and on 2 other devices.");
    const page = await client.browser.follow(await submitOnAccount(client.browser, "Log out all other devices"));
    expect(page.toasts).toEqual(successToast("All other devices logged out"));
    expect(page.text).toContain("You are logged in on this device only.");
    expect(await Promise.all([client.browser, ...devices].map(isLoggedIn))).toEqual([true, false, false]);
  });
});

describe("erasure request", () => {
  const askButton = "Request to erase my account";

  test("A client requests erasure and withdraws the request, and the desk shows the request in between", async () => {
    const clerk = await newStaffMember(app, "clerk", "Erasure Clerk");
    const { browser, id } = await newClient(app, "Leaving Owner");
    /** Returns what the desk's page Today shows about the client's erasure request. */
    const readRequest = async () => {
      const today = await clerk.browser.open("/desk");
      const link = today.all("main a").find((each) => each.getAttribute("href") === `/desk/clients/${id}`);
      return link && [today.text.includes("Erasure requests"), getText(link)];
    };
    expect(await readRequest()).toBeUndefined();
    const requested = await browser.follow(await submitOnAccount(browser, askButton));
    expect(requested.toasts).toEqual(successToast("Erasure request sent", "We will reply by email."));
    expect(requested.text).toMatch(/On .* EAT you asked us to erase your account\. We will reply by email\./);
    expect(() => requested.form(askButton)).toThrow("No button");
    expect(await readRequest()).toEqual([true, expect.stringMatching(/^Leaving Owner Requested .* EAT$/)]);

    const withdrawn = await browser.follow(await submitOnAccount(browser, "Withdraw request"));
    expect(withdrawn.toasts).toEqual(successToast("Erasure request withdrawn"));
    expect(await readRequest()).toBeUndefined();
  });

  test("A clerk rejects an erasure request once, with a reason that the client gets by email", async () => {
    const clerk = await newStaffMember(app, "clerk", "Erasure Clerk");
    const { browser, email, id } = await newClient(app, "Staying Owner");
    await submitOnAccount(browser, askButton);
    const opened = await clerk.browser.open(`/desk/clients/${id}`);
    expect(opened.text).toMatch(/The client requested the erasure of this account on .* EAT\./);
    const button = "Reject erasure request";
    expect((await clerk.browser.submit(opened, button, { reason: " " })).status).toBe(400);
    const reason = "The law has us keep your last shipment until 4 May 2033.";
    const rejected = await clerk.browser.follow(await clerk.browser.submit(opened, button, { reason }));
    expect(rejected.toasts).toEqual(successToast(`Erasure request from ${email} rejected`));
    expect(rejected.text).not.toContain("The client requested erasure");
    const { subject, text } = await getLatestEmailTo(email);
    expect([subject, text.includes(reason), text.includes(clerk.name)]).toEqual([
      ...["We cannot erase your account yet", true, false],
    ]);
    const late = await parsePage(await clerk.browser.submit(opened, button, { reason }));
    expectRejectedForm(late, 409, "This client has no open erasure request.");
    expect((await browser.open(accountPath)).text).not.toContain("you asked us to erase");
  });

  test("The account page of clients does not open for a clerk", async () => {
    const clerk = await newStaffMember(app, "clerk", "Desk Clerk");
    const page = await clerk.browser.open(accountPath);
    expect(() => page.form("Save name")).toThrow("No button");
  });
});
