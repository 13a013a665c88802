import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import {
  callRpcOrGetRejection,
  fileColumns,
  hashToken,
  readPage,
  setUpDesk,
  sha256,
} from "../support/database-suite.ts";

const { testBackend, owner, clerk, query, callRpc, storeFile, getDocumentId, listAuditEntries, runWithRejectedWrites } =
  setUpDesk();

/** Creates a shipment as the client, through row-level security. */
async function createShipment(): Promise<string> {
  const row = { name: "Goods of Jane Doe", awb: "AWB1", user_id: owner.id };
  const { data, error } = await owner.supabase.from("shipments").insert(row).select("id").single();
  if (error) throw error;
  return data.id;
}

async function recordUpload(shipment: string, account_id = owner.id): Promise<unknown> {
  const document_id = await getDocumentId(shipment, "Packing List");
  const file = { ...fileColumns, storage_path: await storeFile(shipment, "Packing List") };
  return callRpc("record_upload", { document_id, account_id, ...file }, testBackend.serviceRole);
}

const listLog = async (filter: object) => (await readPage(clerk.supabase, "desk_log", filter)).audit_entries;

test("The log of a shipment has all actions of the client on the shipment, without names, and shows the client's current name.", async () => {
  const shipment = await createShipment();
  const change = { shipment_id: shipment, name: "Goods of J. Doe", awb: "AWB2", container_numbers: ["MSKU9070323"] };
  await callRpc("change_shipment", { ...change, expected_version: 0 }, owner.supabase);
  await callRpc("change_shipment", { ...change, name: "Goods", expected_version: 1 }, owner.supabase);
  await callRpc("change_shipment", { ...change, name: "Goods", expected_version: 2 }, owner.supabase);
  expect(await recordUpload(shipment)).toBe(true);
  expect([await recordUpload(shipment), await recordUpload(shipment, randomUUID())]).toEqual([false, false]);
  const document_id = await getDocumentId(shipment, "Packing List");
  const [document] = await query<{ version: number }>("select version from documents where id = $1", [document_id]);
  await callRpc("remove_file", { document_id, expected_version: document?.version }, owner.supabase);
  const share = { id: randomUUID(), shipment_id: shipment, token_hash: hashToken("link") };
  for (let time = 0; time < 2; time += 1) await callRpc("create_share_link", share, owner.supabase);
  for (let time = 0; time < 2; time += 1) await callRpc("revoke_share_link", { id: share.id }, owner.supabase);
  const entries = await listAuditEntries(shipment);
  expect(entries.map(({ action, before, after }) => [action, before, after])).toEqual([
    ["client create", null, null],
    [
      "client change",
      { awb: "AWB1", container_numbers: [] },
      { awb: "AWB2", container_numbers: ["MSKU9070323"], name_changed: true },
    ],
    ["client change", null, { name_changed: true }],
    ["client upload", null, { sha256 }],
    ["client remove", { sha256 }, null],
    ["client share", null, null],
    ["client end-share", null, null],
  ]);
  const stored = JSON.stringify(entries);
  for (const personal of ["Doe", owner.email, owner.id]) expect(stored).not.toContain(personal);
  expect(entries.every(({ actor_name, staff_id }) => actor_name === "Client" && staff_id === null)).toBe(true);

  const shown = await listLog({ shipment_prefix: shipment });
  expect(new Set(shown.map((entry: { actor_name: string }) => entry.actor_name))).toEqual(
    new Set([`Client ${owner.email} (client)`]),
  );
  await query("delete from public.shipments where id = $1", [shipment]);
  expect((await listLog({ shipment_prefix: shipment }))[0]).toMatchObject({ actor_name: "Client" });
});

test("No client changes a shipment while the audit log cannot be written. Team members' and the server's inserts are no client actions.", async () => {
  const shipment = await createShipment();
  await runWithRejectedWrites("public.audit_log", "the log is full", async () => {
    const change = { shipment_id: shipment, name: "Other", awb: "AWB1", container_numbers: [], expected_version: 0 };
    for (const [name, args] of [
      ["change_shipment", change],
      ["create_share_link", { id: randomUUID(), shipment_id: shipment, token_hash: hashToken("other") }],
    ] as const)
      expect(await callRpcOrGetRejection(name, args, owner.supabase)).toContain("the log is full");
    await expect(recordUpload(shipment)).rejects.toThrow("the log is full");
    await expect(createShipment()).rejects.toMatchObject({ message: expect.stringContaining("the log is full") });
  });
  const [row] = await query("select name from public.shipments where id = $1", [shipment]);
  expect([row, await query("select from private.share_links where shipment_id = $1", [shipment])]).toEqual([
    { name: "Goods of Jane Doe" },
    [],
  ]);
  const opened = await testBackend.serviceRole
    .from("shipments")
    .insert({ name: "Opened by us", user_id: owner.id })
    .select("id")
    .single();
  expect(await listAuditEntries(opened.data?.id ?? "")).toEqual([]);
});

test("The log shows to whom a Client ID was sent while the Client ID exists, and stores only a hash of the Client ID.", async () => {
  const issued = await callRpc("issue_client_ids", { issued_for: "Tea Ltd", sent_to: "tea@client.example" });
  const [{ client_id } = { client_id: "" }] = issued as { client_id: string }[];
  await callRpc("send_client_id", { client_id });
  const ofClientId = (all: { after: { client_id_hash?: string } | null }[]) =>
    all.filter(({ after }) => after?.client_id_hash === hashToken(client_id));
  const listShown = async () => ofClientId(await listLog({}));
  const recipient = { account_name: "tea@client.example", account_id: null };
  expect(await listShown()).toMatchObject([
    { action: "client-id send", ...recipient },
    { action: "client-id issue", ...recipient },
  ]);
  const stored = await query("select * from public.audit_log where action like 'client-id %'");
  expect(JSON.stringify(stored)).not.toMatch(/tea@client|Tea Ltd/);
  expect(JSON.stringify(stored)).not.toContain(client_id);
  await query("delete from public.client_ids where client_id = $1", [client_id]);
  expect(await listShown()).toMatchObject([{ account_name: null }, { account_name: null }]);
});

test("The activity log can hide opened documents, also in the list for its CSV file.", async () => {
  const shipment = await createShipment();
  await recordUpload(shipment);
  const document_id = await getDocumentId(shipment, "Packing List");
  await callRpc("open_document", { document_id, shipment_id: shipment });
  for (const page of [1, 0]) {
    const list = async (filter: object) =>
      (await listLog({ shipment_prefix: shipment, page, ...filter })).map(({ action }: { action: string }) => action);
    expect(await list({})).toEqual(["document open", "client upload", "client create"]);
    expect(await list({ hide_opened: true })).toEqual(["client upload", "client create"]);
  }
});
