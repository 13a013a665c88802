import { expect, test } from "vitest";
import { findAccountId } from "../../app/models/staff.server.ts";
import { getHref } from "../support/page-parts.ts";
import {
  countEmailsTo,
  expectRejectedForm,
  getField,
  getLatestEmailTo,
  getLatestLinkTo,
  listDuplicateIds,
  newClient,
  newEmailAddress,
  newStaffMember,
  setUpSecondFactor,
  staffPassword,
  successToast,
} from "../support/route-fixtures.ts";
import { type FormValues, getTestApp, getText, type ParsedPage, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const lead = await newStaffMember(app, "lead", "Wambui Njoroge");

const openTeam = () => lead.browser.open("/desk/team");
/** Opens the row of the team member `name`, which shows the forms for this team member. */
const openMember = async (name: string) => lead.browser.open(getHref(await openTeam(), name) ?? "");
const submitForm = async (button: string, fields: FormValues = {}, name = "") =>
  lead.browser.submit(await (name ? openMember(name) : openTeam()), button, fields);
const getRow = (page: ParsedPage, email: string) =>
  page
    .all("main tbody tr")
    .map(getText)
    .find((text) => text.includes(email)) ?? "";

test("An invited team member sets a password and a second factor, and can then open the desk with the invited role.", async () => {
  const email = newEmailAddress("invited");
  const fields = { name: "Otieno <Ouma>", email, role: "lead" };
  const page = await lead.browser.follow(await submitForm("Send invitation", fields));
  expect(page.toasts).toEqual(successToast(`Invitation sent to ${email}`));
  expect(getRow(page, email)).toContain(`Otieno <Ouma> lead ${email} 2FA off Invited`);
  expect((await getLatestEmailTo(email)).text).toContain(
    "Hello Otieno <Ouma>,\n\nYou now have an account for the desk: pages on our website that only team members can open.",
  );

  const browser = app.browser();
  await browser.submit(await browser.open(await getLatestLinkTo(email)), "Set password", { password: staffPassword });
  await browser.logIn(email, staffPassword);
  await setUpSecondFactor(browser, "/desk/2fa");
  expect((await browser.open("/desk/team")).text).toContain("Otieno <Ouma> (you)");
  expect(getRow(await openTeam(), email)).toMatch(/ 2FA on (just now|\d+ min ago)$/);
  expect((await openMember("Otieno <Ouma>")).text).toContain(`${email}, lead, last login `);
});

test("Sending the form of a first or repeated invitation twice sends only one email.", async () => {
  const email = newEmailAddress("invited-once");
  for (const [button, fields, count] of [
    ["Send invitation", { name: "Invited Once", email, role: "clerk" }, 1],
    ["Send invitation again", {}, 2],
  ] as const) {
    const page = await (count === 1 ? openTeam() : openMember("Invited Once"));
    for (let copy = 1; copy <= 2; copy += 1) expect((await lead.browser.submit(page, button, fields)).status).toBe(303);
    expect((await openTeam()).toasts).toEqual(successToast(`Invitation sent to ${email}`));
    expect([button, await countEmailsTo(email)]).toEqual([button, count]);
    const link = await app.browser().open(await getLatestLinkTo(email));
    expect(link.form("Set password").fields).toHaveProperty("password");
  }
  const id = await findAccountId(app.company, email);
  const { data } = await app.company.from("audit_log").select("action").eq("account_id", id);
  expect(data).toEqual(Array(2).fill({ action: "team invite" }));
});

test.each<[FormValues, string, string]>([
  [{ name: "", email: "x@company.example", role: "clerk" }, "name", "Enter your full name."],
  [{ name: "X", email: "nobody", role: "clerk" }, "email", "Enter an email address such as name@example.com."],
  [{ name: "X", email: "x@company.example", role: "owner" }, "role", "Choose a role."],
])(
  "An invitation with %j is rejected with an error at the field %s, and the form shows the typed texts again.",
  async (fields, name, message) => {
    const page = await parsePage(await submitForm("Send invitation", fields));
    expect(page.status).toBe(400);
    expect(getField(page, `invite-${name}`).descriptions.at(-1)).toBe(message);
    expect(page.form("Send invitation").fields).toMatchObject({ name: fields.name, email: fields.email });
  },
);

test("A client's email address cannot be invited to the team, and the form shows the typed texts again.", async () => {
  const client = await newClient(app, "Baraka Mwangi");
  const fields = { name: "Double", email: client.email.toUpperCase(), role: "clerk" };
  const page = await parsePage(await submitForm("Send invitation", fields));
  expectRejectedForm(page, 409, "A client uses this email address. Enter another email address for the team member.");
  expect(page.form("Send invitation").fields).toMatchObject(fields);
  for (const { id } of page.problems) expect(page.has(id)).toBe(true);
  expect((await client.browser.get("/portal")).status).toBe(200);
});

test("A changed role applies to existing sessions immediately, and removing a team member ends all sessions.", async () => {
  const member = await newStaffMember(app, "clerk", "Changing Role");
  const promoted = await lead.browser.follow(await submitForm("Change role to lead", {}, "Changing Role"));
  expect(promoted.toasts).toEqual(successToast("Role of Changing Role changed to lead"));
  expect((await member.browser.get("/desk/team")).status).toBe(200);
  await submitForm("Change role to clerk", {}, "Changing Role");
  expect((await member.browser.get("/desk/team")).status).toBe(403);
  lead.browser.cookies.delete("flash");

  const button = "Remove from the desk";
  const rejected = await parsePage(await submitForm(button, { reason: "" }, "Changing Role"));
  expect(getField(rejected, `remove-${member.id}-reason`).descriptions).toEqual(["Enter a reason."]);
  const removed = await lead.browser.follow(await lead.browser.submit(rejected, button, { reason: "Left us" }));
  expect(removed.toasts).toEqual(successToast("Changing Role removed from the desk"));
  expect(getRow(removed, member.email)).toMatch(/^Changing Role .* Removed just now$/);
  expect(listDuplicateIds(removed)).toEqual([]);
  expect((await member.browser.get("/desk")).headers.get("Location")).toMatch(/^\/login/);
  const log = await lead.browser.open("/desk/log?what=team+remove");
  expect(log.text).toMatch(new RegExp(`${lead.name} .* Reason: Left us`));
});

test("A team member whose second factor is removed gets an email and must set up a new second factor.", async () => {
  const member = await newStaffMember(app, "clerk", "Phone Lost");
  const reset = await submitForm("Reset 2FA", { reason: "Phone stolen" }, "Phone Lost");
  const page = await lead.browser.follow(reset);
  expect(page.toasts).toEqual(
    successToast(`2FA reset for ${member.email}. The team member must set up 2FA again at the next login.`),
  );
  expect((await getLatestEmailTo(member.email)).subject).toBe("Two-factor authentication is off");
  await member.browser.logIn(member.email, staffPassword);
  expect((await member.browser.get("/desk")).headers.get("Location")).toBe("/desk/2fa");
});
