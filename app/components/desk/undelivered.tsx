import { Link } from "react-router";
import { ActForm } from "~/components/act-form";
import { Button } from "~/components/ui/button";
import { eastAfricaTime } from "~/lib/dates";
import type { TodayPage } from "~/models/desk.server";

const mailNames: Record<string, string> = {
  notice: "A notice",
  "address change": "A mail about a new address",
  erasure: "The answer about erasing",
  "password change": "The news of the changed password",
  "second factor": "The news of the removed second factor",
};

type UndeliveredMail = TodayPage["undelivered"]["rows"][number];

/** A line of Today: a mail that did not leave, and where it is sent again. */
export function Undelivered({ mail, isLead, request }: { mail: UndeliveredMail; isLead: boolean; request: string }) {
  const { id, kind, sent_to, account, client_id, is_colleague, at } = mail;
  const name = (
    <span className="sr-only">
      : the {kind} to {sent_to}
    </span>
  );
  const isWanted = ["invitation", "client ID", "new password"].includes(kind);
  const place = is_colleague ? (isLead ? "/desk/colleagues" : null) : account && `/desk/clients/${account}`;
  return (
    <li className="flex flex-wrap items-center justify-between gap-2 px-4 py-2 text-sm">
      <span>
        {mailNames[kind] ?? `The ${kind}`} to <span className="font-semibold wrap-anywhere">{sent_to}</span>,{" "}
        {eastAfricaTime(at)}
        {is_colleague && !isLead && isWanted && ". A lead sends it again."}
      </span>
      <span className="flex flex-wrap items-center gap-2">
        {client_id && (
          <ActForm id={`send-${id}`} act="send" request={request}>
            <input type="hidden" name="clientId" value={client_id} />
            <Button>Send again{name}</Button>
          </ActForm>
        )}
        {place && (
          <Link to={place} className="inline-flex min-h-11 items-center underline">
            {isWanted ? "Send again" : "Tell them"}
            {name}
          </Link>
        )}
        <ActForm id={`dealt-with-${id}`} act="dealt-with">
          <input type="hidden" name="mail" value={id} />
          <Button>Dealt with{name}</Button>
        </ActForm>
      </span>
    </li>
  );
}
