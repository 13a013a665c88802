import { Form, Link } from "react-router";
import { z } from "zod";
import { ActForm, ActProblems, type RefusedAct, useAct } from "~/components/act-form";
import { SubmitButton } from "~/components/form";
import { useSessionWatch } from "~/components/portal/session-watch";
import { PortalUnavailable } from "~/components/portal/unavailable";
import { Title } from "~/components/title";
import { Card } from "~/components/ui/card";
import { answerFormOf } from "~/lib/act-form.server";
import { keepTyped } from "~/lib/connection";
import { calendarDate, eastAfricaTime } from "~/lib/dates";
import { limitsOf } from "~/lib/limits.server";
import { keepsPages } from "~/lib/offline.server";
import { portalCall } from "~/lib/portal-call.server";
import { refusalOfThrown, thrown } from "~/lib/refusal.server";
import { Caller, requireClient } from "~/lib/session.server";
import { isShared } from "~/lib/supabase.server";
import { clientPassword } from "~/models/account";
import { accountForms } from "~/models/account-forms.server";
import type { Route } from "./+types/route";
import { Email, Name, Password } from "./person";

const portal = portalCall(
  z.object({
    caller: Caller,
    account: z
      .object({
        created_at: z.string(),
        client_id: z.string().nullable(),
        wants_notices: z.boolean(),
        new_email: z.string().nullable(),
        erasure_asked_at: z.string().nullable(),
        kept_until: z.string().nullable(),
        other_sessions: z.number(),
      })
      .nullable(),
  }),
  // A GET: it changes nothing, so backendFetch may retry it.
  (backend) => backend.rpc("portal_account", {}, { get: true }).retry(false),
);

export const middleware: Route.MiddlewareFunction[] = [portal.middleware];

export async function loader(args: Route.LoaderArgs) {
  const { caller, account } = await portal.page(args);
  const { id } = requireClient(args.context);
  if (!caller || !account) throw thrown(refusalOfThrown(null));
  const { created_at, erasure_asked_at, kept_until, ...shown } = account;
  return {
    person: id,
    name: caller.full_name ?? "",
    email: caller.email ?? "",
    factors: caller.factors.map(({ name }) => name),
    since: eastAfricaTime(created_at),
    erasureAsked: erasure_asked_at && eastAfricaTime(erasure_asked_at),
    keptUntil: kept_until && new Date(kept_until) >= new Date() ? calendarDate(kept_until) : null,
    least: clientPassword,
    keepsPages: keepsPages(args.request),
    isShared: isShared(args.request),
    ...shown,
  };
}

