import { parseWithZod } from "@conform-to/zod/v4";
import { data, Link } from "react-router";
import { z } from "zod";
import { Flash } from "~/components/flash";
import { MailReady } from "~/components/site/mail-ready";
import { QuoteForm } from "~/components/site/quote-form";
import { useSiteData } from "~/components/site-data";
import { Title } from "~/components/title";
import { refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { quoteServices, theCompany } from "~/lib/content.server";
import type { Toast } from "~/lib/flash";
import { readForm } from "~/lib/form.server";
import { sitePath } from "~/lib/redirect.server";
import { emailAddress, personName } from "~/models/contact";
import { type MailDraft, quoteDraft } from "~/models/mail-draft";
import { oneLine, severalLines } from "~/models/text";
import type { Route } from "./+types/resources.quote";

const Quote = z.object({
  name: personName,
  email: emailAddress,
  phone: oneLine("Enter your phone number.")
    .min(1, "Enter your phone number.")
    .max(32, "Use at most 32 characters for the phone number."),
  service: z.enum(quoteServices as [string, ...string[]], "Choose one of the services."),
  message: severalLines("").max(2000, "Use at most 2,000 characters for the message.").default(""),
});

export async function action({ request }: Route.ActionArgs) {
  const form = await readForm(request);
  const from = sitePath(form.get("from"));
  const submission = parseWithZod(form, { schema: Quote });
  if (submission.status !== "success") return refuse(submission.reply(), undefined, 400, { from });
  const [office] = theCompany.offices;
  const toast: Toast = {
    title: "Opening Email Client...",
    description: "Please complete sending the quote request from your email app.",
    variant: "default",
  };
  return data({ from, draft: quoteDraft(office?.email ?? "", submission.value), toast });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export const meta: Route.MetaFunction = () => [{ name: "robots", content: "noindex" }];

/** The form opens over other pages, at their address with `?quote`; here it is shown again after a refusal. */
export default function QuotePage({ actionData }: Route.ComponentProps) {
  const services = useSiteData()?.quoteServices ?? [];
  if (actionData && "draft" in actionData) return <QuoteReady {...actionData} />;
  return (
    <div className="mx-auto max-w-md">
      <Title refused={actionData !== undefined}>Get a Quote</Title>
      <QuoteForm
        heading="Get a Quote"
        services={services}
        from={actionData && "from" in actionData ? actionData.from : "/"}
        refused={actionData}
      />
    </div>
  );
}

function QuoteReady({ draft, from, toast }: { draft: MailDraft; from: string; toast: Toast }) {
  return (
    <>
      <Title>Get a Quote</Title>
      <Flash toast={toast} />
      <h1 className="mb-6 text-xl">Get a Quote</h1>
      <MailReady draft={draft} opens />
      <p className="mt-6">
        <Link to={from} className="inline-flex min-h-11 items-center underline">
          Back to where you were
        </Link>
      </p>
    </>
  );
}
