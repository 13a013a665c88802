import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  atOnce,
  colleaguePassword,
  colleagueWithoutFactor,
  deskState,
  makeAccount,
  newColleague,
  signIn,
} from "../support/colleague.ts";
import { type Handle, memoryBackend, raw } from "../support/memory-backend.ts";

let world: Awaited<ReturnType<typeof memoryBackend>>;
let lead: Awaited<ReturnType<typeof newColleague>>;
let client: Awaited<ReturnType<typeof world.newClient>>;

beforeAll(async () => {
  world = await memoryBackend();
  lead = await newColleague(world, "lead", "lead@company.example");
  client = await world.newClient("client@client.example");
});
afterAll(() => world.close());

type Invited = { invitation?: string; account?: string };
const invite = (more: object, handle: Handle = lead.handle) =>
  call("invite_colleague", { name: "Nekesa", role: "clerk", ...more }, handle) as Promise<Invited>;
const remove = (account: string, handle: Handle = lead.handle, reason = "They left") =>
  call("remove_colleague", { account, reason }, handle);
const change = (account: string, role: string, handle: Handle = lead.handle) =>
  call("change_role", { account, role }, handle);

describe("an invitation", () => {
  test("makes the account of a colleague, with the name and role it says, and is logged with who invited", async () => {
    const { invitation = "" } = await invite({ email: " New@Company.Example ", role: "lead" });
    const id = await makeAccount(world, "new@company.example", invitation);
    expect(await colleague(id)).toMatchObject({ name: "Nekesa", role: "lead", removed_at: null });
    expect(await log(id)).toEqual([
      { act: "colleague invite", by_name: lead.name, before: null, after: { role: "lead" }, reason: null },
    ]);
    const handle = await signIn(world, "new@company.example");
    const { data } = await raw(handle).rpc("who_asks", {}, { get: true });
    expect(data.caller.colleague).toEqual({ name: "Nekesa", role: "lead" });
    await remove(id);
  });

  test("is good once, for its address, and until a newer one", async () => {
    const email = "once@company.example";
    const { invitation: old = "" } = await invite({ email });
    const { invitation = "" } = await invite({ email, name: "Otieno", role: "lead" });
    const other = "other@company.example";
    for (const [address, id] of [
      [email, old],
      [other, invitation],
      [other, randomUUID()],
      [other, ""],
      [other, "%"],
    ] as const) {
      await expect(makeAccount(world, address, id), `${address} ${id}`).rejects.toThrow();
    }
    const id = await makeAccount(world, email, invitation);
    expect(await colleague(id)).toMatchObject({ name: "Otieno", role: "lead" });
    await expect(makeAccount(world, other, invitation)).rejects.toThrow();
    expect(await query("select from auth.users where email = $1", [other])).toEqual([]);
    await remove(id);
  });

  test("makes nothing by the sign-up of clients, and nobody who signs up becomes a colleague", async () => {
    const email = "wanted@company.example";
    const { invitation } = await invite({ email, role: "lead" });
    const signUp = (data: object) =>
      world.anonymous().auth.signUp({ email, password: colleaguePassword, options: { data } });
    expect((await signUp({ full_name: "Me", colleague_invitation: invitation })).error).not.toBeNull();
    expect(await query("select from auth.users where email = $1", [email])).toEqual([]);
    const { data: [issued] = [] } = (await raw(world.company).rpc("issue_client_ids")) as {
      data: { client_id: string }[];
    };
    const forged = { full_name: "Me", client_id: issued?.client_id, colleague_invitation: randomUUID(), role: "lead" };
    expect((await signUp(forged)).error).toBeNull();
    const [{ id } = { id: "" }] = await query<{ id: string }>("select id from auth.users where email = $1", [email]);
    expect(id).not.toBe("");
    expect(await colleague(id)).toBeUndefined();
  });

  test("goes to no client's address, however it is written, and to no colleague who works here", async () => {
    for (const email of [client.email, ` ${client.email.toUpperCase()} `]) {
      expect(await refusal(invite({ email }))).toBe(
        "409 This address has a client's account. A colleague needs an address of their own.",
      );
    }
    expect(await refusal(invite({ email: lead.email, role: "clerk" }))).toBe(
      "409 This address is a colleague's already.",
    );
    expect(await colleague(lead.id)).toMatchObject({ role: "lead" });
    expect(await log(client.id)).toEqual([]);
  });

  test("is sent again to who never came, as what they are to be now", async () => {
    const email = "slow@company.example";
    const { invitation = "" } = await invite({ email });
    const id = await makeAccount(world, email, invitation);
    expect(await invite({ email, name: "Nekesa Barasa", role: "lead" })).toEqual({ account: id });
    expect(await colleague(id)).toMatchObject({ name: "Nekesa Barasa", role: "lead" });
    expect((await log(id)).map(({ after }) => after)).toEqual([{ role: "clerk" }, { role: "lead" }]);
    await signIn(world, email);
    expect(await refusal(invite({ email }))).toMatch(/^409 /);
    await remove(id);
  });

  test("of one form that is sent twice makes one invitation", async () => {
    const email = "hasty@company.example";
    const form = { email, name: "Nekesa", request: randomUUID() };
    const { invitation = "" } = await invite(form);
    expect(invitation).not.toBe("");
    expect(await invite(form)).toEqual({ invitation });
    expect(await invitations(email)).toEqual([{ id: invitation, name: "Nekesa" }]);
    // Other words are another form, even with its request; so is another person's.
    const { invitation: renamed = "" } = await invite({ ...form, name: "Nekesa Barasa" });
    expect(await invitations(email)).toEqual([{ id: renamed, name: "Nekesa Barasa" }]);
    expect((await invite({ ...form, email: "hasty-too@company.example" })).invitation).toBeTruthy();
    await expect(makeAccount(world, email, invitation)).rejects.toThrow();
    const id = await makeAccount(world, email, renamed);
    expect(await invite({ ...form, name: "Nekesa Barasa" })).toEqual({ account: id });
    expect((await log(id)).map(({ act }) => act)).toEqual(["colleague invite"]);
    // Who never came is invited once by another form that is sent twice.
    const again = { email, name: "Nekesa", request: randomUUID() };
    expect(await invite(again)).toEqual({ account: id });
    expect(await invite(again)).toEqual({ account: id });
    expect((await log(id)).map(({ act }) => act)).toEqual(["colleague invite", "colleague invite"]);
    await remove(id);
  });

  test("of one form that comes eight times at once is made once", async () => {
    const email = "eager@company.example";
    const args = { email, name: "Nekesa", role: "clerk", request: randomUUID() };
    const answers = await atOnce(
      world,
      Array.from({ length: 8 }, () => ({ name: "invite_colleague", args, token: lead.accessToken })),
    );
    const [made] = await invitations(email);
    const invited = answers.map(({ answer }) => (answer as Invited).invitation);
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
    expect(await refusal(invite({ email: "wrong@company.example", ...wrong }))).toMatch(/^400 /);
    expect(await query("select from private.colleague_invitations where email like 'wrong%'")).toEqual([]);
  });
});

