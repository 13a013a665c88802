import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eraseAccount } from "../../app/models/retention.server.ts";
import { Authenticator } from "../support/authenticator.ts";
import { newClientSession, newEndedSession, runWithSecondFactor } from "../support/client-sessions.ts";
import { callConcurrently, newStaffMember } from "../support/staff-members.ts";
import { type AppSupabaseClient, startTestBackend, toUntypedClient } from "../support/test-backend.ts";

type TestClient = Awaited<ReturnType<typeof testBackend.newClient>>;
type DatabaseRow = Record<string, unknown>;

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
let owner: TestClient;
let stranger: TestClient;
let clerk: Awaited<ReturnType<typeof newStaffMember>>;

const logInAgainError = "403 Log in again to do this.";
const hashToken = (token: string) => createHash("sha256").update(token).digest("hex");

beforeAll(async () => {
  testBackend = await startTestBackend();
  owner = await testBackend.newClient("owner@client.example");
  stranger = await testBackend.newClient("stranger@client.example");
  clerk = await newStaffMember(testBackend, "clerk", "clerk@company.example");
});
afterAll(() => testBackend.close());

describe("a change of address", () => {
  beforeEach(() => query("delete from private.email_changes"));
  const begin = (email: string | null, account = owner.id, supabase: AppSupabaseClient = testBackend.serviceRole) =>
    callRpc("start_email_change", { account_id: account, email }, supabase);
  const begun = async (email = "new@client.example", account = owner.id) => String(await begin(email, account));
  const look = (token: string | null, supabase: AppSupabaseClient = testBackend.serviceRole) =>
    callRpc("email_change", { token }, supabase);
  const spend = (token: string | null, supabase: AppSupabaseClient = testBackend.serviceRole) =>
    callRpc("redeem_email_change", { token }, supabase);
  const forget = (supabase: AppSupabaseClient = testBackend.serviceRole) =>
    callRpc("cancel_email_change", { account_id: owner.id }, supabase);
  const rename = (account: string, email: string) =>
    query("update auth.users set email = $2 where id = $1", [account, email]);
  /** As if what was begun had been begun so long ago. */
  const later = (time: string) =>
    query("update private.email_changes set expires_at = expires_at - $1::interval", [time]);
  const soon = "429 A message is on its way already. Wait a minute and try again.";

  test("is opened by the token of its link as often as it is looked at, and spent once", async () => {
    const token = await begun("New@Client.Example");
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    const change = { account_id: owner.id, email: "new@client.example", old_email: owner.email, factors: [] };
    for (const _twice of [1, 2]) expect(await look(token)).toEqual(change);
    const kept = await query<{ kept: string }>("select to_jsonb(one)::text as kept from private.email_changes as one");
    expect(kept).toHaveLength(1);
    expect(kept[0]?.kept).not.toContain(token);
    expect(await spend(token)).toBe(true);
    expect(await spend(token)).toBe(false);
    expect(await look(token)).toBeNull();
    // The address changes by auth alone.
    expect(await query("select email from auth.users where id = $1", [owner.id])).toEqual([{ email: owner.email }]);
  });

  test("is spent once by ten at once", async () => {
    const token = await begun();
    const calls = Array.from({ length: 10 }, () => ({ name: "redeem_email_change", args: { token } }));
    const results = await callConcurrently(testBackend, calls);
    expect(results.filter(({ result }) => result === true)).toHaveLength(1);
    expect(results.filter(({ result }) => result === false)).toHaveLength(9);
  });

  test("is not opened or spent by another token, nor a day later", async () => {
    const token = await begun();
    const wrong = [
      token.toUpperCase(),
      token.slice(1),
      `${token} `,
      hashToken(token),
      "0".repeat(64),
      "",
      "%",
      owner.id,
      null,
    ];
    for (const one of wrong) {
      if (one === token) continue;
      expect(await look(one)).toBeNull();
      expect(await spend(one)).toBe(false);
    }
    await later("23 hours 59 minutes");
    expect(await look(token)).toMatchObject({ account_id: owner.id });
    await later("2 minutes");
    expect(await look(token)).toBeNull();
    expect(await spend(token)).toBe(false);
  });

  test("is not opened or spent while its account is closed", async () => {
    const leaving = await testBackend.newClient("leaving@client.example");
    const token = await begun("left@client.example", leaving.id);
    expect(await callRpc("close_account", { account_id: leaving.id, reason: "They asked" }, clerk.supabase)).toBeNull();
    expect(await look(token)).toBeNull();
    expect(await spend(token)).toBe(false);
    expect(
      await callRpc("reopen_account", { account_id: leaving.id, reason: "They called" }, clerk.supabase),
    ).toBeNull();
    expect(await look(token)).toMatchObject({ account_id: leaving.id });
    expect(await spend(token)).toBe(true);
  });

  test("is begun again after a minute and not before, and the newest link alone opens something", async () => {
    const first = await begun("first@client.example");
    for (const email of ["first@client.example", "second@client.example"]) expect(await begin(email)).toBe(soon);
    await later("50 seconds");
    expect(await begin("second@client.example")).toBe(soon);
    expect(await look(first)).toMatchObject({ email: "first@client.example" });
    // Another account waits for nobody's minute.
    const theirs = await begun("theirs@client.example", stranger.id);
    await later("11 seconds");
    const second = await begun("second@client.example");
    expect(await look(first)).toBeNull();
    expect(await spend(first)).toBe(false);
    expect(await look(second)).toMatchObject({ email: "second@client.example" });
    expect(await look(theirs)).toMatchObject({ account_id: stranger.id, email: "theirs@client.example" });
    expect(await spend(second)).toBe(true);
    expect(await begin("third@client.example")).toMatch(/^[0-9a-f]{64}$/);
  });

  test("is begun once by four forms at once", async () => {
    const calls = Array.from({ length: 4 }, () => ({
      ...{ name: "start_email_change", args: { account_id: owner.id, email: "new@client.example" } },
    }));
    const results = await callConcurrently(testBackend, calls);
    expect(results.filter(({ result }) => typeof result === "string")).toHaveLength(1);
    expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual(Array(3).fill(soon.slice(4)));
  });

  test("to an address that has an account has no link, and looks the same otherwise", async () => {
    const free = await begun("free@client.example");
    const { account: withFree } = await readPortalAccount();
    await later("61 seconds");
    for (const taken of [stranger.email, stranger.email.toUpperCase(), clerk.email, owner.email]) {
      expect(await begin(taken)).toBeNull();
      expect(await begin(taken)).toBe(soon);
      expect(await begin("free@client.example")).toBe(soon);
      // What the account's page says of it is what it says of any.
      const { account } = await readPortalAccount();
      expect(account).toEqual({ ...withFree, new_email: taken.toLowerCase() });
      await later("61 seconds");
    }
    expect(await look(free)).toBeNull();
    expect(await spend(free)).toBe(false);
  });

  test("is spent where the account has the address by now, and refused where another one has it", async () => {
    const next = "by-now@client.example";
    const token = await begun(next);
    const taker = await testBackend.newClient(next);
    expect(await spend(token)).toBe("409 This address cannot be used. Choose another one on the page of your account.");
    expect(await look(token)).toMatchObject({ account_id: owner.id, email: next });
    await rename(taker.id, "gave-way@client.example");
    // The change was made, and its answer was lost.
    await rename(owner.id, next);
    try {
      expect(await look(token)).toMatchObject({ account_id: owner.id, email: next, old_email: next });
      expect([await spend(token), await spend(token)]).toEqual([true, false]);
    } finally {
      await rename(owner.id, owner.email);
    }
  });

  test("is forgotten without its mail: the link opens nothing, and another is begun at once", async () => {
    const password = String(
      await callRpc("issue_password_link", { account_id: owner.id, valid_hours: 1 }, testBackend.serviceRole),
    );
    const token = await begun();
    const theirs = await begun("theirs@client.example", stranger.id);
    for (const _twice of [1, 2]) expect(await forget()).toBeNull();
    expect([await look(token), await spend(token)]).toEqual([null, false]);
    expect(await look(theirs)).toMatchObject({ account_id: stranger.id });
    expect(await callRpc("password_link", { token: password }, testBackend.serviceRole)).toMatchObject({
      account_id: owner.id,
    });
    expect(await begin("new@client.example")).toMatch(/^[0-9a-f]{64}$/);
    await query("delete from private.password_links where account_id = $1", [owner.id]);
  });

  test("is to one address of at most 254 characters, of an account that there is", async () => {
    const long = `${"x".repeat(254 - 15)}@client.example`;
    expect(await begin(`x${long}`)).toMatch(/^400 /);
    expect(await begin(null)).toMatch(/^400 /);
    expect(await begin("new@client.example", randomUUID())).toMatch(/^409 /);
    expect(await query("select from private.email_changes")).toEqual([]);
    expect(await begin(long)).toMatch(/^[0-9a-f]{64}$/);
  });

  test("is the site's alone to begin, look at, spend and forget", async () => {
    const token = await begun();
    for (const supabase of [owner.supabase, clerk.supabase, testBackend.anonymous()]) {
      expect(await begin("other@client.example", owner.id, supabase)).toMatch(/^40[13] permission denied/);
      expect(await look(token, supabase)).toMatch(/^40[13] permission denied/);
      expect(await spend(token, supabase)).toMatch(/^40[13] permission denied/);
      expect(await forget(supabase)).toMatch(/^40[13] permission denied/);
    }
    expect(await look(token)).toMatchObject({ email: "new@client.example" });
    const [row] = await query<{ may: boolean }>(
      `select bool_or(has_table_privilege(role, relation, 'select, insert, update, delete, truncate')) as may
       from unnest(array['anon', 'authenticated', 'service_role']) as role,
         unnest(array['private.email_changes', 'private.erasure_requests']) as relation`,
    );
    expect(row?.may).toBe(false);
  });
});

