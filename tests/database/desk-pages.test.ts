import { beforeAll, describe, expect, test } from "vitest";
import { enrollFactor } from "../support/client-sessions.ts";
import { readPage, setUpDesk, type TestClient } from "../support/database-suite.ts";
import { newStaffMember, newStaffMemberWithoutFactor } from "../support/staff-members.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const suite = setUpDesk();
const { owner, clerk, lead, query, callRpc, runConcurrently, testBackend, newShipment, uploadDocument } = suite;
const { getClientId } = suite;

describe("Announcements", () => {
  /** Returns the announcement that both the portal and the page Today show, or null. */
  const readCurrent = async () => {
    const { announcement } = await readPage(clerk.supabase, "desk_today");
    expect((await readPage(owner.supabase, "portal_page")).announcement?.text).toBe(announcement?.text);
    return announcement?.text ?? null;
  };
  const listActions = () =>
    query(
      "select action, before, after, actor_name from public.audit_log where action like 'announcement%' order by created_at",
    );

  test("The portal and the page Today show only the latest announcement until it ends. The audit log contains each change.", async () => {
    await callRpc("announce", { text: " Customs system down since 09:10 " });
    expect(await readCurrent()).toBe("Customs system down since 09:10");
    await callRpc("announce", { text: "It is up again" }, lead.supabase);
    expect(await readCurrent()).toBe("It is up again");
    await callRpc("remove_announcement", {});
    await callRpc("remove_announcement", {});
    expect(await readCurrent()).toBeNull();
    const started = { action: "announcement publish", before: null };
    expect(await listActions()).toEqual([
      { ...started, after: { text: "Customs system down since 09:10" }, actor_name: clerk.name },
      { ...started, after: { text: "It is up again" }, actor_name: lead.name },
      { action: "announcement remove", before: { text: "It is up again" }, after: null, actor_name: clerk.name },
    ]);
  });

  test("If two announcements are published in parallel, only one announcement remains.", async () => {
    const results = await runConcurrently([
      ["announce", { text: "One" }, clerk],
      ["announce", { text: "Two" }, lead],
    ]);
    expect(results).toEqual(["done", "done"]);
    expect(await query("select from public.announcements where ended_at is null")).toHaveLength(1);
  });
});