describe("a removed colleague", () => {
  test("is out of every session at once, has no way back in, and stays in the log", async () => {
    const gone = await newColleague(world, "clerk", "gone@company.example");
    const left = raw(world.withToken(gone.accessToken));
    await call("announce", { text: "All is well" }, gone.handle);
    const token = await issue(gone.id);
    expect((await left.from("acts").select("id")).data).not.toEqual([]);
    expect(await refusal(remove(gone.id, lead.handle, " "))).toMatch(/^400 /);

    await remove(gone.id);
    expect((await left.from("acts").select("id")).data).toEqual([]);
    expect((await left.from("announcements").select("id")).data).toEqual([]);
    expect((await left.rpc("desk_today", {}, { get: true })).data).toEqual({ caller: null });
    expect((await left.rpc("announce", { text: "Pay here" })).error?.code).toBe("PT403");
    for (const handle of [gone.handle, gone.aal1]) expect((await handle.auth.refreshSession()).error).not.toBeNull();
    await expect(signIn(world, gone.email)).rejects.toThrow();
    expect(await opens(token)).toBeNull();
    expect(await refusal(call("ask_password_link", { account: gone.id }))).toMatch(/^409 /);
    expect(await refusal(remove(gone.id))).toMatch(/^404 /);
    expect(await refusal(change(gone.id, "lead"))).toMatch(/^404 /);
    expect(await log(gone.id)).toEqual([
      expect.objectContaining({ act: "colleague invite" }),
      { act: "colleague remove", by_name: lead.name, before: { role: "clerk" }, after: null, reason: "They left" },
    ]);
    const [done] = await query("select by_name from public.acts where colleague = $1", [gone.id]);
    expect(done).toEqual({ by_name: gone.name });
  });

  test("comes back by a new invitation, in the new role, without the password and the factor from before", async () => {
    const back = await newColleague(world, "lead", "back@company.example");
    await remove(back.id);
    expect(await invite({ email: back.email, name: "Back Again", role: "clerk" })).toEqual({ account: back.id });
    expect(await colleague(back.id)).toMatchObject({ name: "Back Again", role: "clerk", removed_at: null });
    const left = raw(world.withToken(back.accessToken));
    expect((await left.rpc("desk_today", {}, { get: true })).data).toEqual({ caller: null });
    await expect(signIn(world, back.email)).rejects.toThrow("Invalid login credentials");
    const link = await world.company.auth.admin.generateLink({ type: "recovery", email: back.email });
    const handle = world.anonymous();
    await handle.auth.verifyOtp({ type: "recovery", token_hash: link.data.properties?.hashed_token ?? "" });
    expect((await handle.auth.updateUser({ password: "chosen by the new link" })).error).toBe(null);
    expect((await handle.auth.mfa.listFactors()).data?.all).toEqual([]);
    expect((await handle.from("acts").select("id")).data).toEqual([]);
  });
});