describe("a client who asks to be erased", () => {
  beforeEach(() => query("delete from private.erasure_requests"));
  const ask = (wanted: boolean | null, supabase: AppSupabaseClient = owner.supabase) =>
    callRpc("set_erasure_request", { requested: wanted }, supabase);
  const refuse = (supabase: AppSupabaseClient, more: object = {}) =>
    callRpc(
      "reject_erasure",
      { account_id: owner.id, reason: " Until 2033 the law asks for them ", ...more },
      supabase,
    );
  const asking = () =>
    query<DatabaseRow>("select account_id, requested_at from private.erasure_requests order by requested_at");
  const nobody = "409 This client does not ask to be erased, or somebody has answered.";

  test("asks once, however often, and takes it back", async () => {
    expect(await ask(true)).toBeNull();
    const [first] = await asking();
    expect(first).toMatchObject({ account_id: owner.id });
    expect(await ask(true)).toBeNull();
    const calls = Array.from({ length: 10 }, () => ({
      name: "set_erasure_request",
      args: { requested: true },
      token: owner.accessToken,
    }));
    expect((await callConcurrently(testBackend, calls)).map(({ rejection }) => rejection)).toEqual(
      calls.map(() => undefined),
    );
    expect(await asking()).toEqual([first]);
    await ask(true, stranger.supabase);
    expect((await readPortalAccount()).account).toMatchObject({ erasure_requested_at: expect.any(String) });
    for (const _twice of [1, 2]) expect(await ask(false)).toBeNull();
    expect((await asking()).map(({ account_id }) => account_id)).toEqual([stranger.id]);
    expect((await readPortalAccount()).account).toMatchObject({ erasure_requested_at: null });
  });

  test("asks for themselves, with a session that is good for the account; no colleague does", async () => {
    expect(await ask(true, testBackend.anonymous())).toMatch(/^401 /);
    for (const supabase of [
      clerk.supabase,
      clerk.aal1,
      await newEndedSession(testBackend, owner.email),
      testBackend.serviceRole,
    ]) {
      for (const wanted of [true, false]) expect(await ask(wanted, supabase)).toMatch(/^40[13] /);
    }
    expect(await ask(true, clerk.supabase)).toBe(logInAgainError);
    expect(await asking()).toEqual([]);
    await ask(true);
    await runWithSecondFactor(testBackend, owner.id, async () => {
      for (const wanted of [true, false]) expect(await ask(wanted)).toBe(logInAgainError);
    });
    expect(await asking()).toHaveLength(1);
  });

  test("stands at the desk, among who asked first, until somebody answers", async () => {
    const today = async (supabase: AppSupabaseClient = clerk.supabase) =>
      (await toUntypedClient(supabase).rpc("desk_today", {}, { get: true })).data;
    const opened = async (id: string) =>
      (await toUntypedClient(clerk.supabase).rpc("desk_clients", { opened_id: id }, { get: true })).data.opened;
    expect((await today()).erasure_requests).toEqual({ count: 0, rows: [] });
    expect(await opened(owner.id)).toMatchObject({ erasure_requested_at: null });
    await ask(true, stranger.supabase);
    await ask(true);
    await query("update private.erasure_requests set requested_at = now() - interval '1 day' where account_id = $1", [
      owner.id,
    ]);
    await query("update auth.users set raw_user_meta_data = raw_user_meta_data - 'full_name' where id = $1", [
      stranger.id,
    ]);
    try {
      expect((await today()).erasure_requests).toEqual({
        count: 2,
        rows: [
          { account_id: owner.id, name: `Client ${owner.email}`, requested_at: expect.any(String) },
          { account_id: stranger.id, name: stranger.email, requested_at: expect.any(String) },
        ],
      });
    } finally {
      await query("update auth.users set raw_user_meta_data = raw_user_meta_data || $2::jsonb where id = $1", [
        stranger.id,
        JSON.stringify({ full_name: `Client ${stranger.email}` }),
      ]);
    }
    expect((await opened(owner.id)).erasure_requested_at).toBe((await today()).erasure_requests.rows[0].requested_at);
    for (const supabase of [owner.supabase, clerk.aal1]) expect(Object.keys(await today(supabase))).toEqual(["viewer"]);
    expect(await refuse(clerk.supabase)).toBe(owner.email);
    expect((await today()).erasure_requests).toMatchObject({ count: 1, rows: [{ account_id: stranger.id }] });
    expect(await opened(owner.id)).toMatchObject({ erasure_requested_at: null });
  });

  test("is answered once by a colleague with a reason, which is in the log", async () => {
    await ask(true);
    const before = await listAccountAuditEntries(owner.id);
    for (const reason of ["", "  ", "x".repeat(2001), "Why\u202e", null]) {
      expect(await refuse(clerk.supabase, { reason })).toMatch(/^400 /);
    }
    for (const account of [stranger.id, clerk.id, randomUUID()]) {
      expect(await refuse(clerk.supabase, { account_id: account })).toBe(nobody);
    }
    expect(await listAccountAuditEntries(owner.id)).toEqual(before);
    expect(await asking()).toHaveLength(1);
    const args = { account_id: owner.id, reason: " Until 2033 the law asks for them " };
    const calls = Array.from({ length: 5 }, () => ({ name: "reject_erasure", args, token: clerk.accessToken }));
    const results = await callConcurrently(testBackend, calls);
    expect(results.filter(({ result }) => result === owner.email)).toHaveLength(1);
    expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual(Array(4).fill(nobody.slice(4)));
    const reason = "Until 2033 the law asks for them";
    expect((await listAccountAuditEntries(owner.id)).slice(before.length)).toEqual([
      { action: "account reject-erasure", actor_name: clerk.name, staff_id: clerk.id, reason },
    ]);
    expect(await refuse(clerk.supabase)).toBe(nobody);
    // Asked again, it is answered again, by a command too.
    await ask(true);
    expect(await refuse(testBackend.serviceRole, { actor_name: "Wanjiru" })).toBe(owner.email);
    expect((await listAccountAuditEntries(owner.id)).at(-1)).toEqual({
      ...{ action: "account reject-erasure", actor_name: "Wanjiru", staff_id: null, reason },
    });
  });

  test("is answered by no client and no session without its code", async () => {
    await ask(true);
    const before = await listAccountAuditEntries(owner.id);
    const rejection = "403 Only a colleague of the company can do this.";
    for (const supabase of [owner.supabase, stranger.supabase, clerk.aal1])
      expect(await refuse(supabase)).toBe(rejection);
    expect(await refuse(await newEndedSession(testBackend, owner.email))).toBe(rejection);
    expect(await refuse(testBackend.anonymous())).toMatch(/^401 /);
    expect(await asking()).toHaveLength(1);
    expect(await listAccountAuditEntries(owner.id)).toEqual(before);
  });

  test("and is erased asks no more", async () => {
    const leaving = await testBackend.newClient("erased@client.example");
    expect(await ask(true, leaving.supabase)).toBeNull();
    await callRpc(
      "start_email_change",
      { account_id: leaving.id, email: "erased-too@client.example" },
      testBackend.serviceRole,
    );
    expect(await eraseAccount(testBackend.serviceRole, testBackend.serviceRole, leaving.id, "They asked")).toBeNull();
    expect(await asking()).toEqual([]);
    expect(await query("select from private.email_changes where account_id = $1", [leaving.id])).toEqual([]);
  });
});