describe("Page Today", () => {
  type ListName = "to_check" | "storage" | "no_update" | "waiting_for_client" | "failed_emails";
  type DeskList = { count: number; rows: { name: string; since: string; detail?: string }[] };
  const client = suite.setUpClient("today@client.example");
  const today = (): Promise<Record<ListName, DeskList>> => readPage(clerk.supabase, "desk_today");
  const namesIn = async (list: ListName) =>
    (await today())[list].rows.map(({ name }) => name).filter((name) => name.startsWith("Today"));
  /**
   * Adds a shipment and sets its columns with the SQL text `columns`, without the trigger that would change these
   * columns.
   */
  async function addShipment(name: string, columns: string): Promise<void> {
    const id = await newShipment(client, name);
    await testBackend.backend.db.exec(`
    alter table public.shipments disable trigger update_shipment_state;
    update public.shipments set ${columns} where id = '${id}';
    alter table public.shipments enable trigger update_shipment_state;
  `);
  }

  test("The page Today lists the files to verify, oldest first.", async () => {
    const shipment = await newShipment(owner);
    const { id: packingList } = await uploadDocument(shipment);
    expect((await today()).to_check.rows).toEqual([
      {
        shipment_id: shipment,
        document_id: packingList,
        name: "Tea",
        client: "Client owner@client.example",
        detail: "Packing List",
        since: expect.any(String),
      },
    ]);
    expect((await today()).to_check.count).toBe(1);
  });

  test("The page Today lists shipments before stage 9 whose free storage ends within three days or has ended.", async () => {
    const arrived = "storage_location = 'mombasa', arrived_on = '2026-01-01', cargo = 'container-20'";
    const day = "(now() at time zone 'Africa/Nairobi')::date";
    await addShipment("Today soon", `${arrived}, free_storage_ends_on = ${day} + 3`);
    await addShipment("Today over", `${arrived}, free_storage_ends_on = ${day} - 10`);
    await addShipment("Today later", `${arrived}, free_storage_ends_on = ${day} + 4`);
    await addShipment("Today loaded", `${arrived}, free_storage_ends_on = ${day}, stage = 9`);
    await addShipment("Today not arrived", "stage = 5");
    expect(await namesIn("storage")).toEqual(["Today over", "Today soon"]);
  });

  test("The page Today lists shipments that have waited seven days for the client, or for the company without a staff action.", async () => {
    const ago = (days: number) => `now() - interval '${days} days'`;
    for (const [name, waitingOn, actionDays, waitingDays] of [
      ["Today standing", "company", 8, 9],
      ["Today standing longer", "company", 20, 21],
      ["Today ours for ten days", "company", 40, 10],
      ["Today ours for six days", "company", 40, 6],
      ["Today moving", "company", 6, 30],
      ["Today waiting", "client", 1, 8],
      ["Today asked", "client", 30, 6],
      ["Today closed", "nobody", 30, 30],
    ] as const) {
      const times = `staff_action_at = ${ago(actionDays)}, waiting_since = ${ago(waitingDays)}`;
      await addShipment(name, `waiting_on = '${waitingOn}', ${waitingOn === "nobody" ? "stage = 10, " : ""}${times}`);
    }
    const { no_update } = await today();
    const days = no_update.rows.map(({ name, since }) => [
      name,
      Math.round((Date.now() - Date.parse(since)) / 86_400_000),
    ]);
    expect(days).toEqual([
      ["Today standing longer", 20],
      ["Today ours for ten days", 10],
      ["Today standing", 8],
    ]);
    expect(no_update.count).toBe(3);
    expect(await namesIn("waiting_for_client")).toEqual(["Today waiting"]);
  });

  test("The page Today shows the eight oldest rows of each list, and the number of rows up to 100.", async () => {
    await query(
      `insert into public.failed_emails (kind, sent_to, failed_at)
       select 'team invite', 'to-' || number || '@client.example', timestamptz '2020-01-01' + make_interval(days => number)
       from generate_series(1, 120) as number`,
    );
    const { failed_emails: failedEmails } = await today();
    expect(failedEmails.count).toBe(100);
    const rows = failedEmails.rows as unknown as { id: string; sent_to: string }[];
    expect(rows.map(({ sent_to }) => sent_to)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `to-${n}@client.example`));
    await toUntypedClient(clerk.supabase).rpc("dismiss_failed_email", { email_id: rows[0]?.id });
    const [next] = (await today()).failed_emails.rows as unknown as { sent_to: string }[];
    expect(next?.sent_to).toBe("to-2@client.example");
  });

  test("The page Today shows for a failed email the Client ID, and whether the recipient is a team member.", async () => {
    const newcomer = await newStaffMemberWithoutFactor(testBackend, "clerk", "newcomer@company.example");
    const issued = await callRpc("issue_client_ids", { sent_to: "invited@client.example" });
    const [{ client_id: clientId } = { client_id: "" }] = issued as { client_id: string }[];
    for (const args of [
      { kind: "team invite", sent_to: newcomer.email, account_id: newcomer.id },
      { kind: "client ID", sent_to: "invited@client.example", client_id: clientId },
    ]) {
      expect((await testBackend.serviceRole.rpc("record_failed_email", args)).error).toBeNull();
    }
    const makeOldest =
      "update public.failed_emails set failed_at = '2019-01-01' where account_id = $1 or client_id = $2";
    await query(makeOldest, [newcomer.id, clientId]);
    const [first, second] = (await today()).failed_emails.rows as unknown as Record<string, unknown>[];
    const rows = [first, second].sort((a, b) => String(a?.kind).localeCompare(String(b?.kind)));
    expect(rows).toEqual([
      expect.objectContaining({ kind: "client ID", client_id: clientId, account_id: null, is_staff: false }),
      expect.objectContaining({ kind: "team invite", client_id: null, account_id: newcomer.id, is_staff: true }),
    ]);
  });
});

