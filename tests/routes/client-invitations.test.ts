import process from "node:process";
import { afterEach, describe, expect, test } from "vitest";
import { freePort } from "../support/free-port.ts";
import { describeCut } from "../support/labels.ts";
import { getHref, listButtons } from "../support/page-parts.ts";
import {
  copyBrowser,
  countEmailsTo,
  expectRejectedForm,
  getField,
  getLatestEmailTo,
  getLatestLinkTo,
  newEmailAddress,
  newStaffMember,
  successToast,
} from "../support/route-fixtures.ts";
import { type FormValues, getTestApp, type ParsedPage, parsePage, password } from "../support/test-app.ts";

const app = await getTestApp();
const clerk = (await newStaffMember(app, "clerk", "Akinyi Odhiambo")).browser;
const otherTab = copyBrowser(app, clerk);
afterEach(() => {
  app.proxy.fail("none");
  clerk.cookies.delete("flash");
});

const issueButton = "Issue Client IDs";
const issue = async (fields: FormValues) => clerk.submit(await clerk.open("/desk/invitations"), issueButton, fields);
const readClientId = (page: ParsedPage) => /[0-9A-Z]{4}(-[0-9A-Z]{4}){2,}/.exec(page.toasts[0]?.title ?? "")?.[0] ?? "";

/**
 * Searches the pages of the invitation list for `clientId`. Returns the first page with this Client ID. Throws if no
 * page has this Client ID.
 */
async function openPageOf(clientId: string): Promise<ParsedPage> {
  let page = await clerk.open("/desk/invitations");
  while (!page.text.includes(clientId)) {
    const next = getHref(page, "Next page");
    if (!next) throw new Error(`No page of the invitations contains the Client ID ${clientId}.`);
    page = await clerk.open(next);
  }
  return page;
}

/** Opens the row of `clientId` in the list, which shows the forms for this Client ID. */
const openInvitation = async (clientId: string) => clerk.open(getHref(await openPageOf(clientId), clientId) ?? "");

async function listIssuedFor(recipient: string): Promise<string[]> {
  const { data } = await app.company.from("client_ids").select("client_id").eq("issued_for", recipient);
  return (data ?? []).map(({ client_id }) => client_id);
}

/** Sends a form twice in parallel and then once more. Returns the page at the form's URL. */
async function submitThrice(page: ParsedPage, button: string, fields: FormValues = {}): Promise<ParsedPage> {
  const responses = await Promise.all([clerk, otherTab].map((browser) => browser.submit(page, button, fields)));
  responses.push(await clerk.submit(page, button, fields));
  expect(responses.map(({ status }) => status)).toEqual([303, 303, 303]);
  return clerk.open(page.form(button).action);
}

test("A client can create an account with the link in an invitation, which opens the sign-up form with the Client ID.", async () => {
  const email = newEmailAddress("invited", "client.example");
  const page = await clerk.follow(await issue({ for: "Mombasa Millers", email }));
  const [clientId = ""] = await listIssuedFor("Mombasa Millers");
  expect(page.toasts).toEqual(successToast(`Client ID issued and sent to ${email}`));
  expect((await openPageOf(clientId)).text).toMatch(new RegExp(`${clientId} just now Mombasa Millers ${email}`));
  const visitor = app.browser();
  const form = await visitor.open(await getLatestLinkTo(email));
  expect(form.value("clientId")).toBe(clientId);
  const fields = { fullName: "Miller Person", email, password };
  expect((await visitor.submit(form, "Create Account", fields)).headers.get("Location")).toBe("/login");
  await expect(openPageOf(clientId)).rejects.toThrow("No page of the invitations contains");
});

