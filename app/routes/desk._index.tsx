import { randomUUID } from "node:crypto";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { z } from "zod";
import { ActForm, ActProblems, type RefusedAct, requestOf, useAct } from "~/components/desk/act-form";
import { Field } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Title } from "~/components/title";
import { Button } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { answerForm, formOf, then } from "~/lib/act-form.server";
import { keepTyped } from "~/lib/connection";
import { calendarDate, eastAfricaTime } from "~/lib/dates";
import { deskPage } from "~/lib/desk.server";
import { searchOf } from "~/models/desk";
import { TodayPage } from "~/models/desk.server";
import { announce, dismissUndelivered, endAnnouncement } from "~/models/desk-act.server";
import { oneLine } from "~/models/text";
import type { Route } from "./+types/desk._index";

const Announce = z.object({
  text: oneLine("Write the notice.").min(1, "Write the notice.").max(200, "Use at most 200 characters."),
});

export async function loader({ context }: Route.LoaderArgs) {
  return { today: await deskPage(context, TodayPage), request: randomUUID() };
}

export function action({ request, context }: Route.ActionArgs) {
  return answerForm(request, context, "/desk", {
    announce: formOf(Announce, async ({ backend }, { text }, sent) =>
      then(await announce(backend, text, sent), () => "All clients read it now"),
    ),
    "end-notice": formOf(z.object({}), async ({ backend }) =>
      then(await endAnnouncement(backend), () => "Nothing is said to all clients any more"),
    ),
    "dealt-with": formOf(z.object({ mail: z.uuid() }), async ({ backend }, { mail }) =>
      then(await dismissUndelivered(backend, mail), () => "Taken off the list"),
    ),
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function TodayPage_({ loaderData, actionData }: Route.ComponentProps) {
  const { today } = loaderData;
  const request = requestOf(actionData, loaderData.request);
  const { to_check, storage, standing, waiting, undelivered } = today;
  return (
    <>
      <Title refused={actionData !== undefined}>Today</Title>
      <ActProblems answer={actionData} />
      <h1 className="mb-4 text-xl">Today</h1>
      <Notice said={today.announcement} answer={actionData} request={request} />
      <div className="mt-6 grid items-start gap-6 lg:grid-cols-2">
        <List title="Documents to check" count={to_check.count} empty="Every document is checked.">
          {to_check.rows.map((line) => (
            <Row
              key={`${line.shipment} ${line.what}`}
              line={line}
              to={`#documents`}
              when={`since ${eastAfricaTime(line.at)}`}
            />
          ))}
        </List>
        <List title="Free storage" count={storage.count} empty="No container nears the end of its free days.">
          {storage.rows.map(({ shipment, name, day }) => (
            <Row
              key={shipment}
              line={{ shipment, name, what: "" }}
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
        <List title="Not delivered" count={undelivered.count} empty="Every mail has left.">
          {undelivered.rows.map(({ id, kind, sent_to, account, at }) => (
            <li key={id} className="flex flex-wrap items-center justify-between gap-2 px-4 py-2 text-sm">
              <span>
                The {kind} to <span className="font-semibold wrap-anywhere">{sent_to}</span>, {eastAfricaTime(at)}
              </span>
              <span className="flex gap-2">
                <Link
                  to={account && kind === "new password" ? `/desk/clients/${account}` : placeOf(kind)}
                  className="inline-flex min-h-11 items-center underline"
                >
                  Send it again
                </Link>
                <ActForm id={`dealt-with-${id}`} act="dealt-with">
                  <input type="hidden" name="mail" value={id} />
                  <Button>
                    Dealt with
                    <span className="sr-only">
                      : the {kind} to {sent_to}
                    </span>
                  </Button>
                </ActForm>
              </span>
            </li>
          ))}
        </List>
      </div>
    </>
  );
}

const placeOf = (kind: string) => (kind === "invitation" ? "/desk/colleagues" : "/desk/invitations");

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
            {said ? "Say something else" : "Say something to all clients"}
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

function List(props: { title: string; count: number; empty: string; all?: string; children: ReactNode[] }) {
  const { title, count, empty, all, children } = props;
  const shown = count >= 100 ? "99+" : String(count);
  return (
    <Card title={title} aside={<span className="font-mono text-sm">{shown}</span>}>
      {count === 0 ? <p className="px-4 py-3 text-sm text-quiet">{empty}</p> : <ul className="ruled">{children}</ul>}
      {count > children.length && (
        <p className="border-t border-line px-4 text-sm text-quiet">
          The {children.length} oldest.{" "}
          {all && (
            <Link to={all} className="inline-flex min-h-11 items-center underline">
              All of them
            </Link>
          )}
        </p>
      )}
    </Card>
  );
}

function Row(props: { line: { shipment: string; name: string; what: string }; to: string; when: string }) {
  const { line, to, when } = props;
  return (
    <li>
      <Link to={`/desk/shipments/${line.shipment}${to}`} className="block px-4 py-2 no-underline hover:text-action">
        <span className="block font-semibold wrap-anywhere">{line.name} </span>
        <span className="flex flex-wrap justify-between gap-x-4 text-sm text-quiet">
          <span>{line.what} </span>
          <span>{when}</span>
        </span>
      </Link>
    </li>
  );
}