describe("a role", () => {
  test("that is changed counts at once, in sessions that are open, and both are in the log", async () => {
    const other = await newColleague(world, "clerk", "other@company.example");
    const newcomer = await colleagueWithoutFactor(world, "clerk", "newcomer@company.example");
    expect(await refusal(change(newcomer.id, "lead", other.handle))).toMatch(/^403 /);
    await change(other.id, "lead");
    await change(newcomer.id, "lead", other.handle);
    await change(other.id, "clerk");
    await change(other.id, "clerk");
    expect(await refusal(change(newcomer.id, "clerk", other.handle))).toMatch(/^403 /);
    expect((await log(other.id)).slice(1)).toEqual([
      { act: "colleague role", by_name: lead.name, before: { role: "clerk" }, after: { role: "lead" }, reason: null },
      { act: "colleague role", by_name: lead.name, before: { role: "lead" }, after: { role: "clerk" }, reason: null },
    ]);
    await remove(newcomer.id);
  });

  test("is one of the two, and a colleague's", async () => {
    expect(await refusal(change(lead.id, "boss"))).toMatch(/^400 /);
    for (const account of [client.id, randomUUID()]) {
      for (const role of ["clerk", "lead"]) expect(await refusal(change(account, role))).toMatch(/^404 /);
      expect(await refusal(remove(account))).toMatch(/^404 /);
    }
  });
});

test("a colleague's second factors are removed by a lead, and their sessions end; the desk is shut without one", async () => {
  const careless = await newColleague(world, "clerk", "careless@company.example");
  expect(await call("remove_second_factors", { account: careless.id, reason: "A lost telephone" })).toEqual({
    removed: 1,
    email: careless.email,
  });
  expect((await careless.handle.auth.refreshSession()).error).not.toBeNull();
  const handle = await signIn(world, careless.email);
  expect((await handle.from("acts").select("id")).data).toEqual([]);
  expect(await refusal(call("announce", { text: "Pay here" }, handle))).toMatch(/^403 /);
});

