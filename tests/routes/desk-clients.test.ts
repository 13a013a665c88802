import { expect, test } from "vitest";
import { calendarDate } from "../../app/lib/dates.ts";
import { getHref, listButtons, listLinkAddresses, unknownId } from "../support/page-parts.ts";
import {
  copyBrowser,
  countEmailsTo,
  expectRejectedForm,
  getField,
  getLatestEmailTo,
  getLatestLinkTo,
  listDuplicateIds,
  newClient,
  newShipment,
  newStaffMember,
  setUpSecondFactor,
  successToast,
} from "../support/route-fixtures.ts";
import { issueClientIds } from "../support/service-role.ts";
import { createPdf, getTestApp, type ParsedPage, parsePage, password } from "../support/test-app.ts";

const app = await getTestApp();
const clerk = await newStaffMember(app, "clerk", "Akinyi Odhiambo");

const openAccount = ({ id }: { id: string }) => clerk.browser.open(`/desk/clients/${id}`);

async function submitForm(client: { id: string }, button: string, reason = "They asked by phone"): Promise<ParsedPage> {
  return clerk.browser.follow(await clerk.browser.submit(await openAccount(client), button, { reason }));
}

test("A team member can find a client by name, email or Client ID, and sees the client's shipments.", async () => {
  const client = await newClient(app, "Findable Person");
  await newShipment(app, client, "Of the findable");
  const page = await openAccount(client);
  expect(page.h1).toBe("Findable Person");
  expect(page.text).toMatch(/Of the findable 1\/10 Client Onboarding Waiting for client/);
  expect(listDuplicateIds(page)).toEqual([]);
  const [, clientId = ""] = /Client ID ([0-9A-Z-]{12,})/.exec(page.text) ?? [];
  for (const q of ["findABLE per", client.email.toUpperCase(), clientId.toLowerCase()]) {
    const list = await clerk.browser.open(`/desk/clients?q=${encodeURIComponent(q)}`);
    expect([q, listLinkAddresses(list, "main a[data-row]")]).toEqual([q, [`/desk/clients/${client.id}`]]);
  }
  expect((await clerk.browser.open("/desk/clients?q=nobody-is-called-so")).text).toContain("No clients found.");
});

test("A team member can save a client's telephone number, call the client and write on WhatsApp about a shipment.", async () => {
  const client = await newClient(app, "Callable Person");
  const shipment = await newShipment(app, client, "Pumps & pipes for Juba");
  const page = await openAccount(client);
  expect([page.text.includes("Telephone N/A"), page.html.includes("wa.me/254")]).toEqual([true, false]);
  const fields = { phone: "0912 345 678", country: "SS" };
  const saved = await clerk.browser.follow(await clerk.browser.submit(page, "Save telephone number", fields));
  expect(saved.toasts).toEqual(successToast("Telephone number +211 912 345 678 saved"));
  expect(saved.text).toContain("Telephone number changed");
  const text = `About your shipment Pumps & pipes for Juba (${shipment.id.slice(0, 8)}): `;
  const chat = `https://wa.me/211912345678?text=${encodeURIComponent(text)}`;
  for (const shown of [saved, await clerk.browser.open(shipment.desk)]) {
    expect(getHref(shown, "+211 912 345 678")).toBe("tel:+211912345678");
    expect(listLinkAddresses(shown, "main a")).toContain(chat);
  }
  for (const q of ["0912 345", "+211 912 345 678"]) {
    const list = await clerk.browser.open(`/desk/clients?q=${encodeURIComponent(q)}`);
    expect(listLinkAddresses(list, "main a[data-row]")).toEqual([`/desk/clients/${client.id}`]);
    expect(list.text).toContain("+211 912 345 678");
    expect((await clerk.browser.open(`/desk/shipments?q=${encodeURIComponent(q)}`)).text).toContain(
      "Pumps & pipes for Juba",
    );
  }
  expect((await client.browser.open("/portal/account")).value("phone")).toBe("+211 912 345 678");
});

