import { Form } from "react-router";
import { z } from "zod";
import { createAccountIntents } from "~/actions/account.server";
import { minClientPasswordLength } from "~/actions/authentication";
import { ErrorSummary, SubmitButton } from "~/components/forms/form";
import { getIntentErrors, IntentForm } from "~/components/forms/intent-form";
import { PortalErrorPage } from "~/components/portal/portal-error-page";
import { useSessionWatch } from "~/components/portal/session-watch";
import { ShipmentEmailKinds } from "~/components/site/shipment-email-kinds";
import { Title } from "~/components/site/title";
import { TextLink } from "~/components/ui/button";
import { Card } from "~/components/ui/card";
import { FactList } from "~/components/ui/fact-list";
import { createViewerPage, requireViewer, ViewerRecord } from "~/lib/auth/viewer.server";
import { calendarDate, eastAfricaTime } from "~/lib/dates";
import { handleIntentFor } from "~/lib/forms/intent-form.server";
import { hashAccountId } from "~/lib/http/cookies.server";
import { isOfflineEnabled } from "~/lib/http/offline.server";
import { getRateLimiter } from "~/lib/http/rate-limiter.server";
import { userErrorData, userErrorFromThrown } from "~/lib/http/user-error.server";
import { isSharedComputer } from "~/lib/supabase/client.server";
import { PhoneRecord } from "~/models/phone.server";
import { getRetentionEnd } from "~/models/shipment";
import type { Route } from "./+types/route";
import { type AccountSectionProps, EmailSection, NameSection, PasswordSection, PhoneSection } from "./profile";

const portal = createViewerPage(
  z.object({
    viewer: ViewerRecord,
    account: z
      .object({
        created_at: z.string(),
        client_id: z.string().nullable(),
        phone: PhoneRecord,
        shipment_emails_enabled: z.boolean(),
        new_email: z.string().nullable(),
        erasure_requested_at: z.string().nullable(),
        retention_ends_on: z.string().nullable(),
        other_sessions: z.number(),
      })
      .nullable(),
  }),
  // `get` sends a GET request, which createSupabaseFetch repeats after a failure.
  (backend) => backend.rpc("portal_account", {}, { get: true }).retry(false),
);

export const middleware: Route.MiddlewareFunction[] = [portal.middleware];

export async function loader(args: Route.LoaderArgs) {
  const { viewer, account } = await portal.page(args);
  const { id } = requireViewer(args.context);
  if (!viewer || !account) throw userErrorData(userErrorFromThrown(null));
  const { created_at, erasure_requested_at, retention_ends_on, ...otherFields } = account;
  const retentionEnd = getRetentionEnd(retention_ends_on);
  return {
    accountHash: hashAccountId(id),
    name: viewer.full_name ?? "",
    email: viewer.email ?? "",
    factors: viewer.factors.map(({ name }) => name),
    since: eastAfricaTime(created_at),
    erasureRequested: erasure_requested_at && eastAfricaTime(erasure_requested_at),
    retentionEnd: retentionEnd && calendarDate(retentionEnd),
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
  useSessionWatch(account.accountHash);
  return (
    <>
      <Title rejected={actionData !== undefined}>Your account</Title>
      <ErrorSummary {...getIntentErrors(actionData)} />
      <TextLink to="/portal" className="text-sm">
        My Shipments
      </TextLink>
      <h1 className="mb-1 text-xl">Your account</h1>
      <FactList
        className="mb-6"
        facts={[
          ["Email", account.email, "wrap-anywhere"],
          ["Client ID", account.client_id ?? "N/A", "font-mono"],
          ["Client since", account.since],
        ]}
      />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <div className="grid gap-6">
          <NameSection account={account} />
          <PhoneSection account={account} />
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
    <Card title="Emails about your shipments">
      <IntentForm intent="shipment-emails" className="px-4 py-3">
        <label className="mb-3 flex items-start gap-3 text-sm">
          <input
            type="checkbox"
            name="enabled"
            value="yes"
            defaultChecked={account.shipment_emails_enabled}
            className="mt-0.5 size-6 shrink-0"
          />
          Email me about my shipments
        </label>
        <div className="text-sm text-quiet">
          <ShipmentEmailKinds />
        </div>
        <SubmitButton look="plain">Save email settings</SubmitButton>
      </IntentForm>
    </Card>
  );
}

function DevicesSection({ account }: AccountSectionProps) {
  const { other_sessions: otherSessions, factors } = account;
  return (
    <Card title="Devices">
      <IntentForm intent="sign-out-others" className="px-4 pt-3">
        <p className="mb-3 text-sm text-quiet">
          {otherSessions === 0
            ? "You are logged in on this device only."
            : otherSessions === 1
              ? "You are logged in on this device and on 1 other device."
              : `You are logged in on this device and on ${otherSessions} other devices.`}
        </p>
        <SubmitButton look="plain" pending="Logging out…">
          Log out all other devices
        </SubmitButton>
      </IntentForm>
      <TextLink to="/portal/2fa" className="mx-4 my-1 text-sm">
        {factors.length > 0 ? "Manage 2FA" : "Set up 2FA"}
      </TextLink>
    </Card>
  );
}

function OfflinePagesSection({ account }: AccountSectionProps) {
  return (
    <Card title="Offline copies">
      {account.isShared ? (
        <p className="px-4 py-3 text-sm text-quiet">
          You logged in on a shared device, so your browser stores no offline copies.
        </p>
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
            On this device, let me read public pages and my last 20 portal pages without internet
          </label>
          <SubmitButton look="plain">Save offline settings</SubmitButton>
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
          You get one .zip file with your data (JSON and CSV) and your files. The download can take several minutes.
        </p>
        <SubmitButton look="plain" pending="Download your data">
          Download your data
        </SubmitButton>
      </Form>
      <IntentForm intent="erase" className="px-4 py-3">
        <p className="mb-3 text-sm text-quiet">
          {erasureRequested
            ? `On ${erasureRequested} you asked us to erase your account. We will reply by email.`
            : retentionEnd
              ? `By law, we must store your shipment records until ${retentionEnd}. You can still ask us to erase your account. We reply by email and say what we can delete and when.`
              : "If you ask us, we permanently delete your account, your shipments and their files. We reply by email."}
        </p>
        {erasureRequested && <input type="hidden" name="withdraw" value="yes" />}
        <SubmitButton look="plain" pending="Sending…">
          {erasureRequested ? "Withdraw request" : "Request to erase my account"}
        </SubmitButton>
      </IntentForm>
    </Card>
  );
}

export function ErrorBoundary({ error }: Route.ErrorBoundaryProps) {
  return <PortalErrorPage error={error} />;
}
