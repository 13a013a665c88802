import { data, Form } from "react-router";
import { ErrorSummary, useActionForm } from "~/components/forms/form";
import { OfficePhone } from "~/components/site/office-phone";
import { ShipmentEmailKinds } from "~/components/site/shipment-email-kinds";
import { Title } from "~/components/site/title";
import { Button } from "~/components/ui/button";
import { readForm } from "~/lib/forms/form-data.server";
import { redirectWithToast } from "~/lib/http/toast.server";
import { userErrorData } from "~/lib/http/user-error.server";
import { serviceRoleClient } from "~/lib/supabase/client.server";
import { setShipmentEmailsEnabled, verifyUnsubscribeToken } from "~/models/email-delivery.server";
import type { Route } from "./+types/_auth.unsubscribe";

/** Email scanners open links, so opening this page changes no setting. */
export function loader({ url }: Route.LoaderArgs) {
  const token = url.searchParams.get("token");
  return { isKnown: verifyUnsubscribeToken(token) !== null };
}

/** Handles the page's forms and the one-click requests of email apps, for which RFC 8058 forbids a redirect. */
export async function action({ request, context, url }: Route.ActionArgs) {
  const token = url.searchParams.get("token");
  const account = verifyUnsubscribeToken(token);
  const form = await readForm(request);
  if (!account) return data(null, { status: 400 });
  const isOneClick = form.get("List-Unsubscribe") === "One-Click";
  const enabled = !isOneClick && form.get("enabled") === "yes";
  const rejection = await setShipmentEmailsEnabled(serviceRoleClient(), account, enabled);
  if (rejection) throw userErrorData(rejection);
  if (isOneClick) return null;
  const title = enabled ? "Subscribed again" : "Unsubscribed";
  return redirectWithToast(context, `/unsubscribe?token=${token}`, { title, variant: "default" });
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

export default function UnsubscribePage({ loaderData, actionData }: Route.ComponentProps) {
  const [form] = useActionForm("unsubscribe", actionData ?? undefined, []);
  return (
    <>
      <Title rejected={actionData !== undefined}>Emails about your shipments</Title>
      <ErrorSummary {...form} />
      <h1 className="mb-6 text-xl">Emails about your shipments</h1>
      {loaderData.isKnown ? (
        <>
          <ShipmentEmailKinds />
          <p className="mb-6">You always get emails about your account and password.</p>
          <div className="flex flex-wrap gap-3">
            <Form method="post" replace>
              <input type="hidden" name="enabled" value="no" />
              <Button look="action">Unsubscribe</Button>
            </Form>
            <Form method="post" replace>
              <input type="hidden" name="enabled" value="yes" />
              <Button>Subscribe again</Button>
            </Form>
          </div>
        </>
      ) : (
        <p>
          This link is incomplete or no longer valid. Open the link in a newer email, or call <OfficePhone /> to
          unsubscribe.
        </p>
      )}
    </>
  );
}