test("The desk rejects an impossible telephone number, and a number that the client changed meanwhile.", async () => {
  const client = await newClient(app, "Changing Person");
  const page = await openAccount(client);
  const submit = async (phone: string) =>
    parsePage(await clerk.browser.submit(page, "Save telephone number", { phone, country: "CD" }));
  const invalid = await submit("0722 123456");
  expect(getField(invalid, "phone-phone").descriptions.at(-1)).toBe(
    "This is not a telephone number of DR Congo. Enter a number such as 0812 345 678, or choose another country.",
  );
  expect([invalid.status, invalid.value("phone")]).toEqual([400, "0722 123456"]);
  const account = await client.browser.open("/portal/account");
  await client.browser.submit(account, "Save telephone number", { phone: "0722 123456", country: "KE" });
  const outdated = await submit("0812 345 678");
  expectRejectedForm(outdated, 409, "Someone has changed this telephone number. Check the new values, then try again.");
  expect([outdated.value("phone"), outdated.text.includes("Telephone +254 722 123456")]).toEqual([
    "0812 345 678",
    true,
  ]);
  expect((await client.browser.open("/portal/account")).value("phone")).toBe("+254 722 123456");
});

test("For an unknown account or a team member's account, the desk's page and forms of a client do not exist.", async () => {
  for (const id of [unknownId, "not-a-uuid", clerk.id]) {
    const form = { intent: "close-account", reason: "x" };
    const pages = [await openAccount({ id }), await parsePage(await clerk.browser.post(`/desk/clients/${id}`, form))];
    for (const { status, h1 } of pages) expect([id, status, h1]).toEqual([id, 404, "Page not found"]);
  }
});

test("Closing an account signs the client out, and the client cannot log in until the account is reopened.", async () => {
  const client = await newClient(app, "Closed Person");
  const { portal } = await newShipment(app, client, "Stays");
  const uploadPage = await client.browser.open(portal);
  const withoutReason = await clerk.browser.submit(await openAccount(client), "Close account", { reason: " " });
  const rejected = await parsePage(withoutReason);
  expect(rejected.status).toBe(400);
  expect(getField(rejected, "close-account-reason").descriptions).toEqual(["Enter a reason."]);

  const closed = await submitForm(client, "Close account");
  expect(closed.toasts).toEqual(successToast(`Account ${client.email} closed`));
  expect(closed.text).toContain("Account Closed");
  expect(listButtons(closed)).not.toContain("Send password link");
  const copy = copyBrowser(app, client.browser);
  const upload = await copy.submit(uploadPage, "Upload the Packing List", { file: createPdf() });
  expect(upload.headers.get("Location")).toMatch(/^\/login/);
  expect((await client.browser.get("/portal")).headers.get("Location")).toBe("/login");
  const login = await parsePage(await client.browser.post("/login", { email: client.email, password }));
  expect([login.status, login.toasts[0]?.description]).toEqual([400, "The email or password is wrong."]);

  const opened = await submitForm(client, "Reopen account", "A mistake of ours");
  expect(opened.toasts).toEqual(successToast(`Account ${client.email} reopened`));
  expect(opened.text).toMatch(
    /Account reopened .* Reason: A mistake of ours Account closed .* Reason: They asked by phone/,
  );
  await client.browser.logIn(client.email);
  expect((await client.browser.open(portal)).h1).toBe("Stays");
});

test("Removing a client's second factor signs the client out and sends an email. The client then logs in with the password only.", async () => {
  const client = await newClient(app, "Lost Phone");
  expect(listButtons(await openAccount(client))).not.toContain("Reset 2FA");
  await setUpSecondFactor(client.browser, "/portal/2fa");
  const emailsBefore = await countEmailsTo(client.email);
  const page = await submitForm(client, "Reset 2FA");
  const email = await getLatestEmailTo(client.email);
  expect([email.count - emailsBefore, email.subject]).toEqual([1, "Two-factor authentication is off"]);
  expect(email.text).toContain("If you did not request the removal, call us now: ");
  expect(email.text).not.toContain("They asked by phone");
  const toast = `2FA reset for ${client.email}. The next login needs only the password.`;
  expect(page.toasts).toEqual(successToast(toast));
  expect(page.text).toContain("2FA Off");
  expect((await client.browser.get("/portal")).headers.get("Location")).toBe("/login");
  await client.browser.logIn(client.email);
});

