import process from "node:process";
import { expect, test } from "vitest";
import { readEmailSender } from "../../app/server/cli/content.ts";
import { getConfirmationLink, readEmailsTo } from "../support/outbox.ts";
import { newClient, newEmailAddress, setUpSecondFactor } from "../support/route-fixtures.ts";
import { issueClientIds } from "../support/service-role.ts";
import { getTestApp, parsePage, password } from "../support/test-app.ts";

const app = await getTestApp();

const unknownLink = "/auth/confirm?token_hash=a-token-of-at-least-sixteen-letters";
const wrongLoginText = "The email or password is wrong.";
const expiredText = "This link has been used or has expired.";
const incompleteText = "This link is incomplete. Open the link in our email again.";
const toRejectionToast = (description: string) => [{ title: "Sign in Failed", description, variant: "destructive" }];

async function newUnconfirmedAddress(chosen = password): Promise<string> {
  const [clientId = ""] = await issueClientIds(app.company, 1);
  const email = newEmailAddress("Unconfirmed", "client.example");
  await app.browser().post("/signup", { clientId, fullName: "Unconfirmed", email, password: chosen });
  return email;
}

const logIn = async (email: string, typed = password) =>
  parsePage(await app.browser().post("/login", { email, password: typed }));

test("Opening a confirmation link calls no backend. Its button confirms the address and logs in, also when clicked twice.", async () => {
  const email = await newUnconfirmedAddress();
  const { pathname, search } = new URL(await getConfirmationLink(process.env.DATA_DIR ?? "", email));
  const visitor = app.browser();
  const calls = await app.proxy.during(() => visitor.open(pathname + search));
  expect(calls).toEqual([]);
  const page = await visitor.open(pathname + search);
  const autocompletes = page.all("main input").map((input) => input.getAttribute("autocomplete"));
  expect(autocompletes).toEqual([undefined, "username", "current-password"]);
  expect(page.value("email")).toBe("");
  for (const _click of [1, 2]) {
    const portal = await visitor.follow(await visitor.submit(page, "Confirm and log in", { email, password }));
    expect(portal.h1).toBe("My Shipments");
    expect(portal.toasts[0]).toEqual({
      title: "Email address confirmed",
      description: "You are logged in.",
      variant: "default",
    });
  }
});

test("A confirmed account with a second factor still gives its code on the page of a confirmation link.", async () => {
  const { browser, email } = await newClient(app, "Confirming twice");
  await setUpSecondFactor(browser, "/portal/2fa");
  const visitor = app.browser();
  const page = await visitor.open(unknownLink);
  const response = await visitor.submit(page, "Confirm and log in", { email, password });
  expect([response.status, response.headers.get("Location")]).toEqual([303, "/login/verify"]);
  expect((await visitor.get("/portal")).headers.get("Location")).toBe("/login/verify");
});

// Hosted Supabase Auth sends HTML, with the sender of its own settings.
if (!process.env.MAILS_DIR) {
  test("The sign-up email has the sender, header and footer of all our emails.", async () => {
    const [email] = await readEmailsTo(process.env.DATA_DIR ?? "", await newUnconfirmedAddress());
    const sender = readEmailSender();
    expect(email?.from).toMatchObject({ name: sender.name, address: sender.email });
    expect(email?.headers).toContainEqual(expect.objectContaining({ key: "auto-submitted", value: "auto-generated" }));
    expect([email?.html, email?.attachments]).toEqual([undefined, []]);
    expect(email?.text).toMatch(/^Hello,\n/);
    expect(email?.text).toContain(`\n\n${sender.name}\n${sender.phone}\nWe never send bank details by email.`);
  });
}

test.each(["", "?token_hash=", '?token_hash="><script>x'])(
  "The page of the confirmation link %j says that the link is incomplete and has no button",
  async (query) => {
    const page = await app.browser().open(`/auth/confirm${query}`);
    expect(page.text).toContain(incompleteText);
    expect(() => page.form("Confirm and log in")).toThrow("No button");
  },
);

test("A confirmation form with a damaged token says that the link is incomplete", async () => {
  const page = await parsePage(await app.browser().post("/auth/confirm", { token: "short" }));
  expect([page.status, page.toasts[0]?.description]).toEqual([400, incompleteText]);
});

test("An unknown confirmation link is rejected, and the page says how to get a new link", async () => {
  const email = await newUnconfirmedAddress();
  const visitor = app.browser();
  const form = await visitor.open(unknownLink);
  const page = await parsePage(await visitor.submit(form, "Confirm and log in", { email, password }));
  expect([page.status, page.title.startsWith("Error: ")]).toEqual([400, true]);
  expect(page.toasts).toEqual(toRejectionToast(expiredText));
  expect(page.text).toContain("Has the link expired? Log in and we will email you a new link.");
});

test("The owner of a mailbox cannot confirm a stranger's sign-up without the stranger's password", async () => {
  const thiefPassword = "the thief's password";
  const email = await newUnconfirmedAddress(thiefPassword);
  const owner = app.browser();
  const page = await parsePage(await owner.confirmEmail(email, "the owner's own"));
  expect([page.status, page.title.startsWith("Error: ")]).toEqual([400, true]);
  expect(page.toasts).toEqual(toRejectionToast(wrongLoginText));
  expect(page.value("email")).toBe(email);
  expect(page.html).not.toContain("the owner's own");
  expect((await logIn(email, thiefPassword)).toasts[0]?.description).toMatch(/^Your email address is not confirmed/);
  const confirmed = await owner.submit(page, "Confirm and log in", { email, password: thiefPassword });
  expect(confirmed.status).toBe(303);
});

test("A confirmation link does not confirm another sign-up with its right password", async () => {
  const [email, stranger] = [await newUnconfirmedAddress(), await newUnconfirmedAddress()];
  const { pathname, search } = new URL(await getConfirmationLink(process.env.DATA_DIR ?? "", email));
  const visitor = app.browser();
  const form = await visitor.open(pathname + search);
  const page = await parsePage(await visitor.submit(form, "Confirm and log in", { email: stranger, password }));
  expect(page.toasts[0]?.description).toBe(expiredText);
  expect((await logIn(stranger)).status).toBe(400);
});

test("The page of a confirmation link does not reveal whether an account exists, and wrong passwords count as failed logins", async () => {
  const accounts = {
    unconfirmed: await newUnconfirmedAddress(),
    confirmed: await app.browser().signUpAndLogIn("Confirmed"),
    unknown: "nobody-at-all@client.example",
  };
  const observations = [];
  for (const email of Object.values(accounts)) {
    const guesser = app.browser();
    const form = await guesser.open(unknownLink);
    const pages = [];
    for (let guess = 0; guess < 6; guess += 1) {
      const response = await guesser.submit(form, "Confirm and log in", { email, password: "a wrong guess" });
      const { status, text, toasts } = await parsePage(response);
      pages.push({ status, text, reason: toasts[0]?.description });
    }
    expect((await guesser.post("/login", { email, password })).status).toBe(429);
    observations.push(pages);
  }
  expect(observations[0]?.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 429]);
  expect(observations[0]?.[0]?.reason).toBe(wrongLoginText);
  expect(observations[1]).toEqual(observations[0]);
  expect(observations[2]).toEqual(observations[0]);
});