test("Sending the form for an invitation three times issues one Client ID and sends one email.", async () => {
  const email = newEmailAddress("mailed-once", "client.example");
  const form = await clerk.open("/desk/invitations");
  const fields = { for: "Invited Once", email };
  const page = await submitThrice(form, issueButton, fields);
  const [clientId = "", ...more] = await listIssuedFor("Invited Once");
  expect(more).toEqual([]);
  expect(page.toasts).toEqual(successToast(`Client ID issued and sent to ${email}`));
  expect((await getLatestEmailTo(email)).count).toBe(1);

  await clerk.submit(await openInvitation(clientId), "Withdraw", { reason: "Wrong person" });
  clerk.cookies.delete("flash");
  const rejected = await parsePage(await clerk.submit(form, issueButton, fields));
  expectRejectedForm(rejected, 409, "This form has already been sent. To issue another Client ID, reload the page.");
  expect([await countEmailsTo(email), await listIssuedFor("Invited Once")]).toEqual([1, []]);
});

test("The form that emails a Client ID again sends one email, and works only for an unused Client ID with an address.", async () => {
  const email = newEmailAddress("mailed-again", "client.example");
  await clerk.follow(await issue({ for: "Invited Again", email }));
  const [clientId = ""] = await listIssuedFor("Invited Again");
  const page = await openInvitation(clientId);
  const button = "Send again";
  expect((await submitThrice(page, button)).toasts).toEqual(successToast(`Client ID ${clientId} sent again`));
  const latest = await getLatestEmailTo(email);
  expect([latest.count, latest.text.includes(clientId)]).toEqual([2, true]);
  const unsent = readClientId(await clerk.follow(await issue({ for: "No address" })));
  expect(listButtons(await openInvitation(unsent))).not.toContain(button);
  await app.browser().post("/signup", { clientId, fullName: "Came In", email: newEmailAddress("came-in"), password });
  const rejected = await parsePage(await clerk.submit(page, button, { idempotencyKey: crypto.randomUUID() }));
  const message =
    "You can send a Client ID again only if it is unused and was issued with an email address. Issue a new Client ID.";
  expectRejectedForm(rejected, 409, message);
  expect(await countEmailsTo(email)).toBe(2);
});

test("A team member can issue several Client IDs without an email. Sending the form again after a lost response issues no more.", async () => {
  const page = await clerk.open("/desk/invitations");
  app.proxy.fail("lost answer", /issue_client_ids/);
  const failed = await parsePage(await clerk.submit(page, issueButton, { count: "3", for: "Three Traders" }));
  app.proxy.fail("none");
  expect(failed.status).toBe(503);
  const repeated = await clerk.follow(await clerk.submit(failed, issueButton));
  expect(repeated.toasts).toEqual(successToast("3 Client IDs issued"));
  expect(await listIssuedFor("Three Traders")).toHaveLength(3);
});

test("An invalid form for an invitation issues nothing, shows the error at the wrong field, and shows the typed texts again.", async () => {
  const form = await clerk.open("/desk/invitations");
  const countMessage = "Enter a number from 1 to 100.";
  const oneEmail = "We can email one Client ID at a time. Enter 1, or clear the email field.";
  for (const [fields, name, message] of [
    ...["0", "101", "1.5", "many", ""].map((count) => [{ count }, "count", countMessage] as const),
    [{ count: "2", email: "a@b.example" }, "count", oneEmail],
    [{ email: "nobody" }, "email", "Enter an email address such as name@example.com."],
    [{ for: "x".repeat(121) }, "for", `Use at most 120 characters. ${describeCut(120)}`],
  ] as const) {
    const page = await parsePage(await clerk.submit(form, issueButton, { for: "Never issued", ...fields }));
    expect([fields, page.status]).toEqual([fields, 400]);
    expect(getField(page, `issue-${name}`).descriptions.at(-1)).toBe(message);
    const shown = { ...fields, ...(name === "for" && { for: "x".repeat(120) }) };
    expect(page.form(issueButton).fields).toMatchObject(shown);
  }
  expect(await listIssuedFor("Never issued")).toEqual([]);
});