describe("of a colleague whose second factor is gone, a token from before, which says AAL2,", () => {
  type Colleague = Awaited<ReturnType<typeof newColleague>>;
  const ways: [string, (one: Colleague) => Promise<unknown>][] = [
    ["that they removed themselves", ({ handle, factorId }) => handle.auth.mfa.unenroll({ factorId })],
    [
      "that the company deleted",
      ({ id, factorId }) => world.company.auth.admin.mfa.deleteFactor({ userId: id, id: factorId }),
    ],
    ["that a lead removed", ({ id }) => call("remove_second_factors", { account: id }).then(() => ({ error: null }))],
  ];

  test.each(ways)("%s: opens no row, no page and no act", async (what, gone) => {
    for (const role of ["clerk", "lead"] as const) {
      const one = await newColleague(world, role, `${role}-${what.replaceAll(" ", "-")}@company.example`);
      const left = raw(world.withToken(one.accessToken));
      const page = async (name: string, args = {}) => (await left.rpc(name, args, { get: true })).data;
      const tables = [
        "acts",
        "colleagues",
        "shipments",
        "documents",
        "tracking_events",
        "charges",
        "undelivered_mails",
      ];
      expect(Object.keys(await page("desk_log"))).toContain("acts");
      expect((await left.from("acts").select("id")).data).not.toEqual([]);
      const before = await deskState(world);

      expect(await gone(one)).toMatchObject({ error: null });
      const claims = JSON.parse(Buffer.from(one.accessToken.split(".")[1] ?? "", "base64url").toString("utf8"));
      expect([claims.aal, claims.exp * 1000 > Date.now()]).toEqual(["aal2", true]);
      const after = await deskState(world);
      for (const table of tables) expect((await left.from(table).select("*")).data, table).toEqual([]);
      expect((await left.from("client_ids").select("*")).error?.code).toBe("42501");
      for (const [name, args] of [
        ["desk_today", {}],
        ["desk_shipments", {}],
        ["desk_shipments_after", {}],
        ["desk_moved", { shipments: [randomUUID()] }],
        ["desk_clients", { opened: client.id }],
        ["desk_invitations", {}],
        ["desk_colleagues", {}],
        ["desk_log", {}],
      ] as const) {
        expect(Object.keys(await page(name, args)), name).toEqual(["caller"]);
      }
      for (const [name, args] of [
        ["announce", { text: "Pay here" }],
        ["issue_client_ids", {}],
        ["move_shipments", { moves: [] }],
        ["close_account", { account: client.id, reason: "Because" }],
        ["open_document", { document_id: randomUUID(), shipment_id: randomUUID() }],
        ["send_client_id", { client_id: "N0TH-1NG0-0F1T-HERE" }],
        ["change_role", { account: one.id, role: "lead" }],
        ["invite_colleague", { email: "accomplice@client.example", name: "Accomplice", role: "lead" }],
      ] as const) {
        const { data, error } = await left.rpc(name, args);
        expect([data, error?.code], name).toEqual([null, "PT403"]);
      }
      expect(await deskState(world)).toEqual(after);
      expect(after["public.shipments"]).toEqual(before["public.shipments"]);
      await remove(one.id);
    }
  });
});

