import { data } from "react-router";
import { z } from "zod";
import { EmailDraftPanel } from "~/components/site/email-draft-panel";
import { QuoteForm } from "~/components/site/quote-form";
import { useSiteData } from "~/components/site/site-data";
import { Title } from "~/components/site/title";
import { TextLink } from "~/components/ui/button";
import { PageToast } from "~/components/ui/toast";
import { readForm } from "~/lib/forms/form-data.server";
import { parseForm, rejectSubmission } from "~/lib/forms/rejected-form.server";
import { codeLine, severalLines } from "~/lib/forms/text-fields";
import { toSitePath } from "~/lib/http/redirect.server";
import type { Toast } from "~/lib/http/toast";
import { emailAddress, personName } from "~/models/contact";
import { companyDetails, quoteServices } from "~/models/content.server";
import { type EmailDraft, quoteDraft } from "~/models/email-draft";
import type { Route } from "./+types/actions.quote";

const QuoteFields = z.object({
  name: personName,
  email: emailAddress,
  phone: codeLine("Enter your phone number.")
    .min(1, "Enter your phone number.")
    .max(32, "Use at most 32 characters for the phone number."),
  service: z.enum(quoteServices as [string, ...string[]], "Choose one of the services."),
  message: severalLines("").max(2000, "Use at most 2,000 characters for the message.").default(""),
});

export async function action({ request }: Route.ActionArgs) {
  const form = await readForm(request);
  const from = toSitePath(form.get("from"));
  const submission = parseForm(form, QuoteFields);
  if (submission.status !== "success") return rejectSubmission(submission, null, undefined, { from });
  const [office] = companyDetails.offices;
  const toast: Toast = {
    title: "Opening Email Client...",
    description: "Please complete sending the quote request from your email app.",
    variant: "default",
  };
  return data({ from, draft: quoteDraft(office?.email ?? "", submission.value), toast });
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

/** Visitors without JavaScript see the rejected form or the email draft on this page. */
export default function QuotePage({ actionData }: Route.ComponentProps) {
  const services = useSiteData()?.quoteServices ?? [];
  if (actionData && "draft" in actionData) return <QuoteDraft {...actionData} />;
  return (
    <div className="mx-auto max-w-md">
      <Title rejected={actionData !== undefined}>Get a Quote</Title>
      <QuoteForm
        heading="Get a Quote"
        services={services}
        from={actionData && "from" in actionData ? actionData.from : "/"}
        rejected={actionData}
      />
    </div>
  );
}

function QuoteDraft({ draft, from, toast }: { draft: EmailDraft; from: string; toast: Toast }) {
  return (
    <>
      <Title>Get a Quote</Title>
      <PageToast toast={toast} />
      <h1 className="mb-6 text-xl">Get a Quote</h1>
      <EmailDraftPanel draft={draft} opens />
      <p className="mt-6">
        <TextLink to={from}>Back to the previous page</TextLink>
      </p>
    </>
  );
}
