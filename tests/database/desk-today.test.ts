import { expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { readPage, setUpDesk } from "../support/database-suite.ts";
import { newStaffMemberWithoutFactor } from "../support/staff-members.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const suite = setUpDesk();
const { testBackend, owner, clerk, query, callRpc, newShipment, readShipment, uploadDocument } = suite;

type ListName = "to_check" | "storage" | "no_update" | "waiting_for_client" | "failed_emails";
type DeskList = { count: number; rows: { name: string; since: string; detail?: string }[] };
const client = suite.setUpClient("today@client.example");
const today = (): Promise<Record<ListName, DeskList>> => readPage(clerk.supabase, "desk_today");
const namesIn = async (list: ListName) =>
  (await today())[list].rows.map(({ name }) => name).filter((name) => name.startsWith("Today"));
/** Adds a shipment with these column values, which no trigger changes. */
async function addShipment(name: string, columns: string): Promise<void> {
  const id = await newShipment(client, name);
  await testBackend.backend.db.exec(`
    alter table public.shipments disable trigger update_shipment_state;
    update public.shipments set ${columns} where id = '${id}';
    alter table public.shipments enable trigger update_shipment_state;
  `);
}

test("The page Today lists the documents to check, oldest first.", async () => {
  const shipment = await newShipment(owner);
  const { id: packingList } = await uploadDocument(shipment);
  expect((await today()).to_check.rows).toEqual([
    { shipment_id: shipment, document_id: packingList, name: "Tea", detail: "Packing List", since: expect.any(String) },
  ]);
  expect((await today()).to_check.count).toBe(1);
});

test("The page Today lists shipments before stage 9 whose free storage ends within three days or has ended.", async () => {
  const arrived = "storage_location = 'mombasa', arrived_on = '2026-01-01', container_size = 20";
  const day = "(now() at time zone 'Africa/Nairobi')::date";
  await addShipment("Today soon", `${arrived}, free_storage_ends_on = ${day} + 3`);
  await addShipment("Today over", `${arrived}, free_storage_ends_on = ${day} - 10`);
  await addShipment("Today later", `${arrived}, free_storage_ends_on = ${day} + 4`);
  await addShipment("Today loaded", `${arrived}, free_storage_ends_on = ${day}, stage = 9`);
  await addShipment("Today not arrived", "stage = 5");
  expect(await namesIn("storage")).toEqual(["Today over", "Today soon"]);
});

test("The page Today lists shipments that wait seven days for the company without a staff action, or for the client.", async () => {
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

test("The page Today does not list a shipment without update on the day on which the company has to act.", async () => {
  const id = await newShipment(client, "Today complete");
  await query("update public.shipments set staff_action_at = now() - interval '30 days' where id = $1", [id]);
  for (const name of DEFAULT_DOCUMENTS) await uploadDocument(id, name);
  expect(await readShipment(id)).toMatchObject({ waiting_on: "company" });
  expect(await namesIn("no_update")).not.toContain("Today complete");
});

test("The page Today shows the eight oldest rows of a list and counts up to 100.", async () => {
  await query(
    `insert into public.failed_emails (kind, sent_to, failed_at)
       select 'team invite', 'to-' || number || '@client.example', timestamptz '2020-01-01' + make_interval(days => number)
       from generate_series(1, 120) as number`,
  );
  const { failed_emails: failedEmails } = await today();
  expect(failedEmails.count).toBe(100);
  const rows = failedEmails.rows as unknown as { id: string; sent_to: string }[];
  expect(rows.map(({ sent_to }) => sent_to)).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => `to-${n}@client.example`));
  await toUntypedClient(clerk.supabase).rpc("resolve_failed_email", { email_id: rows[0]?.id });
  const [next] = (await today()).failed_emails.rows as unknown as { sent_to: string }[];
  expect(next?.sent_to).toBe("to-2@client.example");
});

test("The page Today shows a failed email's Client ID and whether its recipient is a team member.", async () => {
  const newcomer = await newStaffMemberWithoutFactor(testBackend, "clerk", "newcomer@company.example");
  const issued = await callRpc("issue_client_ids", { sent_to: "invited@client.example" });
  const [{ client_id: clientId } = { client_id: "" }] = issued as { client_id: string }[];
  for (const args of [
    { kind: "team invite", sent_to: newcomer.email, account_id: newcomer.id },
    { kind: "client ID", sent_to: "invited@client.example", client_id: clientId },
  ]) {
    expect((await testBackend.serviceRole.rpc("record_failed_email", args)).error).toBeNull();
  }
  const makeOldest = "update public.failed_emails set failed_at = '2019-01-01' where account_id = $1 or client_id = $2";
  await query(makeOldest, [newcomer.id, clientId]);
  const [first, second] = (await today()).failed_emails.rows as unknown as Record<string, unknown>[];
  const rows = [first, second].sort((a, b) => String(a?.kind).localeCompare(String(b?.kind)));
  expect(rows).toEqual([
    expect.objectContaining({ kind: "client ID", client_id: clientId, account_id: null, is_staff: false }),
    expect.objectContaining({ kind: "team invite", client_id: null, account_id: newcomer.id, is_staff: true }),
  ]);
});