describe("a link to set a password", () => {
  test("tells whose it is, whether they are a colleague, and which factors they have, and is spent by none of it", async () => {
    const mine = await issue(lead.id);
    expect(mine).toMatch(/^[0-9a-f]{64}$/);
    const factors = [{ id: lead.factorId, name: "Phone" }];
    for (let time = 0; time < 2; time += 1) {
      expect(await opens(mine)).toEqual({
        ...{ account: lead.id, email: lead.email, colleague: true, is_invitation: false, factors },
      });
    }
    expect(await opens(await issue(client.id))).toEqual({
      ...{ account: client.id, email: client.email, colleague: false, is_invitation: false, factors: [] },
    });
  });

  test("tells whether it is an invitation, by the days it is good for", async () => {
    expect(await opens(await issue(lead.id, 7 * 24))).toMatchObject({ account: lead.id, is_invitation: true });
    expect(await opens(await issue(lead.id))).toMatchObject({ account: lead.id, is_invitation: false });
  });

  test("is spent once", async () => {
    const token = await issue();
    expect(await spends(token)).toBe(true);
    expect(await spends(token)).toBe(false);
    expect(await opens(token)).toBeNull();
  });

  test("is good again when whoever spent it gives it back in time", async () => {
    const token = await issue();
    await spends(token);
    await call("unspend_password_link", { token }, world.company);
    expect(await opens(token)).toMatchObject({ account: client.id });
    expect(await spends(token)).toBe(true);
    await query("update private.password_links set spent_at = now() - interval '3 minutes' where spent_at is not null");
    await call("unspend_password_link", { token }, world.company);
    expect([await opens(token), await spends(token)]).toEqual([null, false]);
  });

  test("is spent by one of eight who come at the same time", async () => {
    const args = { token: await issue() };
    const answers = await atOnce(
      world,
      Array.from({ length: 8 }, () => ({ name: "spend_password_link", args })),
    );
    expect(answers.filter(({ answer }) => answer === true)).toHaveLength(1);
    expect(answers.filter(({ answer }) => answer === false)).toHaveLength(7);
  });

  test("ends those before it, at the same time too, and no other account's", async () => {
    const theirs = await issue(lead.id);
    const [first, second] = [await issue(), await issue()];
    expect([await opens(first), await spends(first)]).toEqual([null, false]);
    expect(await opens(second)).toMatchObject({ account: client.id });
    const args = { account: client.id, hours: 1 };
    const issued = await atOnce(
      world,
      Array.from({ length: 6 }, () => ({ name: "issue_password_link", args })),
    );
    const good = await Promise.all(issued.map(({ answer }) => opens(String(answer))));
    expect(good.filter(Boolean)).toHaveLength(1);
    expect(await opens(theirs)).toMatchObject({ account: lead.id });
  });

  test("is good for so many hours", async () => {
    const token = await issue(client.id, 168);
    const left = await query(
      `select expires_at > now() + interval '167 hours' and expires_at <= now() + interval '168 hours' as good
       from private.password_links where account = $1`,
      [client.id],
    );
    expect(left).toEqual([{ good: true }]);
    await query("update private.password_links set expires_at = now() where account = $1", [client.id]);
    expect([await opens(token), await spends(token)]).toEqual([null, false]);
  });

  test("that is guessed, cut or empty opens nothing, and what the database keeps of one is no link", async () => {
    const token = await issue();
    const [kept] = await query<{ token_hash: string }>(
      "select token_hash from private.password_links where account = $1",
      [client.id],
    );
    expect(JSON.stringify(await query("select * from private.password_links"))).not.toContain(token);
    for (const wrong of ["", "%", token.slice(0, 63), token.toUpperCase(), `${token} `, kept?.token_hash ?? ""]) {
      expect([await opens(wrong), await spends(wrong)], wrong).toEqual([null, false]);
    }
    expect(await opens(token)).not.toBeNull();
  });

  test("ends when its account is closed, and one to a closed account opens nothing", async () => {
    const before = await issue();
    await call("close_account", { account: client.id, reason: "They asked" });
    const after = await issue();
    for (const token of [before, after]) expect(await opens(token)).toBeNull();
    await call("open_account", { account: client.id, reason: "They called" });
    expect(await opens(before)).toBeNull();
  });
});

