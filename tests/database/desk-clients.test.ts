import { beforeAll, describe, expect, test } from "vitest";
import { enrollFactor } from "../support/client-sessions.ts";
import { readPage, setUpDesk, type TestClient } from "../support/database-suite.ts";
import { newStaffMember, newStaffMemberWithoutFactor } from "../support/staff-members.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const { testBackend, owner, clerk, lead, query, callRpc, getClientId, newShipment } = setUpDesk();

describe("desk client list", () => {
  let client: TestClient;
  let clientId: string;
  beforeAll(async () => {
    client = await testBackend.newClient("atieno_o@client.example");
    await testBackend.newClient("atienoxo@client.example");
    clientId = await getClientId(client.id);
  });
  const list = (filter: object) => readPage(clerk.supabase, "desk_clients", filter);
  const find = async (q: string) => (await list({ q })).clients.map(({ email }: TestClient) => email);

  test("The desk finds clients by name, by email or by a whole Client ID, without wildcards.", async () => {
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

  test("The desk's client pages neither list nor open a team member.", async () => {
    expect(await find("company.example")).toEqual([]);
    expect((await list({ opened_id: clerk.id })).opened).toBeNull();
    const emails = (await list({})).clients.map(({ email }: TestClient) => email);
    expect(emails).toContain(client.email);
    expect(emails).not.toContain(clerk.email);
  });

  test("The desk shows an opened client with Client ID, shipments, second factors, retention end and audit entries.", async () => {
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

test("The desk lists only unused Client IDs, newest first, each with its recipient.", async () => {
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

test("The team page marks the viewer, team members with a second factor and removed team members.", async () => {
  const newcomer = await newStaffMemberWithoutFactor(testBackend, "clerk", "newcomer@company.example");
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
