import { describe, expect, test } from "vitest";
import { DEFAULT_DOCUMENTS } from "../../app/models/document.ts";
import { readPage, setUpDesk } from "../support/database-suite.ts";

const { testBackend, owner, clerk, lead, query, callRpc, newShipment, uploadDocument } = setUpDesk();

/** Moves all visits of a shipment into the past, as if `days` days had passed. */
const passDays = (shipment: string, days: number) =>
  query(
    `update private.stage_visits set started_at = started_at - past, ended_at = ended_at - past,
       counted_until = counted_until - past, late_at = late_at - past
     from (select make_interval(secs => $2::float8 * 86400) as past) as passed where shipment_id = $1`,
    [shipment, days],
  );

/** Returns each visit of a shipment as "stage: days for the client + days for the company", with "open" or "late". */
async function listVisits(shipment: string): Promise<string[]> {
  const rows = await query<{ text: string }>(
    `select concat_ws(' ', stage || ':', round(client_seconds / 86400.0), '+', round(company_seconds / 86400.0),
       case when ended_at is null then 'open' end, case when late_at is not null then 'late' end) as text
     from private.stage_visits where shipment_id = $1 order by id`,
    [shipment],
  );
  return rows.map(({ text }) => text);
}

const move = (shipment: string) => callRpc("move_shipment", { shipment_id: shipment, despite_missing: true });
const correct = (shipment: string, stage: number) =>
  callRpc("correct_stage", {
    shipment_id: shipment,
    stage,
    reason: "A slip",
    despite_missing: true,
    despite_due: true,
  });

type StageRow = { stage: number; visits: number } & Record<"total" | "client" | "company", object>;
type MonthRow = { month: string; opened: number; closed: number; late: number };
async function readReport(first: string, last: string): Promise<{ stages: StageRow[]; months: MonthRow[] }> {
  const period = { first_month: `${first}-01`, last_month: `${last}-01` };
  return (await readPage(clerk.supabase, "desk_report", period)).report;
}

/** Returns the sums of the months that contain today or one of the last 60 days. */
async function countRecent() {
  const [now, before] = [0, 60].map((days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 7));
  const { months } = await readReport(before ?? "", now ?? "");
  const sum = (column: "opened" | "closed" | "late") => months.reduce((total, row) => total + row[column], 0);
  return { opened: sum("opened"), closed: sum("closed"), late: sum("late") };
}

describe("Visits of a shipment at its stages", () => {
  test("A visit records how long the shipment waited for the client and for the company, and ends when the stage changes.", async () => {
    const shipment = await newShipment(owner);
    await passDays(shipment, 2);
    for (const name of DEFAULT_DOCUMENTS) await uploadDocument(shipment, name);
    await passDays(shipment, 3);
    await move(shipment);
    await passDays(shipment, 1);
    await callRpc("set_charge", { shipment_id: shipment, item: "duties", amount: 9, currency: "KES" });
    await passDays(shipment, 4);
    await correct(shipment, 6);
    expect(await listVisits(shipment)).toEqual(["1: 2 + 3", "2: 4 + 1", "6: 0 + 0 open"]);
  });

  test("A move or correction that is undone within 24 hours leaves no visit. After 24 hours, both stays are visits.", async () => {
    const shipment = await newShipment(owner);
    await passDays(shipment, 2);
    await move(shipment);
    await passDays(shipment, 0.9);
    await correct(shipment, 1);
    expect(await listVisits(shipment)).toEqual(["1: 3 + 0 open"]);
    await move(shipment);
    await passDays(shipment, 1.1);
    await correct(shipment, 1);
    expect(await listVisits(shipment)).toEqual(["1: 3 + 0", "2: 1 + 0", "1: 0 + 0 open"]);
  });

  test("A shipment becomes late once, after it has waited for the company for more than 7 days at one stage.", async () => {
    const { late } = await countRecent();
    const shipment = await newShipment(owner);
    await passDays(shipment, 20);
    for (const name of DEFAULT_DOCUMENTS) await uploadDocument(shipment, name);
    await passDays(shipment, 6);
    await move(shipment);
    await passDays(shipment, 6.9);
    expect((await countRecent()).late).toBe(late);
    await passDays(shipment, 0.2);
    expect((await countRecent()).late).toBe(late + 1);
    for (const visits of [
      ["1: 20 + 6", "2: 0 + 7 late", "3: 0 + 0 open"],
      ["1: 20 + 6", "2: 0 + 7 late", "3: 0 + 9", "4: 0 + 0 open"],
    ]) {
      await move(shipment);
      expect([await listVisits(shipment), (await countRecent()).late]).toEqual([visits, late + 1]);
      await passDays(shipment, 9);
    }
  });

  test("A shipment counts as opened and closed until it is reopened or withdrawn. After its deletion, the figures remain without its ID.", async () => {
    const before = await countRecent();
    const shipment = await newShipment(owner);
    await correct(shipment, 10);
    const closed = { ...before, opened: before.opened + 1, closed: before.closed + 1 };
    expect(await countRecent()).toEqual(closed);
    await passDays(shipment, 2);
    await correct(shipment, 9);
    expect(await countRecent()).toEqual({ ...closed, closed: before.closed });
    await correct(shipment, 10);
    await query("delete from public.shipments where id = $1", [shipment]);
    expect([await countRecent(), await listVisits(shipment)]).toEqual([closed, []]);

    const withdrawn = await newShipment(owner);
    await callRpc("withdraw_shipment", { shipment_id: withdrawn, reason: "Created twice" });
    expect([await countRecent(), await listVisits(withdrawn)]).toEqual([closed, []]);
  });
});

