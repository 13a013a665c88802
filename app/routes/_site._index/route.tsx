import { parseWithZod } from "@conform-to/zod/v4";
import { data } from "react-router";
import { z } from "zod";
import { LowerPart } from "~/components/site/quote-panel";
import { Title } from "~/components/title";
import { failure, refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { certifications, home, industries, testimonials, theCompany } from "~/lib/content.server";
import type { Toast } from "~/lib/flash";
import { readForm } from "~/lib/form.server";
import { seo } from "~/lib/seo";
import { trackingDraft } from "~/models/mail-draft";
import { oneLine } from "~/models/text";
import type { Route } from "./+types/route";
import { Certifications } from "./certifications";
import { Clearance } from "./clearance";
import { Closing } from "./closing";
import { Hero } from "./hero";
import { Industries } from "./industries";
import { Stats } from "./stats";
import { Testimonials } from "./testimonials";
import { WhyChooseUs } from "./why-choose-us";

const noNumber = "Please enter a tracking number to request an update.";

const Tracking = z.object({
  trackingNumber: oneLine(noNumber).min(1, noNumber).max(64, "Use at most 64 characters for the tracking number."),
});

const mailOpening: Toast = {
  title: "Email Client Opening...",
  description: "Your email client is opening to send the tracking request.",
  variant: "default",
};

export function loader() {
  const { founded, taglines } = theCompany;
  return { ...home, founded, taglines, certifications: certifications.home, industries, testimonials };
}

/** The content of a running site does not change: toasts and the quote form need not fetch it again. */
export function shouldRevalidate() {
  return false;
}

export async function action({ request }: Route.ActionArgs) {
  const form = await readForm(request);
  const submission = parseWithZod(form, { schema: Tracking });
  if (submission.status !== "success") {
    const empty = submission.error?.trackingNumber?.includes(noNumber);
    const toast = empty ? failure("Tracking Number Required", noNumber) : undefined;
    return refuse(submission.reply(), toast, 400, { draft: null });
  }
  const [office] = theCompany.offices;
  return data({
    result: submission.reply(),
    draft: trackingDraft(office?.email ?? "", submission.value.trackingNumber),
    toast: mailOpening,
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

const title = "Customs clearing and freight in East Africa";

export const meta: Route.MetaFunction = ({ matches, loaderData }) =>
  seo(matches, { title, description: loaderData?.description ?? "", path: "/" });

export default function HomePage({ loaderData, actionData }: Route.ComponentProps) {
  return (
    <>
      <Title refused={actionData !== undefined && !("draft" in actionData && actionData.draft)}>{title}</Title>
      <Hero {...loaderData} answer={actionData} />
      <LowerPart>
        <Stats {...loaderData} />
        <WhyChooseUs {...loaderData} />
        <Clearance {...loaderData} />
        <Certifications {...loaderData} />
        <Industries {...loaderData} />
        <Testimonials {...loaderData} />
        <Closing {...loaderData} />
      </LowerPart>
    </>
  );
}
