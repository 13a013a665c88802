import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { getRejection } from "../support/database-suite.ts";
import { createStaffAccount, logIn, staffPassword } from "../support/staff-members.ts";
import { setUpTeam } from "../support/team-suite.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const { testBackend, client, lead, query, listAccountAuditEntries, invite, removeMember, findStaffMember } =
  setUpTeam();

test("An invitation creates the team member's account with name and role, and the log names the inviting lead.", async () => {
  const { invite_id: invitation = "" } = await invite({ email: " New@Company.Example ", role: "lead" });
  const id = await createStaffAccount(testBackend, "new@company.example", invitation);
  expect(await findStaffMember(id)).toMatchObject({ name: "Nekesa", role: "lead", removed_at: null });
  expect(await listAccountAuditEntries(id)).toEqual([
    { action: "team invite", actor_name: lead.name, before: null, after: { role: "lead" }, reason: null },
  ]);
  const supabase = await logIn(testBackend, "new@company.example");
  const { data } = await toUntypedClient(supabase).rpc("get_viewer", {}, { get: true });
  expect(data.viewer.staff).toEqual({ name: "Nekesa", role: "lead" });
  await removeMember(id);
});

test("An invitation is valid only once, only for its address, and only until a newer invitation is sent.", async () => {
  const email = "once@company.example";
  const { invite_id: oldInvitation = "" } = await invite({ email });
  const { invite_id: invitation = "" } = await invite({ email, name: "Otieno", role: "lead" });
  const otherEmail = "other@company.example";
  for (const [address, id] of [
    [email, oldInvitation],
    [otherEmail, invitation],
    [otherEmail, randomUUID()],
    [otherEmail, ""],
    [otherEmail, "%"],
  ] as const) {
    await expect(createStaffAccount(testBackend, address, id), `${address} ${id}`).rejects.toThrow();
  }
  const id = await createStaffAccount(testBackend, email, invitation);
  expect(await findStaffMember(id)).toMatchObject({ name: "Otieno", role: "lead" });
  await expect(createStaffAccount(testBackend, otherEmail, invitation)).rejects.toThrow();
  expect(await query("select from auth.users where email = $1", [otherEmail])).toEqual([]);
  await removeMember(id);
});

test("An invitation is invalid in the sign-up form, and no sign-up creates a team member.", async () => {
  const email = "wanted@company.example";
  const { invite_id: invitation } = await invite({ email, role: "lead" });
  const signUp = (data: object) =>
    testBackend.anonymous().auth.signUp({ email, password: staffPassword, options: { data } });
  expect((await signUp({ full_name: "Me", staff_invite_id: invitation })).error).not.toBeNull();
  expect(await query("select from auth.users where email = $1", [email])).toEqual([]);
  const { data: issued } = await testBackend.serviceRole.rpc("issue_client_ids", {});
  const forged = { full_name: "Me", client_id: issued?.[0]?.client_id, staff_invite_id: randomUUID(), role: "lead" };
  expect((await signUp(forged)).error).toBeNull();
  const [{ id } = { id: "" }] = await query<{ id: string }>("select id from auth.users where email = $1", [email]);
  expect(id).not.toBe("");
  expect(await findStaffMember(id)).toBeUndefined();
});

test("An invitation to the address of a client or of a current team member is rejected.", async () => {
  const clientError = "409 A client uses this email address. Enter another email address for the team member.";
  const staffError = "409 A team member already uses this email address.";
  for (const [email, error] of [
    [client.email, clientError],
    [` ${client.email.toUpperCase()} `, clientError],
    [lead.email, staffError],
  ] as const) {
    expect(await getRejection(invite({ email }))).toBe(error);
  }
  expect(await findStaffMember(lead.id)).toMatchObject({ role: "lead" });
  expect(await listAccountAuditEntries(client.id)).toEqual([]);
});

test("An invitation can be repeated with another name and role until the team member logs in.", async () => {
  const email = "slow@company.example";
  const { invite_id: invitation = "" } = await invite({ email });
  const id = await createStaffAccount(testBackend, email, invitation);
  expect(await invite({ email, name: "Nekesa Barasa", role: "lead" })).toEqual({ account_id: id });
  expect(await findStaffMember(id)).toMatchObject({ name: "Nekesa Barasa", role: "lead" });
  expect((await listAccountAuditEntries(id)).map(({ after }) => after)).toEqual([{ role: "clerk" }, { role: "lead" }]);
  await logIn(testBackend, email);
  expect(await getRejection(invite({ email }))).toMatch(/^409 /);
  await removeMember(id);
});

test("An invitation form that is sent twice creates only one invitation.", async () => {
  const email = "hasty@company.example";
  const form = { email, name: "Nekesa", idempotency_key: randomUUID() };
  const { invite_id: invitation = "" } = await invite(form);
  expect(invitation).not.toBe("");
  expect(await invite(form)).toEqual({ invite_id: invitation });
  expect(await listInvitations(email)).toEqual([{ id: invitation, name: "Nekesa" }]);
  // The same idempotency key with another name or email address makes a new invitation.
  const { invite_id: renamed = "" } = await invite({ ...form, name: "Nekesa Barasa" });
  expect(await listInvitations(email)).toEqual([{ id: renamed, name: "Nekesa Barasa" }]);
  expect((await invite({ ...form, email: "hasty-too@company.example" })).invite_id).toBeTruthy();
  await expect(createStaffAccount(testBackend, email, invitation)).rejects.toThrow();
  const id = await createStaffAccount(testBackend, email, renamed);
  expect(await invite({ ...form, name: "Nekesa Barasa" })).toEqual({ account_id: id });
  expect((await listAccountAuditEntries(id)).map(({ action }) => action)).toEqual(["team invite"]);
  // A second form invites the same person again. Sending this form twice adds only one invitation.
  const secondForm = { email, name: "Nekesa", idempotency_key: randomUUID() };
  expect(await invite(secondForm)).toEqual({ account_id: id });
  expect(await invite(secondForm)).toEqual({ account_id: id });
  expect((await listAccountAuditEntries(id)).map(({ action }) => action)).toEqual(["team invite", "team invite"]);
  await removeMember(id);
});

test.each([{ role: "boss" }, { role: null }, { name: " " }])("An invitation with %j is rejected.", async (wrong) => {
  expect(await getRejection(invite({ email: "wrong@company.example", ...wrong }))).toMatch(/^400 /);
  expect(await query("select from private.staff_invites where email like 'wrong%'")).toEqual([]);
});

function listInvitations(email: string) {
  return query<{ id: string; name: string }>("select id, name from private.staff_invites where email = $1", [email]);
}