// The last tests: they change who leads.
describe("the last lead", () => {
  const leads = () =>
    query<{ account: string }>("select account from public.colleagues where role = 'lead' and removed_at is null");
  const words = "This is the last lead who works here: make somebody else a lead first.";

  test("is neither removed nor made a clerk, by themselves or by the company", async () => {
    expect(await leads()).toEqual([{ account: lead.id }]);
    for (const handle of [lead.handle, world.company]) {
      expect(await refusal(remove(lead.id, handle))).toBe(`409 ${words}`);
      expect(await refusal(change(lead.id, "clerk", handle))).toBe(`409 ${words}`);
    }
    expect(await leads()).toEqual([{ account: lead.id }]);
    expect((await lead.handle.from("acts").select("id").limit(1)).data).toHaveLength(1);
  });

  test("is one though another was invited who has not come: nobody takes their place before", async () => {
    const email = "coming@company.example";
    const { invitation = "" } = await invite({ email, role: "lead" });
    const id = await makeAccount(world, email, invitation);
    expect(await leads()).toHaveLength(2);
    for (const handle of [lead.handle, world.company]) {
      expect(await refusal(remove(lead.id, handle))).toBe(`409 ${words}`);
      expect(await refusal(change(lead.id, "clerk", handle))).toBe(`409 ${words}`);
    }
    // Of two who have not come, one may go: they take nobody's place either.
    const other = await invite({ email: "coming-too@company.example", role: "lead" });
    const second = await makeAccount(world, "coming-too@company.example", other.invitation ?? "");
    await change(second, "clerk");
    await remove(second);
    await remove(id);
    const third = await colleagueWithoutFactor(world, "lead", "came@company.example");
    await change(lead.id, "clerk", world.company);
    expect(await leads()).toEqual([{ account: third.id }]);
    expect(await refusal(remove(third.id, world.company))).toBe(`409 ${words}`);
    await change(lead.id, "lead", world.company);
    await remove(third.id);
    expect(await leads()).toEqual([{ account: lead.id }]);
  });

  test("is left when two leads make each other clerks, or remove each other, at the same time", async () => {
    const second = await newColleague(world, "lead", "second@company.example");
    const each = (name: string, more: object) =>
      atOnce(world, [
        { name, args: { account: second.id, ...more }, token: lead.accessToken },
        { name, args: { account: lead.id, ...more }, token: second.accessToken },
      ]);
    const demoted = await each("change_role", { role: "clerk" });
    expect(demoted.filter(({ refused }) => refused)).toHaveLength(1);
    expect(await leads()).toHaveLength(1);
    for (const { id } of [lead, second]) await change(id, "lead", world.company);
    expect(await leads()).toHaveLength(2);
    const removed = await each("remove_colleague", { reason: "They left" });
    expect(removed.filter(({ refused }) => refused)).toHaveLength(1);
    expect(await leads()).toHaveLength(1);
  });
});

/** What a function answers. Throws its refusal. */
async function call(name: string, args: object, handle: Handle = lead.handle): Promise<unknown> {
  const { data, error, status } = await raw(handle).rpc(name, args);
  if (error) throw Object.assign(new Error(error.message), { refusal: `${status} ${error.message}` });
  return data;
}

/** With which status and words a call is refused. */
function refusal(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => "done",
    (error: { refusal?: string }) => {
      if (!error.refusal) throw error;
      return error.refusal;
    },
  );
}

const issue = (account = client.id, hours = 1) =>
  call("issue_password_link", { account, hours }, world.company) as Promise<string>;
const opens = (token: string) => call("password_link", { token }, world.company);
const spends = (token: string) => call("spend_password_link", { token }, world.company);

async function colleague(account: string) {
  return (await query("select * from public.colleagues where account = $1", [account]))[0];
}

/** The invitations to an address that have no account yet. */
function invitations(email: string) {
  return query<{ id: string; name: string }>("select id, name from private.colleague_invitations where email = $1", [
    email,
  ]);
}

/** What was done to an account, oldest first. */
function log(account: string) {
  return query("select act, by_name, before, after, reason from public.acts where account = $1 order by at", [account]);
}

async function query<T = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await world.backend.db.query<T>(text, values)).rows;
}

describe("a mail that a form asks for", () => {
  const claims = (request: string | null, sent_to = "a@company.example", handle = world.company) =>
    call("claim_mail", { request, sent_to }, handle);
  const releases = (request: string) => call("release_mail", { request, sent_to: "a@company.example" }, world.company);

  test("is claimed once, by one of eight at the same time, and for each address by itself", async () => {
    const args = { request: randomUUID(), sent_to: "a@company.example" };
    const answers = await atOnce(
      world,
      Array.from({ length: 8 }, () => ({ name: "claim_mail", args })),
    );
    expect(answers.filter(({ answer }) => answer === true)).toHaveLength(1);
    expect(await claims(args.request)).toBe(false);
    expect(await claims(args.request, "b@company.example")).toBe(true);
  });

  test("is claimed again when it was given back, or whoever claimed it has been gone for two minutes", async () => {
    const request = randomUUID();
    expect([await claims(request), await claims(request)]).toEqual([true, false]);
    await releases(request);
    expect([await claims(request), await claims(request)]).toEqual([true, false]);
    await query("update private.mail_claims set at = now() - interval '121 seconds'");
    expect([await claims(request), await claims(request)]).toEqual([true, false]);
  });
});
