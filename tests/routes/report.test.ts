import { expect, test } from "vitest";
import { getHref, readCsv } from "../support/page-parts.ts";
import { getField, newStaffMember } from "../support/route-fixtures.ts";
import { getTestApp, getText } from "../support/test-app.ts";

const app = await getTestApp();
const { browser } = await newStaffMember(app, "clerk", "Report Reader");
await app.sql`
  insert into private.stage_visits (stage, started_at, ended_at, client_seconds, company_seconds, is_first, late_at)
  select 4, timestamptz '2021-01-05', timestamptz '2021-02-11', 86400 * n, 43200, n = 1, case when n > 8 then timestamptz '2021-02-03' end
  from generate_series(1, 10) as n
  union all select 10, '2021-02-11', null, 0, 0, false, null`;

const stageHead = [
  ...["Stage", "Visits that ended", "Median (days)", "90th percentile (days)"],
  ...["Waiting for client: median (days)", "Waiting for client: 90th percentile (days)"],
  ...["With us: median (days)", "With us: 90th percentile (days)"],
];

test("The report shows the days at each stage and the shipments of each month, and both tables are CSV files in words.", async () => {
  const page = await browser.open("/desk/report?from=2021-01&to=2021-02");
  expect([page.status, page.h1, page.form("Show report").fields]).toEqual([
    200,
    "Report",
    { from: "2021-01", to: "2021-02" },
  ]);
  const rows = page.all("tbody tr").map(getText);
  expect(rows).toContain(
    "4 Customs Declaration 10 visits Days in total median 5.5 90% 9.5 Waiting for client median 5.0 90% 9.0 With us median 0.5 90% 0.5",
  );
  expect(rows.slice(-3)).toEqual(["January 2021 1 0 0", "February 2021 0 1 2", "Total 1 1 2"]);
  const stages = await browser.get(getHref(page, "Download days at each stage as CSV") ?? "");
  expect(stages.headers.get("Content-Disposition")).toBe("attachment; filename=stages.csv");
  const [head, ...cells] = await readCsv(stages);
  expect([head, cells.length]).toEqual([stageHead, 9]);
  expect(cells.slice(3, 5)).toEqual([
    ["4 Customs Declaration", "10", "5.5", "9.5", "5", "9", "0.5", "0.5"],
    ["5 Payment Clearance", "0", "", "", "", "", "", ""],
  ]);
  expect(await readCsv(await browser.get(getHref(page, "Download shipments by month as CSV") ?? ""))).toEqual([
    ["Month", "Shipments opened", "Shipments closed", "Shipments that became late"],
    ['="January 2021"', "1", "0", "0"],
    ['="February 2021"', "0", "1", "2"],
  ]);
});

test("Without months, the report shows the last 12 months. A period without visits says that no shipment left a stage.", async () => {
  const page = await browser.open("/desk/report");
  const thisMonth = new Date(Date.now() + 3 * 3_600_000).toISOString().slice(0, 7);
  expect(page.form("Show report").fields.to).toBe(thisMonth);
  expect(page.all("section[aria-labelledby=months] tbody tr")).toHaveLength(13);
  const empty = await browser.open("/desk/report?from=2020-01&to=2020-01");
  expect(empty.text).toContain("No shipment left a stage in this period.");
});

test.each([
  ["from=2021-13&to=2021-02", "from", "Enter a month such as 2026-05."],
  ["from=2021-01-01&to=2021-02", "from", "Enter a month such as 2026-05."],
  ["from=2021-01&to=soon", "to", "Enter a month such as 2026-05."],
  ["from=2021-03&to=2021-02", "to", "Enter a last month that is not before the first month."],
  ["from=2018-01&to=2021-02", "from", "Enter a period of at most 36 months. The first month can be 2018-03."],
])(
  "The report for %s shows an error next to the field, and its CSV is rejected with the same words.",
  async (search, field, error) => {
    const page = await browser.open(`/desk/report?${search}`);
    expect([page.status, page.all("table").length]).toEqual([400, 0]);
    expect(getField(page, `period-${field}`).descriptions).toContain(error);
    const csv = await browser.get(`/desk/report.csv?${search}`);
    expect([csv.status, await csv.text()]).toEqual([400, expect.stringContaining(error)]);
  },
);
