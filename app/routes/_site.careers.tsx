import { Form } from "react-router";
import { z } from "zod";
import { Field, FileField, TextField } from "~/components/forms/field";
import { SubmitButton, useActionForm, useResetCount } from "~/components/forms/form";
import { Art } from "~/components/site/art";
import { PageHeading } from "~/components/site/title";
import { readUpload } from "~/lib/forms/form-data.server";
import { parseFormAsync, rejectForm } from "~/lib/forms/rejected-form.server";
import { severalLines } from "~/lib/forms/text-fields";
import { createPageMeta } from "~/lib/http/page-meta";
import { redirectWithToast } from "~/lib/http/toast.server";
import { emailAddress, personName } from "~/models/contact";
import { careers, companyDetails } from "~/models/content.server";
import { detectFileType, FILE_TYPES, formatChoices, listExtensions, unknownTypeError } from "~/models/file-type.server";
import type { Route } from "./+types/_site.careers";

const cvExtensions = listExtensions(FILE_TYPES.filter(({ label }) => label === "PDF" || label === "Word"));
const cvChoices = formatChoices(cvExtensions);
/** Word can also save an RTF document with the extension .doc. */
const cvLabels = ["PDF", "Word", "RTF"];

const ApplicationFields = z.object({
  name: personName,
  email: emailAddress,
  cv: z.instanceof(File, { error: "Choose your CV." }).superRefine(async (file, issues) => {
    const type = detectFileType(file.name, new Uint8Array(await file.arrayBuffer()));
    if ("label" in type ? !cvLabels.includes(type.label) : type === unknownTypeError)
      issues.addIssue(`Choose a CV that is a ${cvChoices} file.`);
    else if ("reason" in type) issues.addIssue(type.reason);
  }),
  letter: severalLines("").max(2000, "Use at most 2,000 characters for the cover letter.").optional(),
});

export { revalidateExceptForQuote as shouldRevalidate } from "~/lib/browser/revalidate";

const applicationEmail = companyDetails.offices[0]?.email;

export function loader() {
  return { ...careers, email: applicationEmail, accept: cvExtensions.join(), hint: `A ${cvChoices} file, up to 10 MB` };
}

/** Validates an application. The site neither sends nor stores the application. */
export function action({ request, context }: Route.ActionArgs) {
  return readUpload(request, context, undefined, async (form) => {
    const submission = await parseFormAsync(form instanceof FormData ? form : form.fields, ApplicationFields);
    if (!(form instanceof FormData)) {
      const { initialValue } = submission.reply();
      const reason = form.status === 413 ? `${form.reason} Choose a smaller file.` : form.reason;
      return rejectForm({ status: "error", initialValue, error: { cv: [reason] } }, undefined, form.status);
    }
    if (submission.status !== "success") return rejectForm(submission.reply());
    return redirectWithToast(context, "/careers", {
      title: "Thank you for your interest",
      description: `Your application has not been sent yet. Email your application to ${applicationEmail}.`,
      variant: "default",
    });
  });
}

export const meta: Route.MetaFunction = ({ matches, loaderData }) =>
  createPageMeta(matches, {
    title: "Careers",
    description: loaderData?.description ?? "",
    path: "/careers",
  });

export default function CareersPage(props: Route.ComponentProps) {
  const { loaderData } = props;
  return (
    <div className="grid gap-12 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] lg:gap-20">
      <CareersForm {...props} />
      <WorkingHere facts={loaderData.working_here} note={loaderData.note} />
    </div>
  );
}

function CareersForm({ actionData, loaderData: { intro, email, accept, hint } }: Route.ComponentProps) {
  const [form, fields] = useActionForm("careers", actionData, ["name", "email", "letter", "cv"]);
  const successCount = useResetCount(form.id, actionData);
  return (
    <div>
      <PageHeading title="Careers" className="mb-2 text-2xl" form={form} />
      <p className="mb-4 max-w-prose text-lg text-quiet">{intro}</p>
      <p className="mb-6 max-w-prose border-l-2 border-attention pl-4">
        This form checks your application, but does not send or store it. To apply, email your application to{" "}
        <a className="py-3.5 underline" href={`mailto:${email}`}>
          {email}
        </a>
        .
      </p>
      {/* A rejected form has the same key as before, so that the chosen file stays. */}
      <Form key={successCount} method="post" encType="multipart/form-data" id={form.id} noValidate>
        <input type="hidden" name="form" value={form.id} />
        <div className="sm:grid sm:grid-cols-2 sm:gap-x-4">
          <Field field={fields.name} label="Full Name" autoComplete="name" />
          <Field field={fields.email} label="Email" type="email" autoComplete="email" />
        </div>
        <TextField field={fields.letter} label="Cover letter" hint="Optional" />
        <FileField field={fields.cv} label="CV" hint={hint} accept={accept} />
        <SubmitButton pending="Checking…">Check application</SubmitButton>
      </Form>
    </div>
  );
}

function WorkingHere({ facts, note }: { facts: { title: string; text: string }[]; note: string | undefined }) {
  return (
    <aside className="md:grid md:grid-cols-2 md:items-start md:gap-8 lg:block">
      <Art name="story-customs-desk" className="mb-6 w-full rounded-label border border-line" />
      <div>
        <h2 className="text-lg">Working with us</h2>
        <ul className="mt-4 ml-1.5 border-l-2 border-action">
          {facts.map(({ title, text }) => (
            <li
              key={title}
              className="relative pb-5 pl-6 before:absolute before:top-1.5 before:-left-[7px] before:size-3 before:rounded-full before:border-2 before:border-action before:bg-surface last:pb-0"
            >
              <h3 className="font-semibold">{title}</h3>
              <p className="text-quiet">{text}</p>
            </li>
          ))}
        </ul>
        {note && <p className="mt-5 text-sm text-quiet">{note}</p>}
      </div>
    </aside>
  );
}