describe("what a client is shown of the account", () => {
  let mine: ClientData;
  let theirs: ClientData;
  beforeAll(async () => {
    mine = await createClientData(await testBackend.newClient("achieng@client.example"), "Maize");
    theirs = await createClientData(await testBackend.newClient("barasa@client.example"), "Sorghum");
  });
  const ownData = async (supabase: AppSupabaseClient, after: object = {}) =>
    (await toUntypedClient(supabase).rpc("data_export", after, { get: true })).data;

  test("on its page is what there is, and nothing else", async () => {
    for (const elsewhere of [testBackend.anonymous(), testBackend.anonymous()]) {
      const { error } = await elsewhere.auth.signInWithPassword({
        email: mine.client.email,
        password: "a good password",
      });
      expect(error).toBeNull();
    }
    const { viewer, account } = await readPortalAccount(mine.client.supabase);
    expect(viewer).toEqual({
      ...{
        email: mine.client.email,
        full_name: `Client ${mine.client.email}`,
        has_aal2: false,
        factors: [],
        staff: null,
      },
    });
    const [kept] = await query<{ day: string }>(
      "select max(retention_ends_on)::text as day from public.shipments where user_id = $1",
      [mine.client.id],
    );
    expect(account).toEqual({
      ...{
        created_at: expect.any(String),
        client_id: mine.clientId,
        shipment_emails_enabled: true,
        new_email: mine.newEmail,
      },
      ...{ erasure_requested_at: expect.any(String), retention_ends_on: kept?.day, other_sessions: 2 },
    });
    await query("insert into private.email_opt_outs (account_id) values ($1)", [mine.client.id]);
    await query("update private.email_changes set expires_at = now() - interval '1 second' where account_id = $1", [
      mine.client.id,
    ]);
    const { account: now } = await readPortalAccount(mine.client.supabase);
    expect(now).toMatchObject({ shipment_emails_enabled: false, new_email: null });
    await query("delete from private.email_opt_outs");
    await query("update private.email_changes set expires_at = now() + interval '1 hour' where account_id = $1", [
      mine.client.id,
    ]);
  });

  test("of where else it is logged in is each session that still opens something", async () => {
    const client = await testBackend.newClient("roaming@client.example");
    const elsewhere = async () => (await readPortalAccount(client.supabase)).account?.other_sessions;
    expect(await elsewhere()).toBe(0);
    const [used, lost] = [
      await newClientSession(testBackend, client.email),
      await newClientSession(testBackend, client.email),
    ];
    expect(await elsewhere()).toBe(2);
    const unused = async ({ supabase }: { supabase: AppSupabaseClient }, time: string) => {
      const token = (await supabase.auth.getSession()).data.session?.access_token ?? "";
      const { session_id } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
      await query(
        `update auth.sessions set created_at = now() - interval '1 year', updated_at = now() - $2::interval where id = $1`,
        [session_id, time],
      );
    };
    await unused(used, "29 days");
    await unused(lost, "31 days");
    expect(await elsewhere()).toBe(1);
    await newEndedSession(testBackend, client.email);
    expect(await elsewhere()).toBe(1);
  });

  test("of where else it is logged in is no session that owes the code of a second factor", async () => {
    const careful = await newProtectedClient("careful@client.example");
    const elsewhere = async () => (await readPortalAccount(careful.supabase)).account?.other_sessions;
    await newClientSession(testBackend, careful.email);
    expect(await elsewhere()).toBe(0);
    const other = await newClientSession(testBackend, careful.email);
    await careful.giveCode(other.supabase);
    expect(await elsewhere()).toBe(1);
  });

  test("and all that they can take away is theirs: nothing of anybody else is in it", async () => {
    for (const [one, other] of [
      [mine, theirs],
      [theirs, mine],
    ] as const) {
      const page = JSON.stringify(await readPortalAccount(one.client.supabase));
      const data = JSON.stringify(await ownData(one.client.supabase));
      for (const own of one.marks) expect(data).toContain(own);
      for (const said of [page, data]) {
        for (const foreign of [...other.marks, ...other.hidden, owner.email, owner.id])
          expect(said).not.toContain(foreign);
        for (const colleague of [clerk.id, clerk.email, clerk.name]) expect(said).not.toContain(colleague);
        // What nobody needs to know of it: the hashes of the links, and where the mails wait.
        for (const secret of one.hidden) expect(said).not.toContain(secret);
      }
    }
  });

  test("to take away is the account, its mails, its log, and each shipment with all that belongs to it", async () => {
    const { account, shipments } = await ownData(mine.client.supabase);
    expect(account).toMatchObject({
      ...{ id: mine.client.id, email: mine.client.email, full_name: `Client ${mine.client.email}` },
      ...{ client_id: mine.clientId, client_id_issued_for: null, client_id_sent_to: null, new_email: mine.newEmail },
      ...{ second_factors: [], shipment_emails_enabled: true, erasure_requested_at: expect.any(String) },
      failed_emails: [{ kind: "email change", sent_to: mine.newEmail, failed_at: expect.any(String) }],
      audit_entries: [{ action: "account reopen", reason: "Maize: they called" }].map((one) =>
        expect.objectContaining(one),
      ),
    });
    expect(account.sessions.length).toBeGreaterThan(0);
    const told = account.shipment_emails.map(({ kind, detail, reason }: DatabaseRow) => ({ kind, detail, reason }));
    expect(told).toEqual([
      { kind: "rejected", detail: "Bill of Lading", reason: "Maize is blurred" },
      { kind: "charge", detail: "duties", reason: null },
      { kind: "stage", detail: "2", reason: null },
      { kind: "note", detail: "note", reason: null },
    ]);
    expect(shipments).toHaveLength(1);
    const [shipment] = shipments;
    expect(shipment).toMatchObject({
      ...{
        id: mine.shipment,
        name: "Maize",
        awb: "AWB-Maize",
        stage: 2,
        arrival_place: "naivasha",
        container_size: 40,
      },
      charges: [{ item: "duties", amount: 1234.5, currency: "KES", note: "Duties of Maize", paid_at: null }],
      tracking_events: [
        { stage: 2, status: "Document Verification", location: "Port of Maize", note: null },
        { stage: 2, status: "Note", location: null, note: "Note on Maize" },
      ],
      share_links: [{ created_at: expect.any(String), expires_at: expect.any(String) }],
    });
    expect(shipment.documents.map(({ name, uploaded }: DatabaseRow) => [name, uploaded])).toEqual([
      ["Bill of Lading", false],
      ["Commercial Invoice", false],
      ["Insurance Certificate", false],
      ["Packing List", true],
    ]);
    expect(shipment.documents[0]).toMatchObject({ rejection_reason: "Maize is blurred" });
    expect(shipment.documents[3]).toMatchObject({ file_name: "Maize.pdf", storage_path: mine.path });
    expect(shipment.audit_entries.map(({ action }: DatabaseRow) => action)).toEqual([
      ...["document reject", "charge set", "shipment advance", "shipment note", "shipment set-awb"],
      "shipment arrived",
    ]);
  });

  test("is nothing before the code of a second factor is given, and nobody's once the session has ended", async () => {
    const { client } = mine;
    const someday = { before: new Date().toISOString(), before_id: randomUUID() };
    await runWithSecondFactor(testBackend, client.id, async () => {
      const viewer = { email: client.email, factors: [{ name: "Phone" }] };
      expect(await readPortalAccount(client.supabase)).toMatchObject({ viewer, account: null });
      for (const after of [{}, someday]) {
        expect(await ownData(client.supabase, after)).toMatchObject({ viewer, account: null, shipments: null });
      }
    });
    const left = await newEndedSession(testBackend, client.email);
    expect(await readPortalAccount(left)).toEqual({ viewer: null, account: null });
    for (const after of [{}, someday]) {
      expect(await ownData(left, after)).toEqual({ viewer: null, account: null, shipments: null });
    }
    for (const name of ["portal_account", "data_export"]) {
      expect((await toUntypedClient(testBackend.anonymous()).rpc(name)).error?.code).toBe("42501");
    }
  });

  test("is a colleague's own for a colleague, and no client's", async () => {
    const said = JSON.stringify([await readPortalAccount(clerk.supabase), await ownData(clerk.supabase)]);
    expect(said).toContain(clerk.email);
    for (const foreign of [...mine.marks, ...theirs.marks, ...mine.hidden]) expect(said).not.toContain(foreign);
  });

  test("comes 50 shipments at a time, newest first, each once, though some were opened in the same moment", async () => {
    const many = await testBackend.newClient("many@client.example");
    await query(
      `insert into public.shipments (user_id, name, created_at)
       select $1, 'Crate ' || number, now() - (number / 7) * interval '1 minute' from generate_series(1, 120) as number`,
      [many.id],
    );
    const ids = await query<{ id: string }>(
      "select id from public.shipments where user_id = $1 order by created_at desc, id desc",
      [many.id],
    );
    const seen: string[] = [];
    let after = {};
    for (const length of [50, 50, 20, 0]) {
      const { account, shipments } = await ownData(many.supabase, after);
      expect(account === null).toBe(seen.length > 0);
      expect(shipments).toHaveLength(length);
      seen.push(...shipments.map(({ id }: { id: string }) => id));
      const last = shipments.at(-1);
      if (last) after = { before: last.created_at, before_id: last.id };
      // One that is opened meanwhile is newer than all that follow.
      expect((await many.supabase.from("shipments").insert({ name: "Now", user_id: many.id })).error).toBeNull();
    }
    expect(seen).toEqual(ids.map(({ id }) => id));
  });
});

