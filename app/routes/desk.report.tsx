import { Fragment } from "react";
import { data, Form } from "react-router";
import { Field } from "~/components/forms/field";
import { useActionForm } from "~/components/forms/form";
import { PageHeading } from "~/components/site/title";
import { Button } from "~/components/ui/button";
import { getStaffPage, requireStaff } from "~/lib/auth/staff.server";
import { monthName } from "~/lib/dates";
import {
  formatPeriod,
  hasErrors,
  listStageRows,
  type MonthRow,
  ReportPage,
  readReportPeriod,
  type StageReportRow,
  sumMonths,
} from "~/models/report.server";
import type { Route } from "./+types/desk.report";

export async function loader({ context, url }: Route.LoaderArgs) {
  const { searchParams } = url;
  const period = readReportPeriod({ from: searchParams.get("from"), to: searchParams.get("to") });
  if (hasErrors(period)) {
    requireStaff(context);
    return data({ period, report: null }, { status: 400 });
  }
  const { report } = await getStaffPage(context, ReportPage);
  const months = report.months.map(({ month, ...counts }) => ({ month: monthName(month), ...counts }));
  const shown = { title: formatPeriod(period), stages: listStageRows(report), months, sum: sumMonths(report.months) };
  return data({ period, report: shown });
}

export { noFormAction as action } from "~/lib/http/file-route.server";

export default function DeskReportPage({ loaderData }: Route.ComponentProps) {
  const { period, report } = loaderData;
  const rejected = report ? undefined : { result: null, fieldErrors: period.errors };
  const [form, fields] = useActionForm("period", rejected, ["from", "to"], period);
  const csv = (table: string) => `/desk/report.csv?from=${period.from}&to=${period.to}&table=${table}`;
  return (
    <>
      <PageHeading title="Report" className="mb-4 text-xl" form={rejected && form} />
      <Form
        key={`${period.from} ${period.to}`}
        role="search"
        noValidate
        className="items-end gap-x-4 sm:flex sm:flex-wrap print:hidden"
      >
        <Field field={fields.from} label="First month" hint="Such as 2026-01" type="month" optional />
        <Field field={fields.to} label="Last month" hint="Such as 2026-12" type="month" optional />
        <Button className="mb-5 justify-self-start">Show report</Button>
      </Form>
      {report && (
        <>
          <StageTable title={report.title} rows={report.stages} />
          <CsvLink href={csv("stages")}>Download days at each stage as CSV</CsvLink>
          <MonthTable months={report.months} sum={report.sum} />
          <CsvLink href={csv("months")}>Download shipments by month as CSV</CsvLink>
        </>
      )}
    </>
  );
}

const parts = [
  ["total", "Days in total"],
  ["client", "Waiting for client"],
  ["company", "With us"],
] as const;

const numberCell = "px-3 py-2 text-right max-md:py-1";
const frame = "rounded-label border border-line bg-raised";

function StageTable({ title, rows }: { title: string; rows: StageReportRow[] }) {
  const visits = rows.reduce((sum, row) => sum + row.visits, 0);
  return (
    <section aria-labelledby="stages">
      <h2 id="stages" className="text-base font-semibold">
        Days at each stage, {title}
      </h2>
      <p className="mt-1 mb-3 max-w-prose text-sm text-quiet">
        A visit is one stay of a shipment at one stage. A visit counts in the month in which the visit ended. A day has
        24 hours, and weekends and holidays count. Half of the visits took no longer than the median, and 90% took no
        longer than the 90th percentile. The days with the client and with us are parts of the same visits, but their
        medians need not add up.
      </p>
      {visits === 0 ? (
        <p className={`${frame} px-4 py-3 text-sm text-quiet`}>No shipment left a stage in this period.</p>
      ) : (
        <div className={`${frame} overflow-x-auto`}>
          <table className="w-full text-sm tabular-nums max-md:block">
            <thead className="text-left max-md:hidden">
              <tr>
                <th scope="col" rowSpan={2} className="px-3 py-2 align-bottom">
                  Stage
                </th>
                <th scope="col" rowSpan={2} className={`${numberCell} align-bottom`}>
                  Visits
                </th>
                {parts.map(([key, name]) => (
                  <th key={key} scope="colgroup" colSpan={2} className="border-l border-line px-3 pt-2 text-center">
                    {name}
                  </th>
                ))}
              </tr>
              <tr>
                {parts.map(([key]) => (
                  <Fragment key={key}>
                    <th scope="col" className={`${numberCell} border-l border-line font-normal`}>
                      Median
                    </th>
                    <th scope="col" className={`${numberCell} font-normal`}>
                      90th percentile
                    </th>
                  </Fragment>
                ))}
              </tr>
            </thead>
            <tbody className="max-md:block">
              {rows.map((row) => (
                <StageRow key={row.stage} {...row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** On a phone, a row is a grid with one line for each part of the days. */
function StageRow({ stage, visits, ...days }: StageReportRow) {
  return (
    <tr className="border-t border-line max-md:grid max-md:grid-cols-[1fr_auto_auto] max-md:py-2">
      <th scope="row" className="px-3 py-2 text-left font-normal max-md:col-span-2 max-md:py-1 max-md:font-semibold">
        {stage}
      </th>
      <td className={numberCell}>
        {visits.toLocaleString("en-KE")}
        <span className="md:hidden"> {visits === 1 ? "visit" : "visits"}</span>
      </td>
      {parts.map(([key, name]) => (
        <Fragment key={key}>
          <td className="px-3 py-1 text-quiet md:hidden">{name}</td>
          <td className={`${numberCell} md:border-l md:border-line`}>
            <span className="text-quiet md:hidden">median </span>
            {days[key].median || "–"}
          </td>
          <td className={numberCell}>
            <span className="text-quiet md:hidden">90% </span>
            {days[key].p90 || "–"}
          </td>
        </Fragment>
      ))}
    </tr>
  );
}

function MonthTable({ months, sum }: { months: MonthRow[]; sum: Omit<MonthRow, "month"> }) {
  const rows = [...months, { month: "Total", ...sum }];
  return (
    <section aria-labelledby="months" className="mt-6">
      <h2 id="months" className="text-base font-semibold">
        Shipments by month
      </h2>
      <p className="mt-1 mb-3 max-w-prose text-sm text-quiet">
        A closed shipment counts in the month in which we closed it. A shipment that we reopened counts as open. A
        shipment becomes late when it has waited for us for more than 7 days at one stage. Each shipment counts as late
        at most once, even if the shipment moves on later. Withdrawn shipments do not count.
      </p>
      <div className={`${frame} max-w-xl overflow-x-auto`}>
        <table className="w-full text-sm tabular-nums">
          <thead>
            <tr>
              {["Month", "Opened", "Closed", "Late"].map((name, index) => (
                <th key={name} scope="col" className={index === 0 ? "px-3 py-2 text-left" : numberCell}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ month, opened, closed, late }) => (
              <tr key={month} className="border-t border-line last:font-semibold">
                <th scope="row" className={`px-3 py-2 text-left ${month === "Total" ? "" : "font-normal"}`}>
                  {month}
                </th>
                {[opened, closed, late].map((count, index) => (
                  <td key={`${month} ${index}`} className={numberCell}>
                    {count.toLocaleString("en-KE")}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function CsvLink({ href, children }: { href: string; children: string }) {
  return (
    <p className="mt-2 print:hidden">
      <a href={href} className="inline-flex min-h-11 items-center underline">
        {children}
      </a>
    </p>
  );
}
