import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  callConcurrently,
  createStaffAccount,
  logIn,
  newStaffMember,
  newStaffMemberWithoutFactor,
  readDeskState,
  staffPassword,
} from "../support/staff-members.ts";
import { type AppSupabaseClient, startTestBackend, toUntypedClient } from "../support/test-backend.ts";

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let lead: Awaited<ReturnType<typeof newStaffMember>>;
let client: Awaited<ReturnType<typeof testBackend.newClient>>;

beforeAll(async () => {
  testBackend = await startTestBackend();
  lead = await newStaffMember(testBackend, "lead", "lead@company.example");
  client = await testBackend.newClient("client@client.example");
});
afterAll(() => testBackend.close());

type InviteRpcResult = { invite_id?: string; account_id?: string };
const invite = (more: object, supabase: AppSupabaseClient = lead.supabase) =>
  callRpc("invite_staff_member", { name: "Nekesa", role: "clerk", ...more }, supabase) as Promise<InviteRpcResult>;
const removeMember = (account: string, supabase: AppSupabaseClient = lead.supabase, reason = "They left") =>
  callRpc("remove_staff_member", { account_id: account, reason }, supabase);
const changeRole = (account: string, role: string, supabase: AppSupabaseClient = lead.supabase) =>
  callRpc("change_staff_role", { account_id: account, role }, supabase);