test("what is past is forgotten: links, addresses and passwords that ended, notices of a month ago, and nothing else", async () => {
  const client = await testBackend.newClient("past@client.example");
  const [other, third] = [
    await testBackend.newClient("past-too@client.example"),
    await testBackend.newClient("live@client.example"),
  ];
  const shipment = await newShipment(client, "Rice");
  for (const table of [
    "private.share_links",
    "private.email_changes",
    "private.password_links",
    "public.email_outbox",
  ]) {
    await query(`delete from ${table}`);
  }
  const share =
    "insert into private.share_links (id, shipment_id, token_hash, expires_at) values ($1, $2, $3, now() + $4::interval)";
  const address =
    "insert into private.email_changes (account_id, token_hash, email, expires_at) values ($1, $2, 'x@y.example', now() + $3::interval)";
  const password =
    "insert into private.password_links (account_id, token_hash, expires_at, redeemed_at) values ($1, $2, now() + $3::interval, $4)";
  const notice =
    "insert into public.email_outbox (account_id, shipment_id, kind, detail, created_at) values ($1, $2, 'note', $3, now() - $4::interval)";
  const minute = "1 minute";
  // One that was ended is known for a month more.
  for (const time of [minute, `-${minute}`, "-30 days -1 minute"])
    await query(share, [randomUUID(), shipment, hashToken(time), time]);
  await query(address, [client.id, hashToken("a"), minute]);
  await query(address, [other.id, hashToken("b"), `-${minute}`]);
  await query(password, [client.id, hashToken("a"), minute, null]);
  await query(password, [third.id, hashToken("b"), minute, new Date().toISOString()]);
  await query(password, [other.id, hashToken("c"), `-${minute}`, null]);
  await query(notice, [client.id, shipment, "kept", "29 days 23 hours"]);
  await query(notice, [client.id, shipment, "gone", "30 days 1 hour"]);
  const others = () =>
    query(
      `select (select count(*) from public.shipments) as shipments, (select count(*) from auth.users) as users,
         (select count(*) from public.audit_log) as acts, (select count(*) from auth.sessions) as sessions,
         (select count(*) from private.erasure_requests) as wishes, (select count(*) from public.tracking_events) as events`,
    );
  const before = await others();
  for (const supabase of [client.supabase, clerk.supabase, testBackend.anonymous()]) {
    expect(await callRpc("delete_expired_links", {}, supabase)).toMatch(/^40[13] permission denied/);
  }
  expect(await callRpc("delete_expired_links", {}, testBackend.serviceRole)).toBe(4);
  const left = await query(
    `select (select array_agg(token_hash order by token_hash) from private.share_links) as shares,
       (select array_agg(account_id) from private.email_changes) as addresses,
       (select array_agg(token_hash order by token_hash) from private.password_links) as passwords,
       (select array_agg(detail) from public.email_outbox) as notices`,
  );
  expect(left).toEqual([
    {
      shares: [hashToken(minute), hashToken(`-${minute}`)].sort(),
      addresses: [client.id],
      passwords: [hashToken("a"), hashToken("b")].sort(),
      notices: ["kept"],
    },
  ]);
  expect(await others()).toEqual(before);
  expect(await callRpc("delete_expired_links", {}, testBackend.serviceRole)).toBe(0);
});

