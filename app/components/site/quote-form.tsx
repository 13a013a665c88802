import { type FetcherWithComponents, Form } from "react-router";
import { Field, SelectField, TextField } from "../forms/field";
import { ErrorSummary, type RejectedForm, SubmitButton, useActionForm } from "../forms/form";

export function QuoteForm(props: {
  services: string[];
  from: string;
  rejected?: RejectedForm;
  fetcher?: FetcherWithComponents<unknown>;
  prefill?: { service: string; message: string };
  heading?: string;
}) {
  const { services, from, rejected, prefill, heading, fetcher } = props;
  const QuoteFormElement = fetcher?.Form ?? Form;
  const [form, fields] = useActionForm("quote", rejected, ["name", "email", "phone", "service", "message"], prefill);
  return (
    <>
      <ErrorSummary {...form} />
      {heading && <h1 className="mb-6 text-xl">{heading}</h1>}
      <QuoteFormElement method="post" action="/actions/quote" id={form.id} noValidate>
        <input type="hidden" name="from" value={from} />
        <Field field={fields.name} label="Full Name" autoComplete="name" />
        <Field field={fields.email} label="Email" type="email" autoComplete="email" />
        <Field field={fields.phone} label="Phone" type="tel" autoComplete="tel" />
        <SelectField field={fields.service} label="Service" options={services} prompt="Choose a service" />
        <TextField
          field={fields.message}
          label="Message"
          hint="Optional. What are you shipping, how much, from where, to where, and when?"
        />
        <SubmitButton pending="Preparing…" sending={fetcher && fetcher.state !== "idle"} className="w-full">
          Continue to email
        </SubmitButton>
      </QuoteFormElement>
    </>
  );
}