describe("Report of the desk", () => {
  const insertVisit = (
    stage: number,
    ended_at: string | null,
    client_hours: number,
    company_hours: number,
    columns = "",
  ) =>
    query(
      `insert into private.stage_visits (stage, started_at, ended_at, client_seconds, company_seconds, is_first)
       values ($1, '2025-03-01', $2, $3 * 3600, $4 * 3600, ${columns || "false"})`,
      [stage, ended_at, client_hours, company_hours],
    );

  test("The report has the median and the 90th percentile of each stage, by the month in East Africa Time in which visits ended.", async () => {
    for (let day = 1; day <= 10; day += 1) await insertVisit(4, "2025-03-15T09:00:00Z", day, day * 23);
    await insertVisit(5, "2025-03-31T20:59:59Z", 30, 0);
    await insertVisit(5, "2025-03-31T21:00:00Z", 0, 50);
    await insertVisit(6, null, 1, 1);
    await insertVisit(10, null, 0, 0, "true");
    const fifth = { total: { median: 30, p90: 30 }, client: { median: 30, p90: 30 }, company: { median: 0, p90: 0 } };
    const { stages, months } = await readReport("2025-02", "2025-03");
    expect(stages).toEqual([
      {
        ...{ stage: 4, visits: 10, total: { median: 120, p90: 216 } },
        ...{ client: { median: 5, p90: 9 }, company: { median: 115, p90: 207 } },
      },
      { stage: 5, visits: 1, ...fifth },
    ]);
    expect(months).toEqual([
      { month: "2025-02", opened: 0, closed: 0, late: 0 },
      { month: "2025-03", opened: 1, closed: 1, late: 0 },
    ]);
    const april = await readReport("2025-04", "2025-04");
    expect(april.stages).toMatchObject([{ stage: 5, visits: 1, company: { median: 50 } }]);
    expect((await readReport("2025-03", "2025-04")).stages[1]).toMatchObject({
      visits: 2,
      total: { median: 30, p90: 50 },
    });
  });

  test("Clerks, leads and staff commands read the same report. Sessions without the second factor read only the viewer.", async () => {
    const period = { first_month: "2025-03-01", last_month: "2025-04-01" };
    const report = await readReport("2025-03", "2025-04");
    expect((await readPage(lead.supabase, "desk_report", period)).report).toEqual(report);
    expect(await readPage(testBackend.serviceRole, "read_report", period)).toEqual(report);
    for (const { supabase } of [{ supabase: clerk.aal1 }, owner])
      expect(Object.keys(await readPage(supabase, "desk_report", period))).toEqual(["viewer"]);
  });
});