test("A withdrawn Client ID cannot create an account and cannot be withdrawn again.", async () => {
  const clientId = readClientId(await clerk.follow(await issue({ for: "Withdrawn" })));
  const page = await openInvitation(clientId);
  const button = "Withdraw";
  const rejected = await parsePage(await clerk.submit(page, button, { reason: "" }));
  expect(getField(rejected, `withdraw-${clientId}-reason`).descriptions).toEqual(["Enter a reason."]);
  const withdrawn = await clerk.follow(await clerk.submit(rejected, button, { reason: "Wrong person" }));
  expect(withdrawn.toasts).toEqual(successToast(`Client ID ${clientId} withdrawn`));
  expect(await listIssuedFor("Withdrawn")).toEqual([]);
  const form = { clientId, fullName: "Too Late", email: newEmailAddress("late", "client.example"), password };
  const signUp = await parsePage(await app.browser().post("/signup", form));
  expect([signUp.status, signUp.toasts[0]?.title]).toEqual([400, "Sign up Failed"]);
  const repeated = await parsePage(await clerk.submit(page, button, { reason: "Twice" }));
  expectRejectedForm(repeated, 409, "This Client ID is unknown or has already been used.");
});

describe("Failed emails", () => {
  const notSent = 'The change is saved. The email was not sent. See "Emails that failed" on the Today page.';

  async function runWithoutSmtpServer(send: () => Promise<Response>): Promise<Response> {
    process.env.SMTP_URL = `smtp://127.0.0.1:${await freePort()}`;
    return send().finally(() => {
      delete process.env.SMTP_URL;
    });
  }

  test("A form whose email fails sends the email, but issues no second Client ID, when it is sent again.", async () => {
    const email = newEmailAddress("second-attempt", "client.example");
    const form = await clerk.open("/desk/invitations");
    const send = () => clerk.submit(form, issueButton, { for: email, email });
    expect((await clerk.follow(await runWithoutSmtpServer(send))).toasts).toEqual(successToast(notSent));
    expect((await clerk.follow(await send())).toasts).toEqual(successToast(`Client ID issued and sent to ${email}`));
    expect([await countEmailsTo(email), await listIssuedFor(email)]).toEqual([1, [expect.anything()]]);
    expect((await clerk.open("/desk")).text).not.toContain(email);
  });

  test("A Client ID whose email fails is issued. The page Today lists the failed email until it is sent or marked as resolved.", async () => {
    const emails = ["unreachable", "reachable-later"].map((name) => newEmailAddress(name, "client.example"));
    const [unreachable = "", email = ""] = emails;
    for (const address of emails) {
      const issued = await clerk.follow(await runWithoutSmtpServer(() => issue({ for: address, email: address })));
      expect(issued.toasts).toEqual(successToast(notSent));
    }
    const button = `Send again: Email with a Client ID to ${email}`;
    const page = await clerk.open("/desk");
    const failedAgain = await clerk.follow(await runWithoutSmtpServer(() => clerk.submit(page, button)));
    expect(failedAgain.toasts).toEqual(successToast(notSent));
    expect(listButtons(failedAgain).filter((text) => text === button)).toHaveLength(1);
    await submitThrice(failedAgain, button);
    const [clientId = ""] = await listIssuedFor(email);
    const latest = await getLatestEmailTo(email);
    expect([latest.count, latest.text.includes(clientId)]).toEqual([1, true]);

    const dismissal = await clerk.submit(page, `Dismiss: Email with a Client ID to ${unreachable}`);
    const dismissed = await clerk.follow(dismissal);
    expect(dismissed.toasts).toEqual(successToast(`Dismissed the failed email to ${unreachable}`));
    const today = await clerk.open("/desk");
    for (const address of emails) expect(today.text).not.toContain(address);
    expect([await countEmailsTo(unreachable), await listIssuedFor(unreachable)]).toEqual([0, [expect.anything()]]);
  });
});
