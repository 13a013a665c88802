import { Form } from "react-router";
import { AUDIT_LABELS, labelAuditEntry } from "~/actions/all-staff-actions.server";
import { AuditEntryList, createSearchField, Pager } from "~/components/desk/audit-entry-list";
import { Field, SelectField } from "~/components/forms/field";
import { PageHeading } from "~/components/site/title";
import { Button } from "~/components/ui/button";
import { getStaffPage } from "~/lib/auth/staff.server";
import { AuditLogPage, readAuditLogFilter } from "~/models/audit-log.server";
import type { Route } from "./+types/desk.log";

const pageSize = 50;

export async function loader({ context, url }: Route.LoaderArgs) {
  const { audit_entries } = await getStaffPage(context, AuditLogPage);
  const actionOptions = Object.entries(AUDIT_LABELS).sort(([, first], [, second]) => first.localeCompare(second));
  return {
    entries: audit_entries.slice(0, pageSize).map(labelAuditEntry),
    hasMore: audit_entries.length > pageSize,
    filter: readAuditLogFilter(url),
    actionOptions,
  };
}

export { noFormAction as action } from "~/lib/http/file-route.server";

export default function ActivityLogPage({ loaderData }: Route.ComponentProps) {
  const { entries, hasMore, actionOptions } = loaderData;
  const { page, ...filter } = loaderData.filter;
  const search = new URLSearchParams(Object.entries(filter).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const to = (number: number) => `/desk/log?${new URLSearchParams([...search, ["page", String(number)]])}`;
  const field = (name: keyof typeof filter) => createSearchField(name, filter[name] ?? "");
  return (
    <>
      <PageHeading title="Activity log" className="mb-4 text-xl" />
      <Form
        key={String(search)}
        role="search"
        className="grid items-end gap-x-4 sm:grid-cols-2 lg:grid-cols-[1fr_1fr_2fr_1fr_auto]"
      >
        <Field field={field("who")} label="Done by" optional autoComplete="off" />
        <SelectField field={field("what")} label="Action" options={actionOptions} prompt="All actions" />
        <Field
          field={field("shipment")}
          label="Shipment"
          hint="Shipment number, or its first characters"
          optional
          autoComplete="off"
          spellCheck={false}
        />
        <Field field={field("day")} label="Day" type="date" optional />
        {filter.account && <input type="hidden" name="account" value={filter.account} />}
        <Button className="mb-5">Find</Button>
      </Form>
      <div className="rounded-label border border-line bg-raised">
        <AuditEntryList entries={entries} links isFiltered={page > 1 || String(search) !== ""} />
      </div>
      <Pager page={page} hasMore={hasMore} to={to} />
      <p className="mt-4">
        <a href={`/desk/log.csv?${search}`} className="inline-flex min-h-11 items-center underline">
          Download as CSV
        </a>
      </p>
    </>
  );
}
