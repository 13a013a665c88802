import { useState } from "react";
import { data, Form } from "react-router";
import { z } from "zod";
import { Field, TextField } from "~/components/forms/field";
import { ErrorSummary, SubmitButton, useActionForm } from "~/components/forms/form";
import { EmailDraftPanel } from "~/components/site/email-draft-panel";
import { Title } from "~/components/site/title";
import { PageToast } from "~/components/ui/toast";
import { dayInEastAfrica } from "~/lib/dates";
import { readForm } from "~/lib/forms/form-data.server";
import { parseForm, rejectSubmission } from "~/lib/forms/rejected-form.server";
import { oneLine, severalLines } from "~/lib/forms/text-fields";
import { getDailyHeaders } from "~/lib/http/headers.server";
import { createPageMeta } from "~/lib/http/page-meta";
import type { Toast } from "~/lib/http/toast";
import { emailAddress, personName } from "~/models/contact";
import { companyDetails, home, industries, publicHolidays, services, workingHours } from "~/models/content.server";
import { contactDraft } from "~/models/email-draft";
import { describeHolidays, getOfficeStatus } from "~/models/hours";
import type { Route } from "./+types/route";
import { ContactChannels } from "./contact-channels";
import { Offices } from "./offices";

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

const ContactFields = z.object({
  name: personName,
  email: emailAddress,
  subject: oneLine("Enter a subject.")
    .min(1, "Enter a subject.")
    .max(150, "Use at most 150 characters for the subject."),
  message: severalLines("Write your message.")
    .min(1, "Write your message.")
    .max(2000, "Use at most 2,000 characters for the message."),
});

/** Only these subjects prefill the form, so that links from other sites cannot put text into the form. */
const subjects = new Set([
  ...home.search_terms,
  ...industries.map(({ name }) => name),
  ...services.services.map(({ title }) => title),
]);

export function loader({ url }: Route.LoaderArgs) {
  const now = new Date();
  const { isOpen, words, until } = getOfficeStatus(workingHours, publicHolidays, now);
  const subject = url.searchParams.get("about") ?? "";
  const later = until && getOfficeStatus(workingHours, publicHolidays, until).words;
  return data(
    {
      opening: {
        ...{ isOpen, words, until: until?.valueOf(), later },
        holidays: describeHolidays(publicHolidays, dayInEastAfrica(now)),
      },
      hours: workingHours.map(({ days, hours }) => ({ days, hours })),
      prefill: subjects.has(subject) ? { subject } : null,
    },
    { headers: { ...getDailyHeaders(), ...(until ? { Expires: until.toUTCString() } : {}) } },
  );
}

export async function action({ request }: Route.ActionArgs) {
  const form = await readForm(request);
  const submission = parseForm(form, ContactFields);
  if (submission.status !== "success") return rejectSubmission(submission, null);
  const [office] = companyDetails.offices;
  const toast: Toast = { title: "Opening Email Client...", variant: "default" };
  return data({ draft: contactDraft(office?.email ?? "", submission.value), toast });
}

export const headers: Route.HeadersFunction = ({ loaderHeaders }) => loaderHeaders;

export const meta: Route.MetaFunction = ({ matches }) =>
  createPageMeta(matches, {
    title: "Contact",
    description: "Write to us, call us or visit our offices. Find addresses, phone numbers and working hours.",
    path: "/contact",
  });

export default function ContactPage(props: Route.ComponentProps) {
  const { actionData } = props;
  const draft = actionData && "draft" in actionData ? actionData.draft : null;
  // A new key empties the form after each success. After an error or a lost connection, the typed values stay.
  const [last, setLast] = useState({ draft, successes: 0 });
  if (draft && draft !== last.draft) setLast({ draft, successes: last.successes + 1 });
  return <ContactContent key={last.successes} {...props} />;
}

function ContactContent({ actionData, loaderData: { opening, hours, prefill } }: Route.ComponentProps) {
  const ready = actionData && "draft" in actionData ? actionData : null;
  const rejected = actionData && !("draft" in actionData) ? actionData : undefined;
  const stored = (!actionData && prefill) || undefined;
  const [form, fields] = useActionForm("contact", rejected, ["name", "email", "subject", "message"], stored);
  const offices = <Offices key="offices" hours={hours} />;
  return (
    <>
      <Title rejected={rejected !== undefined}>Contact</Title>
      {ready && <PageToast toast={ready.toast} />}
      <ErrorSummary {...form} />
      <h1 className="text-2xl">Contact</h1>
      {ready && (
        <div className="mt-6 mb-10">
          <EmailDraftPanel draft={ready.draft} opens />
        </div>
      )}
      <ContactChannels opening={opening} />
      <div
        className={`mt-12 grid gap-12 lg:gap-16 ${prefill ? "lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]" : "lg:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]"}`}
      >
        {/* A prefilled form comes before the offices, because the visitor followed a link to the form. */}
        {!prefill && offices}
        <section key="form" aria-labelledby="write">
          <h2 id="write" className="text-lg">
            {ready ? "Write another message" : "Write to us"}
          </h2>
          <p className="mt-1 mb-6 text-quiet">
            When you continue, your email app opens with this message. Send the message from the app.
          </p>
          <Form method="post" id={form.id} noValidate>
            <div className="sm:grid sm:grid-cols-2 sm:gap-x-4">
              <Field field={fields.name} label="Full Name" autoComplete="name" />
              <Field field={fields.email} label="Email" type="email" autoComplete="email" />
            </div>
            <Field field={fields.subject} label="Subject" autoComplete="off" />
            <TextField field={fields.message} label="Message" mandatory />
            <SubmitButton pending="Preparing…">Continue to email</SubmitButton>
          </Form>
        </section>
        {prefill && offices}
      </div>
    </>
  );
}