describe("an invitation", () => {
  test("makes the account of a colleague, with the name and role it says, and is logged with who invited", async () => {
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

  test("is good once, for its address, and until a newer one", async () => {
    const email = "once@company.example";
    const { invite_id: old = "" } = await invite({ email });
    const { invite_id: invitation = "" } = await invite({ email, name: "Otieno", role: "lead" });
    const other = "other@company.example";
    for (const [address, id] of [
      [email, old],
      [other, invitation],
      [other, randomUUID()],
      [other, ""],
      [other, "%"],
    ] as const) {
      await expect(createStaffAccount(testBackend, address, id), `${address} ${id}`).rejects.toThrow();
    }
    const id = await createStaffAccount(testBackend, email, invitation);
    expect(await findStaffMember(id)).toMatchObject({ name: "Otieno", role: "lead" });
    await expect(createStaffAccount(testBackend, other, invitation)).rejects.toThrow();
    expect(await query("select from auth.users where email = $1", [other])).toEqual([]);
    await removeMember(id);
  });

  test("makes nothing by the sign-up of clients, and nobody who signs up becomes a colleague", async () => {
    const email = "wanted@company.example";
    const { invite_id: invitation } = await invite({ email, role: "lead" });
    const signUp = (data: object) =>
      testBackend.anonymous().auth.signUp({ email, password: staffPassword, options: { data } });
    expect((await signUp({ full_name: "Me", staff_invite_id: invitation })).error).not.toBeNull();
    expect(await query("select from auth.users where email = $1", [email])).toEqual([]);
    const { data: [issued] = [] } = (await toUntypedClient(testBackend.serviceRole).rpc("issue_client_ids")) as {
      data: { client_id: string }[];
    };
    const forged = { full_name: "Me", client_id: issued?.client_id, staff_invite_id: randomUUID(), role: "lead" };
    expect((await signUp(forged)).error).toBeNull();
    const [{ id } = { id: "" }] = await query<{ id: string }>("select id from auth.users where email = $1", [email]);
    expect(id).not.toBe("");
    expect(await findStaffMember(id)).toBeUndefined();
  });

  test("goes to no client's address, however it is written, and to no colleague who works here", async () => {
    for (const email of [client.email, ` ${client.email.toUpperCase()} `]) {
      expect(await getRejection(invite({ email }))).toBe(
        "409 This address has a client's account. A colleague needs an address of their own.",
      );
    }
    expect(await getRejection(invite({ email: lead.email, role: "clerk" }))).toBe(
      "409 This address is a colleague's already.",
    );
    expect(await findStaffMember(lead.id)).toMatchObject({ role: "lead" });
    expect(await listAccountAuditEntries(client.id)).toEqual([]);
  });

  test("is sent again to who never came, as what they are to be now", async () => {
    const email = "slow@company.example";
    const { invite_id: invitation = "" } = await invite({ email });
    const id = await createStaffAccount(testBackend, email, invitation);
    expect(await invite({ email, name: "Nekesa Barasa", role: "lead" })).toEqual({ account_id: id });
    expect(await findStaffMember(id)).toMatchObject({ name: "Nekesa Barasa", role: "lead" });
    expect((await listAccountAuditEntries(id)).map(({ after }) => after)).toEqual([
      { role: "clerk" },
      { role: "lead" },
    ]);
    await logIn(testBackend, email);
    expect(await getRejection(invite({ email }))).toMatch(/^409 /);
    await removeMember(id);
  });

  test("of one form that is sent twice makes one invitation", async () => {
    const email = "hasty@company.example";
    const form = { email, name: "Nekesa", idempotency_key: randomUUID() };
    const { invite_id: invitation = "" } = await invite(form);
    expect(invitation).not.toBe("");
    expect(await invite(form)).toEqual({ invite_id: invitation });
    expect(await listInvitations(email)).toEqual([{ id: invitation, name: "Nekesa" }]);
    // Other words are another form, even with its request; so is another person's.
    const { invite_id: renamed = "" } = await invite({ ...form, name: "Nekesa Barasa" });
    expect(await listInvitations(email)).toEqual([{ id: renamed, name: "Nekesa Barasa" }]);
    expect((await invite({ ...form, email: "hasty-too@company.example" })).invite_id).toBeTruthy();
    await expect(createStaffAccount(testBackend, email, invitation)).rejects.toThrow();
    const id = await createStaffAccount(testBackend, email, renamed);
    expect(await invite({ ...form, name: "Nekesa Barasa" })).toEqual({ account_id: id });
    expect((await listAccountAuditEntries(id)).map(({ action }) => action)).toEqual(["team invite"]);
    // Who never came is invited once by another form that is sent twice.
    const again = { email, name: "Nekesa", idempotency_key: randomUUID() };
    expect(await invite(again)).toEqual({ account_id: id });
    expect(await invite(again)).toEqual({ account_id: id });
    expect((await listAccountAuditEntries(id)).map(({ action }) => action)).toEqual(["team invite", "team invite"]);
    await removeMember(id);
  });

  test("of one form that comes eight times at once is made once", async () => {
    const email = "eager@company.example";
    const args = { email, name: "Nekesa", role: "clerk", idempotency_key: randomUUID() };
    const results = await callConcurrently(
      testBackend,
      Array.from({ length: 8 }, () => ({ name: "invite_staff_member", args, token: lead.accessToken })),
    );
    const [made] = await listInvitations(email);
    const invited = results.map(({ result }) => (result as InviteRpcResult).invite_id);
    expect(invited).toEqual(Array.from({ length: 8 }, () => made?.id));
  });

  test.each([
    { role: "boss" },
    { role: null },
    { name: " " },
    { name: "x".repeat(101) },
    { name: "Two\nlines" },
    { name: "Turned \u202e round" },
  ])("of somebody with %j is refused", async (wrong) => {
    expect(await getRejection(invite({ email: "wrong@company.example", ...wrong }))).toMatch(/^400 /);
    expect(await query("select from private.staff_invites where email like 'wrong%'")).toEqual([]);
  });
});

describe("a removed colleague", () => {
  test("is out of every session at once, has no way back in, and stays in the log", async () => {
    const gone = await newStaffMember(testBackend, "clerk", "gone@company.example");
    const left = toUntypedClient(testBackend.withToken(gone.accessToken));
    await callRpc("announce", { text: "All is well" }, gone.supabase);
    const token = await issueLink(gone.id);
    expect((await left.from("audit_log").select("id")).data).not.toEqual([]);
    expect(await getRejection(removeMember(gone.id, lead.supabase, " "))).toMatch(/^400 /);

    await removeMember(gone.id);
    expect((await left.from("audit_log").select("id")).data).toEqual([]);
    expect((await left.from("announcements").select("id")).data).toEqual([]);
    expect((await left.rpc("desk_today", {}, { get: true })).data).toEqual({ viewer: null });
    expect((await left.rpc("announce", { text: "Pay here" })).error?.code).toBe("PT403");
    for (const supabase of [gone.supabase, gone.aal1])
      expect((await supabase.auth.refreshSession()).error).not.toBeNull();
    await expect(logIn(testBackend, gone.email)).rejects.toThrow();
    expect(await readLink(token)).toBeNull();
    expect(await getRejection(callRpc("request_password_link", { account_id: gone.id }))).toMatch(/^409 /);
    expect(await getRejection(removeMember(gone.id))).toMatch(/^404 /);
    expect(await getRejection(changeRole(gone.id, "lead"))).toMatch(/^404 /);
    expect(await listAccountAuditEntries(gone.id)).toEqual([
      expect.objectContaining({ action: "team invite" }),
      { action: "team remove", actor_name: lead.name, before: { role: "clerk" }, after: null, reason: "They left" },
    ]);
    const [done] = await query("select actor_name from public.audit_log where staff_id = $1", [gone.id]);
    expect(done).toEqual({ actor_name: gone.name });
  });

  test("comes back by a new invitation, in the new role, without the password and the factor from before", async () => {
    const back = await newStaffMember(testBackend, "lead", "back@company.example");
    await removeMember(back.id);
    expect(await invite({ email: back.email, name: "Back Again", role: "clerk" })).toEqual({ account_id: back.id });
    expect(await findStaffMember(back.id)).toMatchObject({ name: "Back Again", role: "clerk", removed_at: null });
    const left = toUntypedClient(testBackend.withToken(back.accessToken));
    expect((await left.rpc("desk_today", {}, { get: true })).data).toEqual({ viewer: null });
    await expect(logIn(testBackend, back.email)).rejects.toThrow("Invalid login credentials");
    const link = await testBackend.serviceRole.auth.admin.generateLink({ type: "recovery", email: back.email });
    const supabase = testBackend.anonymous();
    await supabase.auth.verifyOtp({ type: "recovery", token_hash: link.data.properties?.hashed_token ?? "" });
    expect((await supabase.auth.updateUser({ password: "chosen by the new link" })).error).toBe(null);
    expect((await supabase.auth.mfa.listFactors()).data?.all).toEqual([]);
    expect((await supabase.from("audit_log").select("id")).data).toEqual([]);
  });
});

describe("a role", () => {
  test("that is changed counts at once, in sessions that are open, and both are in the log", async () => {
    const other = await newStaffMember(testBackend, "clerk", "other@company.example");
    const newcomer = await newStaffMemberWithoutFactor(testBackend, "clerk", "newcomer@company.example");
    expect(await getRejection(changeRole(newcomer.id, "lead", other.supabase))).toMatch(/^403 /);
    await changeRole(other.id, "lead");
    await changeRole(newcomer.id, "lead", other.supabase);
    await changeRole(other.id, "clerk");
    await changeRole(other.id, "clerk");
    expect(await getRejection(changeRole(newcomer.id, "clerk", other.supabase))).toMatch(/^403 /);
    expect((await listAccountAuditEntries(other.id)).slice(1)).toEqual([
      {
        action: "team role",
        actor_name: lead.name,
        before: { role: "clerk" },
        after: { role: "lead" },
        reason: null,
      },
      {
        action: "team role",
        actor_name: lead.name,
        before: { role: "lead" },
        after: { role: "clerk" },
        reason: null,
      },
    ]);
    await removeMember(newcomer.id);
  });

  test("is one of the two, and a colleague's", async () => {
    expect(await getRejection(changeRole(lead.id, "boss"))).toMatch(/^400 /);
    for (const account of [client.id, randomUUID()]) {
      for (const role of ["clerk", "lead"]) expect(await getRejection(changeRole(account, role))).toMatch(/^404 /);
      expect(await getRejection(removeMember(account))).toMatch(/^404 /);
    }
  });
});

test("a colleague's second factors are removed by a lead, and their sessions end; the desk is shut without one", async () => {
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

describe("of a colleague whose second factor is gone, a token from before, which says AAL2,", () => {
  type Colleague = Awaited<ReturnType<typeof newStaffMember>>;
  const ways: [string, (one: Colleague) => Promise<unknown>][] = [
    ["that they removed themselves", ({ supabase, factorId }) => supabase.auth.mfa.unenroll({ factorId })],
    [
      "that the company deleted",
      ({ id, factorId }) => testBackend.serviceRole.auth.admin.mfa.deleteFactor({ userId: id, id: factorId }),
    ],
    [
      "that a lead removed",
      ({ id }) => callRpc("remove_second_factors", { account_id: id }).then(() => ({ error: null })),
    ],
  ];

  test.each(ways)("%s: opens no row, no page and no act", async (what, gone) => {
    for (const role of ["clerk", "lead"] as const) {
      const one = await newStaffMember(testBackend, role, `${role}-${what.replaceAll(" ", "-")}@company.example`);
      const left = toUntypedClient(testBackend.withToken(one.accessToken));
      const page = async (name: string, args = {}) => (await left.rpc(name, args, { get: true })).data;
      const tables = [
        "audit_log",
        "staff_members",
        "shipments",
        "documents",
        "tracking_events",
        "charges",
        "failed_emails",
      ];
      expect(Object.keys(await page("desk_log"))).toContain("audit_entries");
      expect((await left.from("audit_log").select("id")).data).not.toEqual([]);
      const before = await readDeskState(testBackend);

      expect(await gone(one)).toMatchObject({ error: null });
      const claims = JSON.parse(Buffer.from(one.accessToken.split(".")[1] ?? "", "base64url").toString("utf8"));
      expect([claims.aal, claims.exp * 1000 > Date.now()]).toEqual(["aal2", true]);
      const after = await readDeskState(testBackend);
      for (const table of tables) expect((await left.from(table).select("*")).data, table).toEqual([]);
      expect((await left.from("client_ids").select("*")).error?.code).toBe("42501");
      for (const [name, args] of [
        ["desk_today", {}],
        ["desk_shipments", {}],
        ["desk_shipments_export", {}],
        ["desk_move_result", { shipment_ids: [randomUUID()] }],
        ["desk_clients", { opened_id: client.id }],
        ["desk_invitations", {}],
        ["desk_team", {}],
        ["desk_log", {}],
      ] as const) {
        expect(Object.keys(await page(name, args)), name).toEqual(["viewer"]);
      }
      for (const [name, args] of [
        ["announce", { text: "Pay here" }],
        ["issue_client_ids", {}],
        ["move_shipments", { moves: [] }],
        ["close_account", { account_id: client.id, reason: "Because" }],
        ["open_document", { document_id: randomUUID(), shipment_id: randomUUID() }],
        ["send_client_id", { client_id: "N0TH-1NG0-0F1T-HERE" }],
        ["change_staff_role", { account_id: one.id, role: "lead" }],
        ["invite_staff_member", { email: "accomplice@client.example", name: "Accomplice", role: "lead" }],
      ] as const) {
        const { data, error } = await left.rpc(name, args);
        expect([data, error?.code], name).toEqual([null, "PT403"]);
      }
      expect(await readDeskState(testBackend)).toEqual(after);
      expect(after["public.shipments"]).toEqual(before["public.shipments"]);
      await removeMember(one.id);
    }
  });
});

describe("a link to set a password", () => {
  test("tells whose it is, whether they are a colleague, and which factors they have, and is spent by none of it", async () => {
    const mine = await issueLink(lead.id);
    expect(mine).toMatch(/^[0-9a-f]{64}$/);
    const factors = [{ id: lead.factorId, name: "Phone" }];
    for (let time = 0; time < 2; time += 1) {
      expect(await readLink(mine)).toEqual({
        ...{ account_id: lead.id, email: lead.email, is_staff: true, is_invite: false, factors },
      });
    }
    expect(await readLink(await issueLink(client.id))).toEqual({
      ...{ account_id: client.id, email: client.email, is_staff: false, is_invite: false, factors: [] },
    });
  });

  test("tells whether it is an invitation, by the days it is good for", async () => {
    expect(await readLink(await issueLink(lead.id, 7 * 24))).toMatchObject({ account_id: lead.id, is_invite: true });
    expect(await readLink(await issueLink(lead.id))).toMatchObject({ account_id: lead.id, is_invite: false });
  });

  test("is spent once", async () => {
    const token = await issueLink();
    expect(await redeemLink(token)).toBe(true);
    expect(await redeemLink(token)).toBe(false);
    expect(await readLink(token)).toBeNull();
  });

  test("is good again when whoever spent it gives it back in time", async () => {
    const token = await issueLink();
    await redeemLink(token);
    await callRpc("restore_password_link", { token }, testBackend.serviceRole);
    expect(await readLink(token)).toMatchObject({ account_id: client.id });
    expect(await redeemLink(token)).toBe(true);
    await query(
      "update private.password_links set redeemed_at = now() - interval '3 minutes' where redeemed_at is not null",
    );
    await callRpc("restore_password_link", { token }, testBackend.serviceRole);
    expect([await readLink(token), await redeemLink(token)]).toEqual([null, false]);
  });

  test("is spent by one of eight who come at the same time", async () => {
    const args = { token: await issueLink() };
    const results = await callConcurrently(
      testBackend,
      Array.from({ length: 8 }, () => ({ name: "redeem_password_link", args })),
    );
    expect(results.filter(({ result }) => result === true)).toHaveLength(1);
    expect(results.filter(({ result }) => result === false)).toHaveLength(7);
  });

  test("ends those before it, at the same time too, and no other account's", async () => {
    const theirs = await issueLink(lead.id);
    const [first, second] = [await issueLink(), await issueLink()];
    expect([await readLink(first), await redeemLink(first)]).toEqual([null, false]);
    expect(await readLink(second)).toMatchObject({ account_id: client.id });
    const args = { account_id: client.id, valid_hours: 1 };
    const issued = await callConcurrently(
      testBackend,
      Array.from({ length: 6 }, () => ({ name: "issue_password_link", args })),
    );
    const good = await Promise.all(issued.map(({ result }) => readLink(String(result))));
    expect(good.filter(Boolean)).toHaveLength(1);
    expect(await readLink(theirs)).toMatchObject({ account_id: lead.id });
  });

  test("is good for so many hours", async () => {
    const token = await issueLink(client.id, 168);
    const left = await query(
      `select expires_at > now() + interval '167 hours' and expires_at <= now() + interval '168 hours' as good
       from private.password_links where account_id = $1`,
      [client.id],
    );
    expect(left).toEqual([{ good: true }]);
    await query("update private.password_links set expires_at = now() where account_id = $1", [client.id]);
    expect([await readLink(token), await redeemLink(token)]).toEqual([null, false]);
  });

  test("that is guessed, cut or empty opens nothing, and what the database keeps of one is no link", async () => {
    const token = await issueLink();
    const [kept] = await query<{ token_hash: string }>(
      "select token_hash from private.password_links where account_id = $1",
      [client.id],
    );
    expect(JSON.stringify(await query("select * from private.password_links"))).not.toContain(token);
    for (const wrong of ["", "%", token.slice(0, 63), token.toUpperCase(), `${token} `, kept?.token_hash ?? ""]) {
      expect([await readLink(wrong), await redeemLink(wrong)], wrong).toEqual([null, false]);
    }
    expect(await readLink(token)).not.toBeNull();
  });

  test("ends when its account is closed, and one to a closed account opens nothing", async () => {
    const before = await issueLink();
    await callRpc("close_account", { account_id: client.id, reason: "They asked" });
    const after = await issueLink();
    for (const token of [before, after]) expect(await readLink(token)).toBeNull();
    await callRpc("reopen_account", { account_id: client.id, reason: "They called" });
    expect(await readLink(before)).toBeNull();
  });
});

// The last tests: they change who leads.
describe("the last lead", () => {
  const leads = () =>
    query<{ account_id: string }>(
      "select account_id from public.staff_members where role = 'lead' and removed_at is null",
    );
  const words = "This is the last lead who works here: make somebody else a lead first.";

  test("is neither removed nor made a clerk, by themselves or by the company", async () => {
    expect(await leads()).toEqual([{ account_id: lead.id }]);
    for (const supabase of [lead.supabase, testBackend.serviceRole]) {
      expect(await getRejection(removeMember(lead.id, supabase))).toBe(`409 ${words}`);
      expect(await getRejection(changeRole(lead.id, "clerk", supabase))).toBe(`409 ${words}`);
    }
    expect(await leads()).toEqual([{ account_id: lead.id }]);
    expect((await lead.supabase.from("audit_log").select("id").limit(1)).data).toHaveLength(1);
  });

  test("is one though another was invited who has not come: nobody takes their place before", async () => {
    const email = "coming@company.example";
    const { invite_id: invitation = "" } = await invite({ email, role: "lead" });
    const id = await createStaffAccount(testBackend, email, invitation);
    expect(await leads()).toHaveLength(2);
    for (const supabase of [lead.supabase, testBackend.serviceRole]) {
      expect(await getRejection(removeMember(lead.id, supabase))).toBe(`409 ${words}`);
      expect(await getRejection(changeRole(lead.id, "clerk", supabase))).toBe(`409 ${words}`);
    }
    // Of two who have not come, one may go: they take nobody's place either.
    const other = await invite({ email: "coming-too@company.example", role: "lead" });
    const second = await createStaffAccount(testBackend, "coming-too@company.example", other.invite_id ?? "");
    await changeRole(second, "clerk");
    await removeMember(second);
    await removeMember(id);
    const third = await newStaffMemberWithoutFactor(testBackend, "lead", "came@company.example");
    await changeRole(lead.id, "clerk", testBackend.serviceRole);
    expect(await leads()).toEqual([{ account_id: third.id }]);
    expect(await getRejection(removeMember(third.id, testBackend.serviceRole))).toBe(`409 ${words}`);
    await changeRole(lead.id, "lead", testBackend.serviceRole);
    await removeMember(third.id);
    expect(await leads()).toEqual([{ account_id: lead.id }]);
  });

  test("is left when two leads make each other clerks, or remove each other, at the same time", async () => {
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

/** What a function answers. Throws its refusal. */
async function callRpc(name: string, args: object, supabase: AppSupabaseClient = lead.supabase): Promise<unknown> {
  const { data, error, status } = await toUntypedClient(supabase).rpc(name, args);
  if (error) throw Object.assign(new Error(error.message), { refusal: `${status} ${error.message}` });
  return data;
}

/** With which status and words a call is refused. */
function getRejection(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => "done",
    (error: { refusal?: string }) => {
      if (!error.refusal) throw error;
      return error.refusal;
    },
  );
}

const issueLink = (account = client.id, hours = 1) =>
  callRpc(
    "issue_password_link",
    { account_id: account, valid_hours: hours },
    testBackend.serviceRole,
  ) as Promise<string>;
const readLink = (token: string) => callRpc("password_link", { token }, testBackend.serviceRole);
const redeemLink = (token: string) => callRpc("redeem_password_link", { token }, testBackend.serviceRole);

async function findStaffMember(account: string) {
  return (await query("select * from public.staff_members where account_id = $1", [account]))[0];
}

/** The invitations to an address that have no account yet. */
function listInvitations(email: string) {
  return query<{ id: string; name: string }>("select id, name from private.staff_invites where email = $1", [email]);
}

/** What was done to an account, oldest first. */
function listAccountAuditEntries(account: string) {
  return query(
    "select action, actor_name, before, after, reason from public.audit_log where account_id = $1 order by created_at",
    [account],
  );
}

async function query<T = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await testBackend.backend.db.query<T>(text, values)).rows;
}

describe("a mail that a form asks for", () => {
  const claims = (request: string | null, sent_to = "a@company.example", supabase = testBackend.serviceRole) =>
    callRpc("claim_email", { idempotency_key: request, sent_to }, supabase);
  const releases = (request: string) =>
    callRpc("release_email", { idempotency_key: request, sent_to: "a@company.example" }, testBackend.serviceRole);

  test("is claimed once, by one of eight at the same time, and for each address by itself", async () => {
    const args = { idempotency_key: randomUUID(), sent_to: "a@company.example" };
    const results = await callConcurrently(
      testBackend,
      Array.from({ length: 8 }, () => ({ name: "claim_email", args })),
    );
    expect(results.filter(({ result }) => result === true)).toHaveLength(1);
    expect(await claims(args.idempotency_key)).toBe(false);
    expect(await claims(args.idempotency_key, "b@company.example")).toBe(true);
  });

  test("is claimed again when it was given back, or whoever claimed it has been gone for two minutes", async () => {
    const request = randomUUID();
    expect([await claims(request), await claims(request)]).toEqual([true, false]);
    await releases(request);
    expect([await claims(request), await claims(request)]).toEqual([true, false]);
    await query("update private.email_claims set claimed_at = now() - interval '121 seconds'");
    expect([await claims(request), await claims(request)]).toEqual([true, false]);
  });
});
