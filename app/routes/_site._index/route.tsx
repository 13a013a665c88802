import { data } from "react-router";
import { z } from "zod";
import { DeferredSection } from "~/components/site/quote-panel";
import { Title } from "~/components/site/title";
import { readForm } from "~/lib/forms/form-data.server";
import { createErrorToast, parseForm, rejectForm } from "~/lib/forms/rejected-form.server";
import { codeLine } from "~/lib/forms/text-fields";
import { createPageMeta } from "~/lib/http/page-meta";
import type { Toast } from "~/lib/http/toast";
import { certifications, companyDetails, home, industries, testimonials } from "~/models/content.server";
import { trackingDraft } from "~/models/email-draft";
import type { Route } from "./+types/route";
import { Hero } from "./hero";
import { Industries } from "./industries";
import { Certifications, Clearance, Closing, Testimonials, WhyChooseUs } from "./sections";
import { Stats } from "./stats";

const trackingNumberRequired = "Please enter a tracking number to request an update.";

const TrackingFields = z.object({
  trackingNumber: codeLine(trackingNumberRequired)
    .min(1, trackingNumberRequired)
    .max(64, "Use at most 64 characters for the tracking number."),
});

const emailOpeningToast: Toast = {
  title: "Email Client Opening...",
  description: "Your email client is opening to send the tracking request.",
  variant: "default",
};

export function loader() {
  const { founded, taglines } = companyDetails;
  return { ...home, founded, taglines, certifications: certifications.home, industries, testimonials };
}

/** The page's content changes only when the server restarts. */
export function shouldRevalidate() {
  return false;
}

export async function action({ request }: Route.ActionArgs) {
  const form = await readForm(request);
  const submission = parseForm(form, TrackingFields);
  if (submission.status !== "success") {
    const isEmpty = submission.error?.trackingNumber?.includes(trackingNumberRequired);
    const toast = isEmpty ? createErrorToast("Tracking Number Required", trackingNumberRequired) : undefined;
    return rejectForm(submission.reply(), toast, 400, { draft: null });
  }
  const [office] = companyDetails.offices;
  return data({
    result: submission.reply(),
    draft: trackingDraft(office?.email ?? "", submission.value.trackingNumber),
    toast: emailOpeningToast,
  });
}

const title = "Customs clearing and freight in East Africa";

export const meta: Route.MetaFunction = ({ matches, loaderData }) =>
  createPageMeta(matches, { title, description: loaderData?.description ?? "", path: "/" });

export default function HomePage(props: Route.ComponentProps) {
  const { loaderData, actionData } = props;
  return (
    <>
      <Title rejected={actionData !== undefined && !("draft" in actionData && actionData.draft)}>{title}</Title>
      <Hero {...props} />
      <DeferredSection>
        <Stats {...loaderData} />
        <WhyChooseUs {...loaderData} />
        <Clearance {...loaderData} />
        <Certifications {...loaderData} />
        <Industries {...loaderData} />
        <Testimonials {...loaderData} />
        <Closing {...loaderData} />
      </DeferredSection>
    </>
  );
}