test("A team member can send a client a password link, but cannot see the link.", async () => {
  const client = await newClient(app, "Forgot Password");
  const emailsBefore = await countEmailsTo(client.email);
  const response = await clerk.browser.submit(await openAccount(client), "Send password link");
  const page = await clerk.browser.follow(response);
  expect(page.toasts).toEqual(successToast(`Password link sent to ${client.email}`));
  const email = await getLatestEmailTo(client.email);
  expect([email.count - emailsBefore, email.subject]).toEqual([1, "Set a new password"]);
  const link = await getLatestLinkTo(client.email);
  expect(page.html).not.toContain(link.split("token=")[1]);
  expect((await app.browser().open(link)).form("Set password").fields).toHaveProperty("password");
  expect((await client.browser.get("/portal")).status).toBe(200);
});

test("A form that closes or reopens an account, resets 2FA or sends a password link is one action if it is sent twice.", async () => {
  const client = await newClient(app, "Double Tap");
  await setUpSecondFactor(client.browser, "/portal/2fa");
  const emailsBefore = await countEmailsTo(client.email);
  for (const button of ["Send password link", "Reset 2FA", "Close account", "Reopen account"]) {
    const page = await openAccount(client);
    const first = await clerk.browser.follow(await clerk.browser.submit(page, button, { reason: "Asked by phone" }));
    const second = await clerk.browser.follow(await clerk.browser.submit(page, button, { reason: "Asked by phone" }));
    expect([button, second.toasts, first.toasts.length]).toEqual([button, first.toasts, 1]);
  }
  const entries = await app.company.from("audit_log").select("action").eq("account_id", client.id).order("created_at");
  const actions = ["account send-password-link", "account reset-2fa", "account close", "account reopen"];
  expect(entries.data?.map(({ action }) => action)).toEqual(actions);
  expect((await countEmailsTo(client.email)) - emailsBefore).toBe(2);
});

test("A client with a shipment in its retention period cannot be erased, and the client's page shows the period's last day.", async () => {
  const client = await newClient(app, "Retained Person");
  const { id } = await newShipment(app, client, "Stored");
  const { data } = await app.company.from("shipments").select("retention_ends_on").eq("id", id).single();
  const page = await openAccount(client);
  expect(listButtons(page)).not.toContain("Erase account");
  const day = calendarDate(data?.retention_ends_on ?? "");
  expect(page.text).toContain(
    `You can erase this account after ${day}, the last day on which we must store its shipment records.`,
  );
  const { action } = page.form("Close account");
  const rejected = await parsePage(await clerk.browser.post(action, { intent: "erase", form: "erase", reason: "x" }));
  const message = `Nothing was deleted. We must store the shipment records of this account until ${day}.`;
  expectRejectedForm(rejected, 409, message);
  expect((await client.browser.open("/portal")).text).toContain("Stored");
});

test("Erasing a client signs the client out and prevents logins. The email address can be used for a new sign-up.", async () => {
  const client = await newClient(app, "Erased Person");
  const list = await submitForm(client, "Erase account");
  expect(list.h1).toBe("Clients");
  expect(list.toasts).toEqual(successToast(`Account ${client.email} erased`));
  expect((await clerk.browser.get(`/desk/clients/${client.id}`)).status).toBe(404);
  expect((await client.browser.get("/portal")).headers.get("Location")).toBe("/login");
  expect((await client.browser.post("/login", { email: client.email, password })).status).toBe(400);
  const [clientId = ""] = await issueClientIds(app.company, 1);
  const form = { clientId, fullName: "Same Address", email: client.email, password };
  expect((await app.browser().post("/signup", form)).status).toBe(303);
});
