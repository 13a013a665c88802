import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { readPage, setUpDesk } from "../support/database-suite.ts";

const { testBackend, owner, clerk, query, callRpc, newShipment } = setUpDesk();

describe("activity log", () => {
  const shipment = randomUUID();
  const account = randomUUID();
  beforeAll(async () => {
    const rows: [string, string, string | null, string][] = [
      ["Njeri", "shipment note", shipment, "2025-03-01T20:59:59Z"],
      ["Njeri", "shipment correct", shipment, "2025-03-01T21:00:00Z"],
      ["Ouma", "shipment note", null, "2025-03-02T09:00:00Z"],
      ["Njeri", "account reopen", null, "2025-03-02T20:59:59.999Z"],
      ["Njeri Wambui", "shipment note", null, "2025-03-02T21:00:00Z"],
      ["100%_Ali", "shipment note", null, "2025-03-09T21:00:00Z"],
    ];
    const insert = "insert into public.audit_log (actor_name, action, shipment_id, created_at) values ($1, $2, $3, $4)";
    for (const row of rows) await query(insert, row);
    await query(
      "insert into public.audit_log (actor_name, action, account_id, created_at) values ('Chebet', 'account close', $1, '2025-03-10')",
      [account],
    );
    await query(
      `insert into public.audit_log (actor_name, action, created_at)
       select 'Many', 'action ' || number, timestamptz '2024-01-01' + make_interval(hours => number)
       from generate_series(1, 120) as number`,
    );
  });
  type LogEntry = { id: string; created_at: string; actor_name: string; action: string };
  const listEntries = async (filter: object): Promise<LogEntry[]> =>
    (await readPage(clerk.supabase, "desk_log", filter)).audit_entries;
  const listLines = async (filter: object) =>
    (await listEntries(filter)).map(({ actor_name, action }) => `${actor_name}: ${action}`);
  const numbers = (first: number, last: number) =>
    Array.from({ length: first - last + 1 }, (_, index) => `Many: action ${first - index}`);

  test("The activity log is filtered by part of a name, by action and by shipment.", async () => {
    const own = ["Njeri: account reopen", "Njeri: shipment correct", "Njeri: shipment note"];
    const all = ["Njeri Wambui: shipment note", ...own];
    for (const who of ["Njeri", "njer", " JERI ", "\u202aN’je\u0301ri\u202c"])
      expect(await listLines({ actor_name: who }), who).toEqual(all);
    expect(await listLines({ actor_name: "wamb" })).toEqual(["Njeri Wambui: shipment note"]);
    expect(await listLines({ actor_name: "Njeri", action: "shipment correct" })).toEqual(["Njeri: shipment correct"]);
    expect(await listLines({ shipment_prefix: shipment })).toEqual(["Njeri: shipment correct", "Njeri: shipment note"]);
    const corrections = await listLines({ shipment_prefix: shipment, action: "shipment correct" });
    expect(corrections).toEqual(["Njeri: shipment correct"]);
    expect(await listLines({ shipment_prefix: shipment, actor_name: "Wambui" })).toEqual([]);
  });

  test("A name filter of the activity log does not use % and _ as wildcards.", async () => {
    for (const who of ["%", "_", "0%_a"])
      expect(await listLines({ actor_name: who }), who).toEqual(["100%_Ali: shipment note"]);
    for (const who of ["\\", "Nje%i", "N_eri", "Nobody", "'"])
      expect(await listLines({ actor_name: who }), who).toEqual([]);
  });

  test("The activity log is filtered by the first four or more characters of a shipment's ID.", async () => {
    const both = ["Njeri: shipment correct", "Njeri: shipment note"];
    for (const length of [8, 9, 20, 36]) {
      const lines = await listLines({ shipment_prefix: shipment.slice(0, length), actor_name: "Njeri" });
      expect(lines, String(length)).toEqual(both);
    }
    expect(await listLines({ shipment_prefix: ` ${shipment.slice(0, 13).toUpperCase()} ` })).toEqual(both);
    for (const prefix of [shipment.slice(0, 3), shipment.slice(1, 12), `${shipment}0`, "%", "zebra", ""]) {
      expect(await listLines({ shipment_prefix: prefix }), prefix).toEqual([]);
    }
  });

  test("The activity log is filtered by account, and names the account and the shipment as long as they exist.", async () => {
    expect(await listLines({ account_id: account })).toEqual(["Chebet: account close"]);
    expect(await listLines({ account_id: account, actor_name: "Njeri" })).toEqual([]);
    expect(await listLines({ account_id: randomUUID() })).toEqual([]);
    const unnamed = { account_id: account, account_name: null, shipment_name: null };
    expect(await listEntries({ account_id: account })).toMatchObject([unnamed]);
    const tea = await newShipment(owner);
    await callRpc("send_note", { shipment_id: tea, note: "It arrived" });
    const client = await testBackend.newClient("logged@client.example");
    await testBackend.serviceRole.rpc("close_account", { account_id: client.id, reason: "They asked" });
    const closing = { action: "account close", account_name: `Client ${client.email}` };
    expect(await listEntries({ account_id: client.id })).toMatchObject([closing]);
    expect(await listEntries({ shipment_prefix: tea })).toMatchObject([{ shipment_id: tea, shipment_name: "Tea" }]);
    expect((await listEntries({ shipment_prefix: shipment }))[0]).toMatchObject({ shipment_name: null });
  });

  test("The activity log filters days in East Africa Time.", async () => {
    expect(await listLines({ day: "2025-03-01" })).toEqual(["Njeri: shipment note"]);
    expect(await listLines({ day: "2025-03-02" })).toEqual([
      "Njeri: account reopen",
      "Ouma: shipment note",
      "Njeri: shipment correct",
    ]);
    expect(await listLines({ day: "2025-03-03" })).toEqual(["Njeri Wambui: shipment note"]);
    expect(await listLines({ day: "2025-03-02", actor_name: "Ouma" })).toEqual(["Ouma: shipment note"]);
    expect(await listLines({ day: "2025-03-04" })).toEqual([]);
  });

  test("The activity log has the newest entries first, in pages of 50, and its export continues after any entry.", async () => {
    expect(await listLines({ actor_name: "Many" })).toEqual(numbers(120, 70));
    expect(await listLines({ actor_name: "Many", page: 2 })).toEqual(numbers(70, 20));
    expect(await listLines({ actor_name: "Many", page: 3 })).toEqual(numbers(20, 1));
    const [, second] = await listEntries({ actor_name: "Many" });
    const rest = { actor_name: "Many", page: 0, before: second?.created_at, before_id: second?.id };
    expect(await listLines(rest)).toEqual(numbers(118, 1));
  });
});
