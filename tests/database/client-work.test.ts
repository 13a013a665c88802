import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { runWithSecondFactor } from "../support/client-sessions.ts";
import { type DatabaseRow, setUpDesk, type TestClient } from "../support/database-suite.ts";
import { type AppSupabaseClient, toUntypedClient } from "../support/test-backend.ts";

const { testBackend, clerk, query } = setUpDesk();

let waiter: TestClient;
beforeEach(async () => {
  waiter = await testBackend.newClient(`${randomUUID()}@client.example`);
});

type ShipmentState = {
  since: string;
  stage: number;
  rejected: string;
  documents: number;
  due: string;
  items: string[];
};
/** Adds a shipment that has waited since `since`. Documents were rejected on `rejected`. Charges are due on `due`. */
async function add(name: string, state: Partial<ShipmentState> = {}, { id: user } = waiter): Promise<void> {
  const { since = "2026-05-01", stage = 1, rejected, documents = 1, due, items = ["duties"] } = state;
  const id = randomUUID();
  await query(
    "insert into public.shipments (id, user_id, name, created_at, waiting_since) values ($1, $2, $3, $4, $4)",
    [id, user, name, since],
  );
  if (rejected)
    await query(
      `update public.documents set rejected_at = $2::timestamptz + number * interval '1 minute', rejection_reason = 'Torn'
         from (select id, row_number() over (order by id) as number from public.documents where shipment_id = $1) as numbered
         where numbered.id = documents.id and number <= $3`,
      [id, rejected, documents],
    );
  if (due)
    await query(
      `insert into public.charges (shipment_id, item, amount, currency, due_on)
         select $1, item, 5, 'KES', nullif($2, 'no day')::date from unnest(string_to_array($3, ' ')) as item`,
      [id, due, items.join(" ")],
    );
  if (stage !== 1) await query("update public.shipments set stage = $2 where id = $1", [id, stage]);
}

/** `names` are the shipments that wait for the client, in the portal's order. `counts` are numbers of shipments. */
async function readWork(supabase: AppSupabaseClient = waiter.supabase) {
  const { data, error } = await toUntypedClient(supabase).rpc("portal_page", {});
  if (error) throw new Error(error.message);
  const { waiting, ...counts } = data.work as { waiting: DatabaseRow[] } & DatabaseRow;
  return { names: waiting.map(({ name }) => name), waiting, counts };
}

test("The portal lists waiting shipments with rejected documents first, then due charges, then the longest waiting.", async () => {
  await add("Waits", { since: "2026-04-03" });
  await add("Due later", { since: "2026-01-02", due: "2026-07-01" });
  await add("Rejected later", { rejected: "2026-06-02" });
  await add("Waits longest", { since: "2026-04-02" });
  await add("Due first", { due: "2026-06-30" });
  await add("Rejected first", { rejected: "2026-06-01" });
  expect((await readWork()).names).toEqual([
    ...["Rejected first", "Rejected later", "Due first", "Due later", "Waits longest", "Waits"],
  ]);
});

test("The portal lists each waiting shipment once, at its most urgent place, with all its documents and charges.", async () => {
  await add("Only due", { due: "2026-01-01" });
  await add("Rejected and due", { since: "2026-01-01", rejected: "2026-06-01", documents: 3, due: "2026-06-30" });
  const { names, waiting, counts } = await readWork();
  expect(names).toEqual(["Rejected and due", "Only due"]);
  expect(counts).toEqual({ client: 2, company: 0, nobody: 0 });
  const [{ documents, charges } = {}] = waiting as { documents?: DatabaseRow[]; charges?: DatabaseRow[] }[];
  expect(documents?.map(({ rejected_at }) => rejected_at !== null).sort()).toEqual([false, true, true, true]);
  expect(charges).toEqual([{ item: "duties", due_on: "2026-06-30", paid_at: null }]);
});