export function action({ request, context }: Route.ActionArgs) {
  const client = requireClient(context);
  return answerFormOf(client, request, context, "/portal/account", accountForms(client, limitsOf(context)));
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

type Account = Route.ComponentProps["loaderData"];
export type Part = { account: Account; answer: RefusedAct | undefined };

export default function AccountPage({ loaderData: account, actionData }: Route.ComponentProps) {
  useSessionWatch(account.person);
  const part = { account, answer: actionData };
  return (
    <>
      <Title refused={actionData !== undefined}>Your account</Title>
      <ActProblems answer={actionData} />
      <Link to="/portal" className="inline-flex min-h-11 items-center text-sm underline">
        My Shipments
      </Link>
      <h1 className="mb-1 text-xl">Your account</h1>
      <dl className="mb-6 flex flex-wrap gap-x-6 gap-y-1 text-sm *:flex *:gap-2 [&_dt]:text-quiet">
        <div>
          <dt>Email</dt>
          <dd className="wrap-anywhere">{account.email}</dd>
        </div>
        <div>
          <dt>Client ID</dt>
          <dd className="font-mono">{account.client_id ?? "N/A"}</dd>
        </div>
        <div>
          <dt>Since</dt>
          <dd>{account.since}</dd>
        </div>
      </dl>
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <div className="grid gap-6">
          <Name {...part} />
          <Password {...part} />
          <Email {...part} />
        </div>
        <div className="grid gap-6">
          <Notices {...part} />
          <Devices {...part} />
          <Pages {...part} />
          <Data {...part} />
        </div>
      </div>
    </>
  );
}

function Notices({ account, answer }: Part) {
  const { id, act } = useAct("notices", answer, []);
  return (
    <Card title="Mails about your shipments">
      <ActForm id={id} act={act} className="px-4 py-3">
        <label className="mb-3 flex items-start gap-3 text-sm">
          <input
            type="checkbox"
            name="wanted"
            value="yes"
            defaultChecked={account.wants_notices}
            className="mt-0.5 size-6 shrink-0"
          />
          Write to me when a shipment moves, a document is sent back, something is to be paid, free storage ends, or
          there is a note
        </label>
        <SubmitButton look="plain" pending="Saving…">
          Save notices
        </SubmitButton>
      </ActForm>
    </Card>
  );
}

function Devices({ account, answer }: Part) {
  const { id, act } = useAct("elsewhere", answer, []);
  const { other_sessions: others, factors } = account;
  return (
    <Card title="Devices">
      <ActForm id={id} act={act} className="px-4 py-3">
        <p className="mb-3 text-sm text-quiet">
          {others === 0
            ? "You are logged in on this device alone."
            : `You are logged in on this device and in ${others} other ${others === 1 ? "place" : "places"}.`}
        </p>
        <div className="flex flex-wrap items-center gap-x-5 gap-y-2">
          <SubmitButton look="plain" pending="Signing out…">
            Sign out everywhere else
          </SubmitButton>
          <Link to="/portal/2fa" className="inline-flex min-h-11 items-center text-sm underline">
            {factors.length > 0 ? "Manage 2FA" : "Set up 2FA"}
          </Link>
        </div>
      </ActForm>
    </Card>
  );
}

function Pages({ account, answer }: Part) {
  const { id, act } = useAct("pages", answer, []);
  return (
    <Card title="Without a connection">
      {account.isShared ? (
        <p className="px-4 py-3 text-sm text-quiet">On a shared computer no pages are kept.</p>
      ) : (
        <ActForm id={id} act={act} className="px-4 py-3">
          <label className="mb-3 flex items-start gap-3 text-sm">
            <input
              type="checkbox"
              name="kept"
              value="yes"
              defaultChecked={account.keepsPages}
              className="mt-0.5 size-6 shrink-0"
            />
            Keep pages on this device for when there is no connection: the public ones and the last twenty of the
            portal, until I sign out
          </label>
          <SubmitButton look="plain" pending="Saving…">
            Save for this device
          </SubmitButton>
        </ActForm>
      )}
    </Card>
  );
}

function Data({ account, answer }: Part) {
  const { id, act } = useAct("erase", answer, []);
  const { erasureAsked, keptUntil } = account;
  return (
    <Card title="Your data">
      <Form action="/portal/account/data.zip" reloadDocument className="border-b border-line px-4 py-3">
        <p className="mb-3 text-sm text-quiet">
          One .zip: everything we keep about you as JSON and CSV, and your files. On a slow line it takes its time.
        </p>
        <SubmitButton look="plain" pending="Download your data">
          Download your data
        </SubmitButton>
      </Form>
      <ActForm id={id} act={act} className="px-4 py-3">
        <p className="mb-3 text-sm text-quiet">
          {erasureAsked
            ? `You asked us on ${erasureAsked} to erase your account. We answer by mail.`
            : keptUntil
              ? `The law requires us to keep your shipments until ${keptUntil}. You can ask all the same: we say what can go, and when.`
              : "Your account, your shipments and their files are deleted for good. We answer by mail."}
        </p>
        {erasureAsked && <input type="hidden" name="keep" value="yes" />}
        <SubmitButton look="plain" pending="Sending…">
          {erasureAsked ? "Keep my account" : "Ask us to erase my account"}
        </SubmitButton>
      </ActForm>
    </Card>
  );
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <PortalUnavailable error={error} />;
}
