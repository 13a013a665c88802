import { parseWithZod } from "@conform-to/zod/v4";
import { data, Form } from "react-router";
import { z } from "zod";
import { Field, TextField } from "~/components/field";
import { Flash } from "~/components/flash";
import { FormProblems, type Refused, SubmitButton, useActionForm } from "~/components/form";
import { MailReady } from "~/components/site/mail-ready";
import { useSiteData } from "~/components/site-data";
import { Title } from "~/components/title";
import { refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { costRates, home, hours, services, theCompany } from "~/lib/content.server";
import { dayInEastAfrica } from "~/lib/dates";
import type { Toast } from "~/lib/flash";
import { readForm } from "~/lib/form.server";
import { seo } from "~/lib/seo";
import { emailAddress, personName } from "~/models/contact";
import { quoteForCost, readCost } from "~/models/cost.server";
import { contactDraft } from "~/models/mail-draft";
import { oneLine, severalLines } from "~/models/text";
import type { Route } from "./+types/_site.contact";

export { exceptForQuote as shouldRevalidate } from "~/lib/revalidate";

const Contact = z.object({
  name: personName,
  email: emailAddress,
  subject: oneLine("Enter a subject.")
    .min(1, "Enter a subject.")
    .max(150, "Use at most 150 characters for the subject."),
  message: severalLines("Write your message.")
    .min(1, "Write your message.")
    .max(2000, "Use at most 2,000 characters for the message."),
});

/** What links of ours ask about. A link of somebody else's puts no words in the form. */
const subjects = new Set([...home.search_terms, ...services.services.map(({ title }) => title)]);

/**
 * `?what=…`, the search of /resources/cost, begins the form with a request for a quote for that import; `?about=…` with one of
 * our subjects.
 */
export function loader({ url }: Route.LoaderArgs) {
  const about = url.searchParams.get("about");
  if (about && subjects.has(about)) return { hours, begun: { subject: about, message: "" } };
  const cargo = readCost(url.searchParams, costRates, dayInEastAfrica(new Date()))?.cargo;
  return { hours, begun: cargo ? quoteForCost(cargo, costRates) : null };
}

export async function action({ request }: Route.ActionArgs) {
  const form = await readForm(request);
  const submission = parseWithZod(form, { schema: Contact });
  if (submission.status !== "success") return refuse(submission.reply());
  const [office] = theCompany.offices;
  const toast: Toast = { title: "Opening Email Client...", variant: "default" };
  return data({ draft: contactDraft(office?.email ?? "", submission.value), toast });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export const meta: Route.MetaFunction = ({ matches }) =>
  seo(matches, {
    title: "Contact",
    description: "Write, call or visit our offices: addresses, numbers and working hours.",
    path: "/contact",
  });

export default function ContactPage({ actionData, loaderData }: Route.ComponentProps) {
  const company = useSiteData()?.company;
  const refused = actionData && !("draft" in actionData) ? actionData : undefined;
  const ready = actionData && "draft" in actionData ? actionData : null;
  return (
    <>
      <Title refused={refused !== undefined}>Contact</Title>
      {ready && <Flash toast={ready.toast} />}
      <div className="grid gap-10 lg:grid-cols-[3fr_2fr]">
        <div>
          {ready ? (
            <>
              <h1 className="mb-6 text-xl">Contact</h1>
              <MailReady draft={ready.draft} opens />
              <h2 className="mt-10 mb-4 text-lg">Another message</h2>
            </>
          ) : null}
          <ContactForm
            key={ready ? "anew" : "first"}
            refused={refused}
            begun={actionData ? null : loaderData.begun}
            isFirst={!ready}
          />
        </div>
        <div className="grid content-start gap-8">
          {company?.offices.map((office) => (
            <address key={office.name} className="border-l-2 border-action pl-4 not-italic">
              <h2 className="font-semibold">{office.name}</h2>
              <p className="text-quiet">{office.address}</p>
              {office === company.offices[0] && (
                <p>
                  <a
                    className="inline-flex min-h-11 items-center underline"
                    href={`tel:${office.phone.replaceAll(" ", "")}`}
                  >
                    {office.phone}
                  </a>
                </p>
              )}
              <p>
                <a className="inline-flex min-h-11 items-center underline" href={`mailto:${office.email}`}>
                  {office.email}
                </a>
              </p>
            </address>
          ))}
          <section className="border-l-2 border-line pl-4">
            <h2 className="font-semibold">Working hours</h2>
            <dl className="mt-1 text-quiet">
              {loaderData.hours.map((line) => (
                <div key={line.days} className="flex flex-wrap justify-between gap-x-6">
                  <dt>{line.days}</dt>
                  <dd className="tabular-nums">{line.hours}</dd>
                </div>
              ))}
            </dl>
            <p className="mt-1 text-sm text-quiet">East Africa Time</p>
          </section>
        </div>
      </div>
    </>
  );
}

function ContactForm(props: {
  refused: Refused | undefined;
  begun: { subject: string; message: string } | null;
  isFirst: boolean;
}) {
  const { refused, begun, isFirst } = props;
  const [form, fields] = useActionForm("contact", refused, ["name", "email", "subject", "message"]);
  const subject = begun ? { ...fields.subject, value: begun.subject } : fields.subject;
  const message = begun ? { ...fields.message, value: begun.message } : fields.message;
  return (
    <>
      <FormProblems refused={refused} form={form} />
      {isFirst && <h1 className="mb-2 text-xl">Contact</h1>}
      <p className="mb-6 text-quiet">Your mail application opens with what you write here. You send it from there.</p>
      <Form method="post" id={form.id} noValidate>
        <Field field={fields.name} label="Full Name" autoComplete="name" />
        <Field field={fields.email} label="Email" type="email" autoComplete="email" />
        <Field field={subject} label="Subject" autoComplete="off" />
        <TextField field={message} label="Message" mandatory />
        <SubmitButton pending="Preparing…">Prepare the mail</SubmitButton>
      </Form>
    </>
  );
}