test("The portal lists at most six waiting shipments and counts the rest.", async () => {
  for (const day of [8, 7, 6, 5, 4, 3, 2]) {
    const due = `2026-07-0${day}`;
    await add(`Rejected ${day}`, { rejected: `2026-06-0${day}`, documents: 4, due });
    await add(`Due ${day}`, { due, items: ["idf-fee", "duties", "agent-fee"] });
    await add(`Waits ${day}`, { since: `2026-04-0${day}` });
  }
  const { names, counts } = await readWork();
  expect(names).toEqual([2, 3, 4, 5, 6, 7].map((day) => `Rejected ${day}`));
  expect(counts).toEqual({ client: 21, company: 0, nobody: 0 });
  await query("delete from public.shipments where user_id = $1 and name ~ 'Rejected'", [waiter.id]);
  expect((await readWork()).names).toEqual([2, 3, 4, 5, 6, 7].map((day) => `Due ${day}`));
  await query("delete from public.shipments where user_id = $1 and name ~ 'Due'", [waiter.id]);
  expect((await readWork()).names).toEqual([2, 3, 4, 5, 6, 7].map((day) => `Waits ${day}`));
});

test("A paid charge or a charge without a due date makes no shipment urgent.", async () => {
  await add("Paid", { since: "2026-05-04", due: "2026-01-01" });
  await query(
    "update public.charges set paid_at = now() where shipment_id = (select id from public.shipments where name = 'Paid')",
  );
  await add("Without a day", { since: "2026-05-03", due: "no day" });
  await add("Waits", { since: "2026-05-02" });
  const { names, waiting } = await readWork();
  expect(names).toEqual(["Waits", "Without a day", "Paid"]);
  expect(waiting.at(-1)?.charges).toEqual([]);
});

test("The portal's list of waiting shipments leaves out closed shipments, and shipments that wait for the company.", async () => {
  await add("Waits", { since: "2026-01-01" });
  await add("Due", { due: "2026-07-01" });
  await add("Rejected", { rejected: "2026-06-01" });
  const closed = { stage: 10, rejected: "2025-01-01", documents: 4, due: "2025-01-01" };
  // The page examines at most 100 documents and charges. Closed shipments must not count.
  for (let count = 0; count < 34; count += 1)
    await add("Closed", { ...closed, items: ["idf-fee", "duties", "agent-fee"] });
  await add("With the company");
  await query(
    "delete from public.documents where shipment_id in (select id from public.shipments where name = 'With the company')",
  );
  await query("update public.shipments set staff_action_at = now() where name = 'With the company'");
  const { names, counts } = await readWork();
  expect(names).toEqual(["Rejected", "Due", "Waits"]);
  expect(counts).toEqual({ client: 3, company: 1, nobody: 34 });
});

test("The list of waiting shipments is empty for other clients, team members and sessions without the code, and missing on a shipment's page.", async () => {
  const urgent = { since: "2026-01-01", rejected: "2026-01-02", due: "2026-01-03" };
  await add("Own", { since: "2026-06-01" });
  const foreignClient = await testBackend.newClient(`${randomUUID()}@client.example`);
  await add("Foreign", urgent, foreignClient);
  expect(await readWork()).toMatchObject({ names: ["Own"], counts: { client: 1, company: 0, nobody: 0 } });
  expect((await readWork(foreignClient.supabase)).names).toEqual(["Foreign"]);
  const nothing = { names: [], waiting: [], counts: { client: 0, company: 0, nobody: 0 } };
  expect(await readWork(clerk.supabase)).toEqual(nothing);
  const [{ id } = {}] = await query("select id from public.shipments where user_id = $1", [waiter.id]);
  expect((await toUntypedClient(waiter.supabase).rpc("portal_page", { opened_id: id })).data.work).toBeNull();
  await runWithSecondFactor(testBackend, waiter.id, async () => expect(await readWork()).toEqual(nothing));
});