describe("Client list of the desk", () => {
  let client: TestClient;
  let clientId: string;
  beforeAll(async () => {
    client = await testBackend.newClient("atieno_o@client.example");
    await testBackend.newClient("atienoxo@client.example");
    clientId = await getClientId(client.id);
  });
  const list = (filter: object) => readPage(clerk.supabase, "desk_clients", filter);
  const find = async (q: string) => (await list({ q })).clients.map(({ email }: TestClient) => email);

  test("The desk finds clients by name, email or complete Client ID. Wildcards are plain text.", async () => {
    expect(await find("Client ATIENO_O")).toEqual([client.email]);
    expect(await find("atieno_o@")).toEqual([client.email]);
    expect(await find("atieno_o  client")).toEqual([client.email]);
    expect(await find("atieno_o nobody")).toEqual([]);
    const otherSpelling = clientId.toLowerCase().replaceAll("-", " ").replaceAll("0", "o").replaceAll("1", "l");
    for (const id of [` ${clientId.toLowerCase()} `, clientId.replaceAll("-", ""), otherSpelling]) {
      expect(await find(id), id).toEqual([client.email]);
    }
    for (const dash of ["\u2013", "\u2011"])
      expect(await find(`\u202a${clientId.replaceAll("-", dash)}\u202c`)).toEqual([client.email]);
    await query(
      `update auth.users set raw_user_meta_data = raw_user_meta_data || '{"full_name": "Wanjirũ Ng’ang’a"}' where id = $1`,
      [client.id],
    );
    for (const name of ["wanjiru nganga", "Ng'ang'a", "NG’ANG’A"]) expect(await find(name)).toEqual([client.email]);
    expect(await find("'")).toEqual([]);
    expect(await find(clientId.slice(0, 12))).toEqual([]);
    expect(await find("%")).toEqual([]);
    expect(await find("atieno")).toEqual(["atienoxo@client.example", client.email]);
  });

  test("The desk finds a client by at least four digits of the telephone number, however the number is typed.", async () => {
    await query("insert into private.client_phones (account_id, phone) values ($1, '+254722123456')", [client.id]);
    const typed = [
      ...["0722 123", "722123456", "+254 722", "(0)722-123-456", "00254722123456", "+254 (0) 722 123456", "254 0722"],
      ...[
        "3456",
        "0722\u2011123\u00a0456",
        "\u202a+254 722 123456\u202c",
        "٠٧٢٢١٢٣",
        "０７２２１２３",
        " 0722/123.456 ",
      ],
    ];
    for (const q of typed) expect(await find(q), q).toEqual([client.email]);
    for (const q of ["0722 124", "456", "0456", "0722 123 x", "+256 722", "Client 0722", "%"])
      expect(await find(q), q).toEqual([]);
    const row = { email: client.email, phone: "+254722123456" };
    expect((await list({ q: client.email })).clients).toEqual([expect.objectContaining(row)]);
    expect((await list({ opened_id: client.id })).opened).toMatchObject({ ...row, phone_version: 1 });
    await query("delete from private.client_phones");
    expect((await list({ opened_id: client.id })).opened).toMatchObject({ phone: null, phone_version: 0 });
  });

  test("The desk's client pages cannot list or open the account of a team member.", async () => {
    expect(await find("company.example")).toEqual([]);
    expect((await list({ opened_id: clerk.id })).opened).toBeNull();
    const emails = (await list({})).clients.map(({ email }: TestClient) => email);
    expect(emails).toContain(client.email);
    expect(emails).not.toContain(clerk.email);
  });

  test("A client's page on the desk has the Client ID, shipments, second factors, end of retention and audit entries.", async () => {
    const id = await newShipment(client, "Tiles");
    await query("update public.shipments set retention_ends_on = '2040-02-29' where id = $1", [id]);
    await enrollFactor(client.supabase);
    const closing = { account_id: client.id, reason: "They asked", actor_name: "Otieno" };
    await testBackend.serviceRole.rpc("close_account", closing);
    expect((await list({ opened_id: client.id })).opened).toMatchObject({
      ...{ id: client.id, email: client.email, name: "Wanjirũ Ng’ang’a", client_id: clientId, factor_count: 1 },
      ...{ retention_ends_on: "2040-02-29", closed: true, confirmed: true },
      shipments: [{ id, name: "Tiles" }],
      audit_entries: [{ action: "account close", actor_name: "Otieno", reason: "They asked" }],
    });
    expect((await list({ q: client.email })).clients).toEqual([expect.objectContaining({ closed: true })]);
  });
});

test("The desk lists unused Client IDs, newest first, each with its recipient.", async () => {
  const issue = async (more: object, at: string) => {
    const { data } = await toUntypedClient(testBackend.serviceRole).rpc("issue_client_ids", more);
    const id: string = data?.[0].client_id;
    await query("update public.client_ids set created_at = $2 where client_id = $1", [id, at]);
    return id;
  };
  const issued = await callRpc("issue_client_ids", { sent_to: "invited@client.example" });
  const [{ client_id: invited } = { client_id: "" }] = issued as { client_id: string }[];
  const oldest = await issue({ issued_for: " Tea Ltd ", sent_to: "A@B.ke" }, "2020-01-01");
  const newest = await issue({}, "2040-01-01");
  const data = await readPage(clerk.supabase, "desk_invitations");
  const ids = data.invitations.map(({ client_id }: { client_id: string }) => client_id);
  expect([ids[0], ids.at(-1), ids.includes(invited)]).toEqual([newest, oldest, true]);
  expect(data.invitations.at(-1)).toMatchObject({ client_id: oldest, issued_for: "Tea Ltd", sent_to: "a@b.ke" });
  expect(JSON.stringify(data)).not.toContain(await getClientId(owner.id));
});

test("The page Team marks the viewer, team members with a second factor, and removed team members.", async () => {
  const newcomer = await newStaffMemberWithoutFactor(testBackend, "clerk", "unprotected@company.example");
  const removed = await newStaffMember(testBackend, "clerk", "removed@company.example");
  await callRpc("remove_staff_member", { account_id: removed.id, reason: "Retired" }, lead.supabase);
  const { staff_members } = await readPage(lead.supabase, "desk_team");
  const membersByEmail = Object.fromEntries(staff_members.map((member: { email: string }) => [member.email, member]));
  const leadRow = { role: "lead", is_viewer: true, has_factor: true, removed_at: null };
  const newcomerRow = { role: "clerk", is_viewer: false, has_factor: false, removed_at: null };
  expect(membersByEmail[lead.email]).toMatchObject(leadRow);
  expect(membersByEmail[newcomer.email]).toMatchObject(newcomerRow);
  expect(membersByEmail["removed@company.example"].removed_at).not.toBeNull();
  expect(staff_members.at(-1).email).toBe("removed@company.example");
  expect(membersByEmail[owner.email]).toBeUndefined();
});
