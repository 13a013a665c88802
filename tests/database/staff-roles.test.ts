import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { decodeClaims, getRejection, type TestStaffMember } from "../support/database-suite.ts";
import {
  callConcurrently,
  createStaffAccount,
  logIn,
  newStaffMember,
  newStaffMemberWithoutFactor,
} from "../support/staff-members.ts";
import { setUpTeam } from "../support/team-suite.ts";
import { type AppSupabaseClient, toUntypedClient } from "../support/test-backend.ts";

const suite = setUpTeam();
const { testBackend, client, lead, query, callRpc, listAccountAuditEntries } = suite;
const { invite, removeMember, findStaffMember, issueLink, readLink } = suite;
const changeRole = (account: string, role: string, supabase: AppSupabaseClient = lead.supabase) =>
  callRpc("change_staff_role", { account_id: account, role }, supabase);

describe("removed team members", () => {
  test("A removed team member loses every session immediately and cannot log in, and the log still has the name.", async () => {
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

describe("staff roles", () => {
  test("A changed role applies to open sessions immediately, and the log has both roles.", async () => {
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

  test("Only a team member can get a role, and only the role clerk or lead.", async () => {
    expect(await getRejection(changeRole(lead.id, "boss"))).toMatch(/^400 /);
    for (const account of [client.id, randomUUID()]) {
      for (const role of ["clerk", "lead"]) expect(await getRejection(changeRole(account, role))).toMatch(/^404 /);
      expect(await getRejection(removeMember(account))).toMatch(/^404 /);
    }
  });
});

test("A lead removes a team member's second factors; the sessions end, and the desk stays closed until a new factor is set up.", async () => {
  const careless = await newStaffMember(testBackend, "clerk", "careless@company.example");
  expect(await callRpc("remove_second_factors", { account_id: careless.id, reason: "A lost telephone" })).toEqual({
    removed: 1,
    email: careless.email,
  });
  expect((await careless.supabase.auth.refreshSession()).error).not.toBeNull();
  const supabase = await logIn(testBackend, careless.email);
  expect((await supabase.from("audit_log").select("id")).data).toEqual([]);
  expect(await getRejection(callRpc("announce", { text: "Pay here" }, supabase))).toMatch(/^403 /);
});

const removals: [string, (member: TestStaffMember) => Promise<unknown>][] = [
  ["the team member", ({ supabase, factorId }) => supabase.auth.mfa.unenroll({ factorId })],
  [
    "the service role",
    ({ id, factorId }) => testBackend.serviceRole.auth.admin.mfa.deleteFactor({ userId: id, id: factorId }),
  ],
  ["a lead", ({ id }) => callRpc("remove_second_factors", { account_id: id }).then(() => ({ error: null }))],
];

// function-privileges.test.ts and table-privileges.test.ts test the privileges of such a token.
test.each(removals)(
  "A token at AAL2 opens neither the desk nor its tables after %s has removed the second factor.",
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

// These tests must be last, because they change who is a lead.
describe("the last lead", () => {
  const leads = () =>
    query<{ account_id: string }>(
      "select account_id from public.staff_members where role = 'lead' and removed_at is null",
    );
  const lastLead = "This team member is the last lead. Make another team member a lead first.";

  test("Neither the last lead nor the service role can remove the last lead or change the role to clerk.", async () => {
    expect(await leads()).toEqual([{ account_id: lead.id }]);
    for (const supabase of [lead.supabase, testBackend.serviceRole]) {
      expect(await getRejection(removeMember(lead.id, supabase))).toBe(`409 ${lastLead}`);
      expect(await getRejection(changeRole(lead.id, "clerk", supabase))).toBe(`409 ${lastLead}`);
    }
    expect(await leads()).toEqual([{ account_id: lead.id }]);
    expect((await lead.supabase.from("audit_log").select("id").limit(1)).data).toHaveLength(1);
  });

  test("An invited lead counts as a lead only after the first login.", async () => {
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

  test("If two leads demote or remove each other in parallel, one lead remains.", async () => {
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
