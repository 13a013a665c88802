import { randomUUID } from "node:crypto";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { z } from "zod";
import { ActForm, ActProblems, type RefusedAct, requestOf, useAct } from "~/components/act-form";
import { Undelivered } from "~/components/desk/undelivered";
import { Field } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Title } from "~/components/title";
import { Button } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { answerForm, formOf, toastOf, toastOfMail } from "~/lib/act-form.server";
import { keepTyped } from "~/lib/connection";
import { theLetterhead } from "~/lib/content.server";
import { calendarDate, dayInEastAfrica, eastAfricaTime } from "~/lib/dates";
import { deskPage, requireColleague } from "~/lib/desk.server";
import { companyBackend } from "~/lib/supabase.server";
import { UnusedId } from "~/models/client-id";
import { sendClientId } from "~/models/client-id.server";
import { searchOf } from "~/models/desk";
import { TodayPage } from "~/models/desk.server";
import { announce, dismissUndelivered, endAnnouncement } from "~/models/desk-act.server";
import { oneLine } from "~/models/text";
import type { Route } from "./+types/desk._index";

export { afterConflict as shouldRevalidate } from "~/lib/revalidate";

const Announce = z.object({
  text: oneLine("Write the notice.").min(1, "Write the notice.").max(200, "Use at most 200 characters."),
});

export async function loader({ context }: Route.LoaderArgs) {
  const isLead = requireColleague(context).colleague.role === "lead";
  const eastAfricaDay = dayInEastAfrica(new Date());
  return { today: await deskPage(context, TodayPage), isLead, eastAfricaDay, request: randomUUID() };
}

