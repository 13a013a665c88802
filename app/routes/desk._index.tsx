import { randomUUID } from "node:crypto";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { send } from "~/actions/client-id.server";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { dismissFailedEmail, publishAnnouncement, removeAnnouncement } from "~/actions/today.server";
import { FailedEmailRow } from "~/components/desk/failed-email-row";
import { SinceTime, TodayRow } from "~/components/desk/today-row";
import { Field } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { Button, TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { getStaffPage, requireStaff } from "~/lib/auth/staff.server";
import { calendarDate, dayInEastAfrica, eastAfricaTime, showTime } from "~/lib/dates";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { TodayPage } from "~/models/desk.server";
import { handlerLabels } from "~/models/desk-labels";
import { createShipmentSearch, HANDLER_FILTERS, readShipmentFilter } from "~/models/shipment-filter";
import type { Route } from "./+types/desk._index";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

const handlerOptions = HANDLER_FILTERS.map((value) => ({ value, label: handlerLabels[value] }));

export async function loader({ context, url }: Route.LoaderArgs) {
  const isLead = requireStaff(context).staff.role === "lead";
  const eastAfricaDay = dayInEastAfrica(new Date());
  const today = await getStaffPage(context, TodayPage);
  const showTimes = ({ count, rows }: TodayPage["to_check"]) => ({
    count,
    rows: rows.map((row) => ({ ...row, since: showTime(row.since) })),
  });
  return {
    today: {
      ...today,
      to_check: showTimes(today.to_check),
      no_update: showTimes(today.no_update),
      waiting_for_client: showTimes(today.waiting_for_client),
    },
    ...{ isLead, eastAfricaDay, handler: readShipmentFilter(url).handler, idempotencyKey: randomUUID() },
  };
}

export function action({ request, context }: Route.ActionArgs) {
  const actions = {
    announce: publishAnnouncement,
    "remove-announcement": removeAnnouncement,
    send,
    "dismiss-failed-email": dismissFailedEmail,
  };
  return handleIntent(request, context, "/desk", createDeskIntents(actions));
}

export default function DeskTodayPage({ loaderData, actionData }: Route.ComponentProps) {
  const { today, isLead, eastAfricaDay, handler } = loaderData;
  const { to_check, storage, no_update: notUpdated, waiting_for_client: waiting, failed_emails: failedEmails } = today;
  return (
    <>
      <PageHeading title="Today" className="mb-2 text-lg" form={getIntentErrors(actionData)} />
      <nav aria-label="Handled by" className="flex flex-wrap gap-x-4 text-sm print:hidden">
        {[{ value: null, label: "Everyone's" }, ...handlerOptions].map(({ value, label }) => (
          <Link
            key={label}
            to={`/desk${createShipmentSearch({ handler: value })}`}
            aria-current={value === handler ? "page" : undefined}
            className="inline-flex min-h-11 min-w-11 items-center underline aria-[current=page]:font-semibold"
          >
            {label}
          </Link>
        ))}
      </nav>
      <AnnouncementCard announcement={today.announcement} />
      <div className="mt-6 grid items-start gap-6 lg:grid-cols-2 lg:grid-rows-[auto_auto_auto_auto_1fr]">
        <TodayList
          className="lg:row-span-5"
          title="Documents to check"
          count={to_check.count}
          empty="No documents to check."
          allHref={`/desk/shipments${createShipmentSearch({ needsCheck: true, handler })}`}
        >
          {to_check.rows.map((item) => (
            <TodayRow
              key={item.document_id}
              item={item}
              to={`/documents/${item.document_id}`}
              when={<SinceTime label="Uploaded" time={item.since} />}
            />
          ))}
        </TodayList>
        <TodayList
          title="Free storage ending"
          count={storage.count}
          empty="No shipments in this list. Shipments at stages 1 to 8 appear here 3 days before their free storage ends."
        >
          {storage.rows.map(({ free_storage_ends_on: day, storage_location: place, ...item }) => (
            <TodayRow
              key={item.shipment_id}
              item={{ ...item, detail: day < eastAfricaDay ? `${place}: free storage ended` : place }}
              isLate={day < eastAfricaDay}
              to="#storage"
              when={`Last free day: ${calendarDate(day)}`}
            />
          ))}
        </TodayList>
        <TodayList
          title="No update for 7 days"
          count={notUpdated.count}
          empty='Every shipment with the label "With us" was updated in the last 7 days.'
        >
          {notUpdated.rows.map((item) => (
            <TodayRow
              key={item.shipment_id}
              item={item}
              to="#move"
              when={<SinceTime label="Last update" time={item.since} />}
            />
          ))}
        </TodayList>
        <TodayList
          title="Waiting for client over 7 days"
          count={waiting.count}
          empty="No shipment has waited for the client for over 7 days."
          allHref={`/desk/shipments${createShipmentSearch({ waiting: "client", handler })}`}
        >
          {waiting.rows.map((item) => (
            <TodayRow
              key={item.shipment_id}
              item={item}
              to="#note"
              when={<SinceTime label="Started waiting" time={item.since} />}
            />
          ))}
        </TodayList>
        {today.erasure_requests.count > 0 && (
          <TodayList title="Erasure requests" count={today.erasure_requests.count} empty="">
            {today.erasure_requests.rows.map(({ account_id: account, name, requested_at: at }) => (
              <li key={account}>
                <Link
                  to={`/desk/clients/${account}`}
                  className="flex flex-wrap justify-between gap-x-4 px-4 py-3 text-sm no-underline hover:text-action"
                >
                  <span className="font-semibold wrap-anywhere">{name} </span>
                  <span className="text-quiet tabular-nums">Requested {eastAfricaTime(at)}</span>
                </Link>
              </li>
            ))}
          </TodayList>
        )}
        <TodayList title="Emails that failed" count={failedEmails.count} empty="No failed emails.">
          {failedEmails.rows.map((email) => (
            <FailedEmailRow key={email.id} email={email} isLead={isLead} />
          ))}
        </TodayList>
      </div>
    </>
  );
}

function AnnouncementCard({ announcement }: Pick<TodayPage, "announcement">) {
  const { intent, fields, rejected } = useIntentForm("announce", ["text"]);
  return (
    <Card title="Announcement for all clients">
      <div className="px-4 py-1">
        {announcement && (
          <div className="mt-2 flex flex-wrap items-center justify-between gap-3">
            <p>
              <span className="font-semibold">{announcement.text}</span>{" "}
              <span className="text-sm text-quiet">Published {eastAfricaTime(announcement.started_at)}</span>
            </p>
            <IntentForm intent="remove-announcement">
              <Button>Remove announcement</Button>
            </IntentForm>
          </div>
        )}
        <details open={rejected !== undefined}>
          <summary className="inline-flex min-h-11 cursor-pointer items-center text-sm underline">
            {announcement ? "Replace the announcement" : "Publish an announcement"}
          </summary>
          <IntentForm intent={intent} idempotent>
            <Field
              field={fields.text}
              label="Announcement"
              hint="Example: The customs system has been down since 09:10 EAT"
              autoComplete="off"
            />
            <SubmitButton look="plain">Publish announcement</SubmitButton>
          </IntentForm>
        </details>
      </div>
    </Card>
  );
}

type TodayListProps = {
  title: string;
  count: number;
  empty: string;
  allHref?: string;
  className?: string;
  children: ReactNode[];
};

function TodayList({ title, count, empty, allHref, className, children }: TodayListProps) {
  const shown = count >= 100 ? "99+" : String(count);
  return (
    <div className={className}>
      <Card title={title} aside={<span className="font-mono text-sm">{shown}</span>}>
        {count === 0 ? <p className="px-4 py-3 text-sm text-quiet">{empty}</p> : <ul className="ruled">{children}</ul>}
        {count > children.length && (
          <p className="border-t border-line px-4 py-2 text-sm text-quiet">
            This list shows only the first {children.length} entries.{" "}
            {allHref && <TextLink to={allHref}>Show all</TextLink>}
          </p>
        )}
      </Card>
    </div>
  );
}
