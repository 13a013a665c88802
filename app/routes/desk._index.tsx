import { randomUUID } from "node:crypto";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { send } from "~/actions/client-id.server";
import { createDeskIntents } from "~/actions/desk-intents.server";
import { dismissFailedEmail, publishAnnouncement, removeAnnouncement } from "~/actions/today.server";
import { FailedEmailRow } from "~/components/desk/failed-email-row";
import { Field } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { PageHeading } from "~/components/site/title";
import { Button, TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { getStaffPage, requireStaff } from "~/lib/auth/staff.server";
import { calendarDate, dayInEastAfrica, eastAfricaTime } from "~/lib/dates";
import { handleIntent } from "~/lib/forms/intent-form.server";
import { TodayPage } from "~/models/desk.server";
import { createShipmentSearch } from "~/models/shipment-filter";
import type { Route } from "./+types/desk._index";

export { revalidateAfterConflict as shouldRevalidate } from "~/lib/browser/revalidate";

export async function loader({ context }: Route.LoaderArgs) {
  const isLead = requireStaff(context).staff.role === "lead";
  const eastAfricaDay = dayInEastAfrica(new Date());
  return { today: await getStaffPage(context, TodayPage), isLead, eastAfricaDay, idempotencyKey: randomUUID() };
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
  const { today, isLead, eastAfricaDay } = loaderData;
  const { to_check, storage, no_update: notUpdated, waiting_for_client: waiting, failed_emails: failedEmails } = today;
  return (
    <>
      <PageHeading title="Today" className="mb-4 text-xl" form={getIntentErrors(actionData)} />
      <AnnouncementCard announcement={today.announcement} />
      <div className="mt-6 grid items-start gap-6 lg:grid-cols-2 lg:grid-rows-[auto_auto_auto_auto_1fr]">
        <TodayList
          className="lg:row-span-5"
          title="Documents to check"
          count={to_check.count}
          empty="No documents to check."
          allHref={`/desk/shipments${createShipmentSearch({ needsCheck: true })}`}
        >
          {to_check.rows.map((item) => (
            <TodayRow
              key={item.document_id}
              item={item}
              to={`#document-${item.document_id}`}
              when={`Uploaded ${eastAfricaTime(item.since)}`}
            />
          ))}
        </TodayList>
        <TodayList
          title="Free storage ending"
          count={storage.count}
          empty="No shipments in this list. Shipments at stages 1 to 8 appear here 3 days before their free storage ends."
        >
          {storage.rows.map(({ shipment_id: shipment, name, free_storage_ends_on: day }) => (
            <TodayRow
              key={shipment}
              item={{ shipment_id: shipment, name, detail: day < eastAfricaDay ? "Free storage ended" : "" }}
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
              when={`Last update ${eastAfricaTime(item.since)}`}
            />
          ))}
        </TodayList>
        <TodayList
          title="Waiting for client over 7 days"
          count={waiting.count}
          empty="No shipment has waited for the client for over 7 days."
          allHref={`/desk/shipments${createShipmentSearch({ waiting: "client" })}`}
        >
          {waiting.rows.map((item) => (
            <TodayRow
              key={item.shipment_id}
              item={item}
              to="#note"
              when={`Waiting since ${eastAfricaTime(item.since)}`}
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

type TodayRowProps = {
  item: { shipment_id: string; name: string; detail: string };
  to: string;
  when: string;
  isLate?: boolean;
};

function TodayRow({ item, to, when, isLate = false }: TodayRowProps) {
  return (
    <li>
      <Link to={`/desk/shipments/${item.shipment_id}${to}`} className="block px-4 py-2 no-underline hover:text-action">
        <span className="block font-semibold wrap-anywhere">{item.name} </span>
        <span className="flex flex-wrap justify-between gap-x-4 text-sm text-quiet">
          <span className={isLate ? "font-semibold text-failure" : ""}>{item.detail} </span>
          <span>{when}</span>
        </span>
      </Link>
    </li>
  );
}