export function action({ request, context }: Route.ActionArgs) {
  return answerForm(request, context, "/desk", {
    announce: formOf(Announce, async ({ backend }, { text }, sent) =>
      toastOf(await announce(backend, text, sent), () => "All clients read it now"),
    ),
    "end-notice": formOf(z.object({}), async ({ backend }) =>
      toastOf(await endAnnouncement(backend), () => "Nothing is said to all clients any more"),
    ),
    send: formOf(z.object({ clientId: UnusedId }), async ({ backend }, { clientId }, { request }) => {
      const told = await sendClientId(backend, companyBackend(), theLetterhead(), clientId, { request });
      return toastOfMail(told, `${clientId} is on its way`);
    }),
    "dealt-with": formOf(z.object({ mail: z.uuid() }), async ({ backend }, { mail }) =>
      toastOf(await dismissUndelivered(backend, mail), () => "Taken off the list"),
    ),
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function TodayPage_({ loaderData, actionData }: Route.ComponentProps) {
  const { today, isLead, eastAfricaDay } = loaderData;
  const request = requestOf(actionData, loaderData.request);
  const { to_check, storage, standing, waiting, undelivered } = today;
  return (
    <>
      <Title refused={actionData !== undefined}>Today</Title>
      <ActProblems answer={actionData} />
      <h1 className="mb-4 text-xl">Today</h1>
      <Notice said={today.announcement} answer={actionData} request={request} />
      <div className="mt-6 grid items-start gap-6 lg:grid-cols-2 lg:grid-rows-[auto_auto_auto_auto_1fr]">
        <List
          className="lg:row-span-5"
          title="Documents to check"
          count={to_check.count}
          empty="Every document is checked."
          all={`/desk/shipments${searchOf({ check: true })}`}
        >
          {to_check.rows.map((line) => (
            <Row
              key={line.document}
              line={line}
              to={`#document-${line.document}`}
              when={`since ${eastAfricaTime(line.at)}`}
            />
          ))}
        </List>
        <List title="Free storage" count={storage.count} empty="No container nears the end of its free days.">
          {storage.rows.map(({ shipment, name, day }) => (
            <Row
              key={shipment}
              line={{ shipment, name, what: day < eastAfricaDay ? "Over" : "" }}
              isLate={day < eastAfricaDay}
              to="#storage"
              when={`free until ${calendarDate(day)}`}
            />
          ))}
        </List>
        <List title="Standing still" count={standing.count} empty="We did something on every shipment within 7 days.">
          {standing.rows.map((line) => (
            <Row key={line.shipment} line={line} to="#move" when={`since ${eastAfricaTime(line.at)}`} />
          ))}
        </List>
        <List
          title="Your move at the client's"
          count={waiting.count}
          empty="No client has kept us waiting for 7 days."
          all={`/desk/shipments${searchOf({ turn: "client" })}`}
        >
          {waiting.rows.map((line) => (
            <Row key={line.shipment} line={line} to="#note" when={`since ${eastAfricaTime(line.at)}`} />
          ))}
        </List>
        {today.erasures.count > 0 && (
          <List title="Asked to be erased" count={today.erasures.count} empty="">
            {today.erasures.rows.map(({ account, name, at }) => (
              <li key={account}>
                <Link
                  to={`/desk/clients/${account}`}
                  className="flex flex-wrap justify-between gap-x-4 px-4 py-3 text-sm no-underline hover:text-action"
                >
                  <span className="font-semibold wrap-anywhere">{name} </span>
                  <span className="text-quiet tabular-nums">since {eastAfricaTime(at)}</span>
                </Link>
              </li>
            ))}
          </List>
        )}
        <List title="Not delivered" count={undelivered.count} empty="Every mail has left.">
          {undelivered.rows.map((mail) => (
            <Undelivered key={mail.id} mail={mail} isLead={isLead} request={request} />
          ))}
        </List>
      </div>
    </>
  );
}

function Notice(props: { said: TodayPage["announcement"]; answer: RefusedAct | undefined; request: string }) {
  const { said, answer, request } = props;
  const { id, act, fields, refused } = useAct("announce", answer, ["text"]);
  return (
    <Card title="Notice for all clients">
      <div className="px-4 py-1">
        {said && (
          <div className="mt-2 flex flex-wrap items-center justify-between gap-3">
            <p>
              <span className="font-semibold">{said.text}</span>{" "}
              <span className="text-sm text-quiet">since {eastAfricaTime(said.begun_at)}</span>
            </p>
            <ActForm id="end-notice" act="end-notice">
              <Button>End this notice</Button>
            </ActForm>
          </div>
        )}
        <details open={refused !== undefined}>
          <summary className="inline-flex min-h-11 cursor-pointer items-center text-sm underline">
            {said ? "Set another notice" : "Set a notice"}
          </summary>
          <ActForm id={id} act={act} request={request}>
            <Field
              field={fields.text}
              label="What all clients read above their shipments"
              hint="Such as: Customs system down since 09:10"
              autoComplete="off"
            />
            <SubmitButton look="plain" pending="Saving…">
              Set the notice
            </SubmitButton>
          </ActForm>
        </details>
      </div>
    </Card>
  );
}

type ListProps = {
  title: string;
  count: number;
  empty: string;
  all?: string;
  className?: string;
  children: ReactNode[];
};

function List({ title, count, empty, all, className, children }: ListProps) {
  const shown = count >= 100 ? "99+" : String(count);
  return (
    <div className={className}>
      <Card title={title} aside={<span className="font-mono text-sm">{shown}</span>}>
        {count === 0 ? <p className="px-4 py-3 text-sm text-quiet">{empty}</p> : <ul className="ruled">{children}</ul>}
        {count > children.length && (
          <p className="border-t border-line px-4 py-2 text-sm text-quiet">
            The {children.length} oldest.{" "}
            {all && (
              <Link to={all} className="inline-flex min-h-11 items-center underline">
                All of them
              </Link>
            )}
          </p>
        )}
      </Card>
    </div>
  );
}

type RowProps = {
  line: { shipment: string; name: string; what: string };
  to: string;
  when: string;
  isLate?: boolean;
};

function Row({ line, to, when, isLate = false }: RowProps) {
  return (
    <li>
      <Link to={`/desk/shipments/${line.shipment}${to}`} className="block px-4 py-2 no-underline hover:text-action">
        <span className="block font-semibold wrap-anywhere">{line.name} </span>
        <span className="flex flex-wrap justify-between gap-x-4 text-sm text-quiet">
          <span className={isLate ? "font-semibold text-failure" : ""}>{line.what} </span>
          <span>{when}</span>
        </span>
      </Link>
    </li>
  );
}