type ClientData = {
  client: TestClient;
  shipment: string;
  path: string;
  clientId: string;
  newEmail: string;
  /** What stands in everything that its client takes away, and in nobody else's. */
  marks: string[];
  /** What is about them and stands in nothing that anybody takes away. */
  hidden: string[];
};

/** A client with something of every kind that is kept about one; `word` is in all of it. */
async function createClientData(client: TestClient, word: string): Promise<ClientData> {
  const act = async (name: string, args: object, supabase: AppSupabaseClient = clerk.supabase) => {
    const said = await callRpc(name, args, supabase);
    expect(String(said), name).not.toMatch(/^[45]\d\d /);
    return said;
  };
  const shipment = await newShipment(client, word);
  const of = { shipment_id: shipment };
  const { path } = await uploadDocument(client, shipment, "Packing List", word);
  const lading = await uploadDocument(client, shipment, "Bill of Lading", `${word}-lading`);
  await act("reject_document", { document_id: lading.id, reason: `${word} is blurred` });
  await act("set_charge", { ...of, item: "duties", amount: 1234.5, currency: "KES", note: `Duties of ${word}` });
  await act("move_shipment", { ...of, despite_missing: true, location: `Port of ${word}` });
  await act("send_note", { ...of, note: `Note on ${word}` });
  await act("save_awb", { ...of, awb: `AWB-${word}` });
  await act("save_arrival", {
    ...of,
    place: "naivasha",
    day: "2026-03-01",
    size: 40,
    free_storage_ends_on: "2026-03-05",
  });
  const [share, token_hash] = [randomUUID(), hashToken(`link to ${word}`)];
  await act("create_share_link", { id: share, ...of, token_hash }, client.supabase);
  const newEmail = `${word.toLowerCase()}@new.example`;
  const token = String(
    await act("start_email_change", { account_id: client.id, email: newEmail }, testBackend.serviceRole),
  );
  await act(
    "record_failed_email",
    { kind: "email change", sent_to: newEmail, account_id: client.id },
    testBackend.serviceRole,
  );
  await act("set_erasure_request", { requested: true }, client.supabase);
  await act("issue_password_link", { account_id: client.id, valid_hours: 1 }, testBackend.serviceRole);
  await query("update auth.users set banned_until = now() + interval '1 day' where id = $1", [client.id]);
  await act("reopen_account", { account_id: client.id, reason: `${word}: they called` });
  const [known] = await query<{ client_id: string }>("select client_id from public.client_ids where account_id = $1", [
    client.id,
  ]);
  const clientId = known?.client_id ?? "";
  const documents = await query<{ id: string }>("select id from public.documents where shipment_id = $1", [shipment]);
  const marks = [client.id, client.email, word, `${word}.pdf`, shipment, path, clientId, newEmail, `AWB-${word}`];
  const hidden = [share, token_hash, token, hashToken(token), `${word}-lading.pdf`];
  return { client, shipment, path, clientId, newEmail, marks: [...marks, ...documents.map(({ id }) => id)], hidden };
}

