import { Form } from "react-router";
import { z } from "zod";
import { createAccountIntents } from "~/actions/account.server";
import { minClientPasswordLength } from "~/actions/authentication";
import { SubmitButton } from "~/components/forms/form";
import { IntentErrorSummary, IntentForm } from "~/components/forms/intent-form";
import { PortalErrorPage } from "~/components/portal/portal-error-page";
import { useSessionWatch } from "~/components/portal/session-watch";
import { Title } from "~/components/site/title";
import { Card } from "~/components/ui/card";
import { FactList } from "~/components/ui/fact-list";
import { TextLink } from "~/components/ui/text-link";
import { requireViewer, ViewerRecord } from "~/lib/auth/viewer.server";
import { createViewerPage } from "~/lib/auth/viewer-page.server";
import { calendarDate, eastAfricaTime } from "~/lib/dates";
import { handleIntentFor } from "~/lib/forms/intent-form.server";
import { isOfflineEnabled } from "~/lib/http/offline.server";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { userErrorData, userErrorFromThrown } from "~/lib/http/user-error.server";
import { isSharedComputer } from "~/lib/supabase/client.server";
import type { Route } from "./+types/route";
import { type AccountSectionProps, EmailSection, NameSection, PasswordSection } from "./profile";

const portal = createViewerPage(
  z.object({
    viewer: ViewerRecord,
    account: z
      .object({
        created_at: z.string(),
        client_id: z.string().nullable(),
        shipment_emails_enabled: z.boolean(),
        new_email: z.string().nullable(),
        erasure_requested_at: z.string().nullable(),
        retention_ends_on: z.string().nullable(),
        other_sessions: z.number(),
      })
      .nullable(),
  }),
  // With `get`, createSupabaseFetch may repeat the request, because a GET changes nothing.
  (backend) => backend.rpc("portal_account", {}, { get: true }).retry(false),
);

export const middleware: Route.MiddlewareFunction[] = [portal.middleware];

export async function loader(args: Route.LoaderArgs) {
  const { viewer, account } = await portal.page(args);
  const { id } = requireViewer(args.context);
  if (!viewer || !account) throw userErrorData(userErrorFromThrown(null));
  const { created_at, erasure_requested_at, retention_ends_on, ...otherFields } = account;
  return {
    accountId: id,
    name: viewer.full_name ?? "",
    email: viewer.email ?? "",
    factors: viewer.factors.map(({ name }) => name),
    since: eastAfricaTime(created_at),
    erasureRequested: erasure_requested_at && eastAfricaTime(erasure_requested_at),
    retentionEnd:
      retention_ends_on && new Date(retention_ends_on) >= new Date() ? calendarDate(retention_ends_on) : null,
    minPasswordLength: minClientPasswordLength,
    offlineEnabled: isOfflineEnabled(args.request),
    isShared: isSharedComputer(args.request),
    ...otherFields,
  };
}

export function action({ request, context }: Route.ActionArgs) {
  const client = requireViewer(context);
  return handleIntentFor(
    client,
    request,
    context,
    "/portal/account",
    createAccountIntents(client, getRateLimiter(context)),
  );
}

export default function AccountPage({ loaderData: account, actionData }: Route.ComponentProps) {
  useSessionWatch(account.accountId);
  return (
    <>
      <Title rejected={actionData !== undefined}>Your account</Title>
      <IntentErrorSummary actionData={actionData} />
      <TextLink to="/portal" className="text-sm">
        My Shipments
      </TextLink>
      <h1 className="mb-1 text-xl">Your account</h1>
      <FactList
        className="mb-6"
        facts={[
          ["Email", account.email, "wrap-anywhere"],
          ["Client ID", account.client_id ?? "N/A", "font-mono"],
          ["Since", account.since],
        ]}
      />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <div className="grid gap-6">
          <NameSection account={account} />
          <PasswordSection account={account} />
          <EmailSection account={account} />
        </div>
        <div className="grid gap-6">
          <ShipmentEmailsSection account={account} />
          <DevicesSection account={account} />
          <OfflinePagesSection account={account} />
          <DataSection account={account} />
        </div>
      </div>
    </>
  );
}

function ShipmentEmailsSection({ account }: AccountSectionProps) {
  return (
    <Card title="Mails about your shipments">
      <IntentForm intent="shipment-emails" className="px-4 py-3">
        <label className="mb-3 flex items-start gap-3 text-sm">
          <input
            type="checkbox"
            name="enabled"
            value="yes"
            defaultChecked={account.shipment_emails_enabled}
            className="mt-0.5 size-6 shrink-0"
          />
          Write to me when a shipment moves, a document is sent back, something is to be paid, free storage ends, or
          there is a note
        </label>
        <SubmitButton look="plain">Save notices</SubmitButton>
      </IntentForm>
    </Card>
  );
}

function DevicesSection({ account }: AccountSectionProps) {
  const { other_sessions: otherSessions, factors } = account;
  return (
    <Card title="Devices">
      <IntentForm intent="sign-out-others" className="px-4 py-3">
        <p className="mb-3 text-sm text-quiet">
          {otherSessions === 0
            ? "You are logged in on this device alone."
            : `You are logged in on this device and in ${otherSessions} other ${otherSessions === 1 ? "place" : "places"}.`}
        </p>
        <div className="flex flex-wrap items-center gap-x-5 gap-y-2">
          <SubmitButton look="plain" pending="Signing out…">
            Sign out everywhere else
          </SubmitButton>
          <TextLink to="/portal/2fa" className="text-sm">
            {factors.length > 0 ? "Manage 2FA" : "Set up 2FA"}
          </TextLink>
        </div>
      </IntentForm>
    </Card>
  );
}

function OfflinePagesSection({ account }: AccountSectionProps) {
  return (
    <Card title="Without a connection">
      {account.isShared ? (
        <p className="px-4 py-3 text-sm text-quiet">On a shared computer no pages are kept.</p>
      ) : (
        <IntentForm intent="offline-pages" className="px-4 py-3">
          <label className="mb-3 flex items-start gap-3 text-sm">
            <input
              type="checkbox"
              name="enabled"
              value="yes"
              defaultChecked={account.offlineEnabled}
              className="mt-0.5 size-6 shrink-0"
            />
            Keep pages on this device for when there is no connection: the public ones and the last twenty of the
            portal, until I sign out
          </label>
          <SubmitButton look="plain">Save for this device</SubmitButton>
        </IntentForm>
      )}
    </Card>
  );
}

function DataSection({ account }: AccountSectionProps) {
  const { erasureRequested, retentionEnd } = account;
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
      <IntentForm intent="erase" className="px-4 py-3">
        <p className="mb-3 text-sm text-quiet">
          {erasureRequested
            ? `You asked us on ${erasureRequested} to erase your account. We answer by mail.`
            : retentionEnd
              ? `The law requires us to keep your shipments until ${retentionEnd}. You can ask all the same: we say what can go, and when.`
              : "Your account, your shipments and their files are deleted for good. We answer by mail."}
        </p>
        {erasureRequested && <input type="hidden" name="withdraw" value="yes" />}
        <SubmitButton look="plain" pending="Sending…">
          {erasureRequested ? "Keep my account" : "Ask us to erase my account"}
        </SubmitButton>
      </IntentForm>
    </Card>
  );
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <PortalErrorPage error={error} />;
}
