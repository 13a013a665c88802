import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { decodeClaims, getRejection, type TestStaffMember } from "../support/database-suite.ts";
import {
  callConcurrently,
  createStaffAccount,
  logIn,
  newStaffMember,
  newStaffMemberWithoutFactor,
  staffPassword,
} from "../support/staff-members.ts";
import { setUpTeam } from "../support/team-suite.ts";
import { type AppSupabaseClient, toUntypedClient } from "../support/test-backend.ts";

const suite = setUpTeam();
const { testBackend, client, lead, query, listAccountAuditEntries, invite, removeMember, findStaffMember } = suite;
const { callRpc, issueLink, readLink } = suite;

test("An invitation creates the team member's account with name and role. The audit log names the lead who sent it.", async () => {
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

test("An invitation works only once, only for its email address, and only until a newer invitation is sent.", async () => {
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

test("The sign-up form does not accept a team invitation, and a sign-up cannot create a team member.", async () => {
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

test("An invitation is rejected for the address of a client or team member, or without a name or a valid role.", async () => {
  const clientError = "409 A client uses this email address. Enter another email address for the team member.";
  const staffError = "409 A team member already uses this email address. Enter another email address.";
  for (const email of [client.email, ` ${client.email.toUpperCase()} `])
    expect(await getRejection(invite({ email }))).toBe(clientError);
  expect(await getRejection(invite({ email: lead.email }))).toBe(staffError);
  for (const wrong of [{ role: "boss" }, { role: null }, { name: " " }])
    expect(await getRejection(invite({ email: "wrong@company.example", ...wrong }))).toMatch(/^400 /);
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

test("Sending the invitation form twice creates only one invitation.", async () => {
  const email = "hasty@company.example";
  const form = { email, name: "Nekesa", idempotency_key: randomUUID() };
  const { invite_id: invitation = "" } = await invite(form);
  expect(invitation).not.toBe("");
  expect(await invite(form)).toEqual({ invite_id: invitation });
  expect(await listInvitations(email)).toEqual([{ id: invitation, name: "Nekesa" }]);
  // With another name or email address, the same idempotency key creates a new invitation.
  const { invite_id: renamed = "" } = await invite({ ...form, name: "Nekesa Barasa" });
  expect(await listInvitations(email)).toEqual([{ id: renamed, name: "Nekesa Barasa" }]);
  expect((await invite({ ...form, email: "hasty-too@company.example" })).invite_id).toBeTruthy();
  await expect(createStaffAccount(testBackend, email, invitation)).rejects.toThrow();
  const id = await createStaffAccount(testBackend, email, renamed);
  expect(await invite({ ...form, name: "Nekesa Barasa" })).toEqual({ account_id: id });
  expect((await listAccountAuditEntries(id)).map(({ action }) => action)).toEqual(["team invite"]);
  await removeMember(id);
});

function listInvitations(email: string) {
  return query<{ id: string; name: string }>("select id, name from private.staff_invites where email = $1", [email]);
}

const changeRole = (account: string, role: string, supabase: AppSupabaseClient = lead.supabase) =>
  callRpc("change_staff_role", { account_id: account, role }, supabase);

describe("Removed team members", () => {
  test("A removed team member has no rights in a session that is still open.", async () => {
    const removed = await newStaffMember(testBackend, "clerk", "still-open@company.example");
    await query("update public.staff_members set removed_at = now() where account_id = $1", [removed.id]);
    const session = toUntypedClient(removed.supabase);
    expect((await session.from("audit_log").select("id")).data).toEqual([]);
    expect((await session.rpc("announce", { text: "Pay here" })).error?.code).toBe("PT403");
  });

  test("Removing a team member ends all sessions immediately and prevents logins. The audit log still contains the name.", async () => {
    const removed = await newStaffMember(testBackend, "clerk", "gone@company.example");
    const endedClient = toUntypedClient(testBackend.withToken(removed.accessToken));
    await callRpc("announce", { text: "All is well" }, removed.supabase);
    const token = await issueLink(removed.id);
    expect((await endedClient.from("audit_log").select("id")).data).not.toEqual([]);
    expect(await getRejection(removeMember(removed.id, lead.supabase, " "))).toMatch(/^400 /);

    await removeMember(removed.id);
    expect((await endedClient.from("audit_log").select("id")).data).toEqual([]);
    expect((await endedClient.from("announcements").select("id")).data).toEqual([]);
    expect((await endedClient.rpc("desk_today", {}, { get: true })).data).toEqual({ viewer: null });
    expect((await endedClient.rpc("announce", { text: "Pay here" })).error?.code).toBe("PT403");
    for (const supabase of [removed.supabase, removed.aal1])
      expect((await supabase.auth.refreshSession()).error).not.toBeNull();
    await expect(logIn(testBackend, removed.email)).rejects.toThrow();
    expect(await readLink(token)).toBeNull();
    expect(await getRejection(callRpc("request_password_link", { account_id: removed.id }))).toMatch(/^409 /);
    expect(await getRejection(removeMember(removed.id))).toMatch(/^404 /);
    expect(await getRejection(changeRole(removed.id, "lead"))).toMatch(/^404 /);
    expect(await listAccountAuditEntries(removed.id)).toEqual([
      expect.objectContaining({ action: "team invite" }),
      { action: "team remove", actor_name: lead.name, before: { role: "clerk" }, after: null, reason: "They left" },
    ]);
    const [entry] = await query("select actor_name from public.audit_log where staff_id = $1", [removed.id]);
    expect(entry).toEqual({ actor_name: removed.name });
  });

  test("A new invitation to a removed team member sets the new role and removes the previous password and second factor.", async () => {
    const back = await newStaffMember(testBackend, "lead", "back@company.example");
    await removeMember(back.id);
    expect(await invite({ email: back.email, name: "Back Again", role: "clerk" })).toEqual({ account_id: back.id });
    expect(await findStaffMember(back.id)).toMatchObject({ name: "Back Again", role: "clerk", removed_at: null });
    const endedClient = toUntypedClient(testBackend.withToken(back.accessToken));
    expect((await endedClient.rpc("desk_today", {}, { get: true })).data).toEqual({ viewer: null });
    await expect(logIn(testBackend, back.email)).rejects.toThrow("Invalid login credentials");
    const link = await testBackend.serviceRole.auth.admin.generateLink({ type: "recovery", email: back.email });
    const supabase = testBackend.anonymous();
    await supabase.auth.verifyOtp({ type: "recovery", token_hash: link.data.properties?.hashed_token ?? "" });
    expect((await supabase.auth.updateUser({ password: "chosen by the new link" })).error).toBe(null);
    expect((await supabase.auth.mfa.listFactors()).data?.all).toEqual([]);
    expect((await supabase.from("audit_log").select("id")).data).toEqual([]);
  });
});

describe("Staff roles", () => {
  test("A changed role applies immediately to existing sessions, and the audit log has the old and the new role.", async () => {
    const secondLead = await newStaffMember(testBackend, "clerk", "other@company.example");
    const newcomer = await newStaffMemberWithoutFactor(testBackend, "clerk", "newcomer@company.example");
    expect(await getRejection(changeRole(newcomer.id, "lead", secondLead.supabase))).toMatch(/^403 /);
    await changeRole(secondLead.id, "lead");
    await changeRole(newcomer.id, "lead", secondLead.supabase);
    await changeRole(secondLead.id, "clerk");
    await changeRole(secondLead.id, "clerk");
    expect(await getRejection(changeRole(newcomer.id, "clerk", secondLead.supabase))).toMatch(/^403 /);
    expect((await listAccountAuditEntries(secondLead.id)).slice(1)).toEqual([
      { action: "team role", actor_name: lead.name, before: { role: "clerk" }, after: { role: "lead" }, reason: null },
      { action: "team role", actor_name: lead.name, before: { role: "lead" }, after: { role: "clerk" }, reason: null },
    ]);
    await removeMember(newcomer.id);
  });

  test("Only a team member can have a role, and the only roles are clerk and lead.", async () => {
    expect(await getRejection(changeRole(lead.id, "boss"))).toMatch(/^400 /);
    for (const account of [client.id, randomUUID()]) {
      for (const role of ["clerk", "lead"]) expect(await getRejection(changeRole(account, role))).toMatch(/^404 /);
      expect(await getRejection(removeMember(account))).toMatch(/^404 /);
    }
  });
});

const removals: [string, (member: TestStaffMember) => Promise<unknown>][] = [
  ["the team member", ({ supabase, factorId }) => supabase.auth.mfa.unenroll({ factorId })],
  [
    "the service role",
    ({ id, factorId }) => testBackend.serviceRole.auth.admin.mfa.deleteFactor({ userId: id, id: factorId }),
  ],
  ["a lead", ({ id }) => callRpc("remove_second_factors", { account_id: id }).then(() => ({ error: null }))],
];

// function-privileges.test.ts and table-privileges.test.ts test the privileges of a token without AAL2.
test.each(removals)(
  "After %s removes the second factor, an access token with AAL2 no longer gives access to the desk or its tables.",
  async (what, removeFactor) => {
    const member = await newStaffMember(testBackend, "lead", `lead-${what.replaceAll(" ", "-")}@company.example`);
    const tokenClient = toUntypedClient(testBackend.withToken(member.accessToken));
    const readTeam = async () => Object.keys((await tokenClient.rpc("desk_team", {}, { get: true })).data);
    expect(await readTeam()).toContain("staff_members");
    expect(await removeFactor(member)).toMatchObject({ error: null });
    const claims = decodeClaims(member.accessToken);
    expect([claims.aal, Number(claims.exp) * 1000 > Date.now()]).toEqual(["aal2", true]);
    expect(await readTeam()).toEqual(["viewer"]);
    expect((await tokenClient.from("audit_log").select("id")).data).toEqual([]);
    expect((await tokenClient.rpc("announce", { text: "Pay here" })).error?.code).toBe("PT403");
    await removeMember(member.id);
  },
);

// The following tests must be last, because they change the roles of the leads.
describe("Last lead", () => {
  const leads = () =>
    query<{ account_id: string }>(
      "select account_id from public.staff_members where role = 'lead' and removed_at is null",
    );
  const lastLead = "This team member is the last lead. Make another team member a lead first.";

  test("The last lead cannot be removed or become a clerk. An invited lead counts as a lead only after the first login.", async () => {
    const email = "coming@company.example";
    const { invite_id: invitation = "" } = await invite({ email, role: "lead" });
    const id = await createStaffAccount(testBackend, email, invitation);
    expect(await leads()).toHaveLength(2);
    for (const supabase of [lead.supabase, testBackend.serviceRole]) {
      expect(await getRejection(removeMember(lead.id, supabase))).toBe(`409 ${lastLead}`);
      expect(await getRejection(changeRole(lead.id, "clerk", supabase))).toBe(`409 ${lastLead}`);
    }
    await changeRole(id, "clerk");
    await removeMember(id);
    const third = await newStaffMemberWithoutFactor(testBackend, "lead", "came@company.example");
    await changeRole(lead.id, "clerk", testBackend.serviceRole);
    expect(await leads()).toEqual([{ account_id: third.id }]);
    expect(await getRejection(removeMember(third.id, testBackend.serviceRole))).toBe(`409 ${lastLead}`);
    await changeRole(lead.id, "lead", testBackend.serviceRole);
    await removeMember(third.id);
    expect(await leads()).toEqual([{ account_id: lead.id }]);
  });

  test("If two leads remove each other or make each other clerks in parallel, one lead remains.", async () => {
    const second = await newStaffMember(testBackend, "lead", "second@company.example");
    const each = (name: string, more: object) =>
      callConcurrently(testBackend, [
        { name, args: { account_id: second.id, ...more }, token: lead.accessToken },
        { name, args: { account_id: lead.id, ...more }, token: second.accessToken },
      ]);
    const demoted = await each("change_staff_role", { role: "clerk" });
    expect(demoted.filter(({ rejection }) => rejection)).toHaveLength(1);
    expect(await leads()).toHaveLength(1);
    for (const { id } of [lead, second]) await changeRole(id, "lead", testBackend.serviceRole);
    expect(await leads()).toHaveLength(2);
    const removed = await each("remove_staff_member", { reason: "They left" });
    expect(removed.filter(({ rejection }) => rejection)).toHaveLength(1);
    expect(await leads()).toHaveLength(1);
  });
});
