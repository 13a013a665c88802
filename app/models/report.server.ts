/** The report of the desk: how long shipments stay at each stage, and how many were opened, closed and late. */
import { z } from "zod";
import { dayInEastAfrica, monthName } from "../lib/dates.ts";
import type { CsvColumn } from "../lib/http/csv.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import { parseResult } from "../lib/supabase/result.server.ts";
import { lastStage, STAGES } from "./shipment.ts";

const WaitingTime = z.object({ median: z.number(), p90: z.number() });
const StageRow = z.object({
  stage: z.number(),
  visits: z.number(),
  total: WaitingTime,
  client: WaitingTime,
  company: WaitingTime,
});
const MonthRow = z.object({ month: z.string(), opened: z.number(), closed: z.number(), late: z.number() });
export type MonthRow = z.infer<typeof MonthRow>;

export const Report = z.object({ stages: z.array(StageRow), months: z.array(MonthRow) });
export type Report = z.infer<typeof Report>;
export const ReportPage = z.object({ report: Report });

const maxMonths = 36;
const monthPattern = /^20\d\d-(0[1-9]|1[0-2])$/;
const toMonthNumber = (month: string) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1;
const fromMonthNumber = (number: number) => `${Math.floor(number / 12)}-${String((number % 12) + 1).padStart(2, "0")}`;

const monthError = "Enter a month such as 2026-05.";

/** `from` and `to` are the typed months. Without errors, both are YYYY-MM. */
export type ReportPeriod = { from: string; to: string; errors: Record<string, string[]> };

/** Returns the period of the report. The default is the last 12 months in East Africa Time. */
export function readReportPeriod(typed: { from?: string | null; to?: string | null }, now = new Date()): ReportPeriod {
  const to = typed.to?.trim() || dayInEastAfrica(now).slice(0, 7);
  const isToValid = monthPattern.test(to);
  const from = typed.from?.trim() || (isToValid ? fromMonthNumber(toMonthNumber(to) - 11) : "");
  const errors: ReportPeriod["errors"] = {};
  if (from !== "" && !monthPattern.test(from)) errors.from = [monthError];
  if (!isToValid) errors.to = [monthError];
  const months = toMonthNumber(to) - toMonthNumber(from) + 1;
  if (!errors.from && !errors.to && months < 1) errors.to = ["Enter a last month that is not before the first month."];
  if (!errors.from && !errors.to && months > maxMonths)
    errors.from = [
      `Enter a period of at most ${maxMonths} months. The first month can be ${fromMonthNumber(toMonthNumber(to) - maxMonths + 1)}.`,
    ];
  return { from: from.slice(0, 20), to: to.slice(0, 20), errors };
}

export const hasErrors = ({ errors }: ReportPeriod) => Object.keys(errors).length > 0;

export function toReportArgs({ from, to }: ReportPeriod) {
  return { first_month: `${from}-01`, last_month: `${to}-01` };
}

export async function readReport(serviceRole: AppSupabaseClient, period: ReportPeriod): Promise<Report> {
  const report = parseResult(Report, await serviceRole.rpc("read_report", toReportArgs(period)));
  if ("reason" in report) throw new Error(report.reason);
  return report;
}

export const formatPeriod = ({ from, to }: Pick<ReportPeriod, "from" | "to">) =>
  from === to ? monthName(from) : `${monthName(from)} to ${monthName(to)}`;

type StageTime = { median: string; p90: string };
export type StageReportRow = { stage: string; visits: number; total: StageTime; client: StageTime; company: StageTime };

const formatDays = (hours: number | undefined) => (hours === undefined ? "" : (hours / 24).toFixed(1));
const formatTime = (time?: z.infer<typeof WaitingTime>): StageTime => ({
  median: formatDays(time?.median),
  p90: formatDays(time?.p90),
});

/** Returns a row for each stage except the last stage, at which a shipment is closed. Times are in days. */
export function listStageRows({ stages }: Report): StageReportRow[] {
  return STAGES.slice(0, lastStage - 1).map((name, index) => {
    const found = stages.find(({ stage }) => stage === index + 1);
    return {
      stage: `${index + 1} ${name}`,
      visits: found?.visits ?? 0,
      total: formatTime(found?.total),
      client: formatTime(found?.client),
      company: formatTime(found?.company),
    };
  });
}

export function sumMonths(months: MonthRow[]): Omit<MonthRow, "month"> {
  const sum = (column: "opened" | "closed" | "late") => months.reduce((total, row) => total + row[column], 0);
  return { opened: sum("opened"), closed: sum("closed"), late: sum("late") };
}

export const stageColumns: CsvColumn<StageReportRow>[] = [
  ["Stage", ({ stage }) => stage],
  ["Visits that ended", ({ visits }) => visits],
  ["Median (days)", ({ total }) => toNumber(total.median)],
  ["90th percentile (days)", ({ total }) => toNumber(total.p90)],
  ["Waiting for client: median (days)", ({ client }) => toNumber(client.median)],
  ["Waiting for client: 90th percentile (days)", ({ client }) => toNumber(client.p90)],
  ["With us: median (days)", ({ company }) => toNumber(company.median)],
  ["With us: 90th percentile (days)", ({ company }) => toNumber(company.p90)],
];

const toNumber = (days: string) => (days === "" ? "" : Number(days));

export const monthColumns: CsvColumn<MonthRow>[] = [
  ["Month", ({ month }) => monthName(month)],
  ["Shipments opened", ({ opened }) => opened],
  ["Shipments closed", ({ closed }) => closed],
  ["Shipments that became late", ({ late }) => late],
];