/** A document that counts a file, as the server leaves it. */
async function uploadDocument(
  client: TestClient,
  shipment: string,
  name: string,
  word: string,
): Promise<{ id: string; path: string }> {
  const slug = name.toLowerCase().replaceAll(" ", "-");
  const path = `${client.id}/${shipment}/${slug}-${randomUUID().slice(-12)}-list.pdf`;
  const object = "insert into storage.objects (bucket_id, name, version) values ('documents', $1, $2)";
  await query(object, [path, randomUUID()]);
  const file = { sha256: hashToken(word), file_name: `${word}.pdf`, file_size: 8, media_type: "application/pdf" };
  const { data, error } = await testBackend.serviceRole
    .from("documents")
    .update({ uploaded: true, storage_path: path, ...file })
    .eq("shipment_id", shipment)
    .eq("name", name)
    .select("id")
    .single();
  if (error) throw error;
  return { id: data.id, path };
}

async function newShipment(client: TestClient, name: string): Promise<string> {
  const made = await query<{ id: string }>(
    "insert into public.shipments (user_id, name) values ($1, $2) returning id",
    [client.id, name],
  );
  return made[0]?.id ?? "";
}

/** A client whose account has a second factor, with a session that has given its code. */
async function newProtectedClient(email: string) {
  const client = await testBackend.newClient(email);
  const { data, error } = await client.supabase.auth.mfa.enroll({ factorType: "totp", friendlyName: "Phone" });
  if (error) throw error;
  const authenticator = new Authenticator(data.totp.secret);
  const giveCode = async (supabase: AppSupabaseClient) => {
    const code = await authenticator.freshCode();
    const given = await supabase.auth.mfa.challengeAndVerify({ factorId: data.id, code });
    if (given.error) throw given.error;
  };
  await giveCode(client.supabase);
  return { ...client, giveCode };
}

async function readPortalAccount(
  supabase: AppSupabaseClient = owner.supabase,
): Promise<{ viewer: DatabaseRow | null; account: DatabaseRow | null }> {
  const { data, error } = await toUntypedClient(supabase).rpc("portal_account", {}, { get: true });
  if (error) throw new Error(error.message);
  return data;
}

/** The log of an account, oldest first. */
function listAccountAuditEntries(account: string): Promise<DatabaseRow[]> {
  return query(
    "select action, actor_name, staff_id, reason from public.audit_log where account_id = $1 order by created_at",
    [account],
  );
}

/** What a function answers, or the status and the words with which it refuses. */
async function callRpc(name: string, args: object, supabase: AppSupabaseClient): Promise<unknown> {
  const { data, error, status } = await toUntypedClient(supabase).rpc(name, args);
  return error ? `${status} ${error.message}` : data;
}

async function query<T = DatabaseRow>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await testBackend.backend.db.query<T>(text, values)).rows;
}
