import { type FetcherWithComponents, Form } from "react-router";
import { Field, SelectField, TextField } from "../forms/field";
import { FormErrorSummary, type RejectedForm, SubmitButton, useActionForm } from "../forms/form";

/**
 * The quote form, in the panel over a page and on its own page after a refusal. `from` is where the person was; with a
 * fetcher the answer comes to where the form stands.
 */
export function QuoteForm(props: {
  services: string[];
  from: string;
  refused?: RejectedForm;
  fetcher?: FetcherWithComponents<unknown>;
  /** What a page of ours that led here fills in. */
  begun?: { service: string; message: string } | null;
  /** The h1 of a page that is nothing but this form. */
  heading?: string;
}) {
  const { services, from, refused, begun, heading, fetcher } = props;
  const Sent = fetcher?.Form ?? Form;
  const [form, fields] = useActionForm("quote", refused, ["name", "email", "phone", "service", "message"]);
  const service = begun ? { ...fields.service, value: begun.service } : fields.service;
  const message = begun ? { ...fields.message, value: begun.message } : fields.message;
  return (
    <>
      <FormErrorSummary refused={refused} form={form} />
      {heading && <h1 className="mb-6 text-xl">{heading}</h1>}
      <Sent method="post" action="/actions/quote" id={form.id} noValidate>
        <input type="hidden" name="from" value={from} />
        <Field field={fields.name} label="Full Name" autoComplete="name" />
        <Field field={fields.email} label="Email" type="email" autoComplete="email" />
        <Field field={fields.phone} label="Phone" type="tel" autoComplete="tel" />
        <SelectField field={service} label="Service" options={services} prompt="Choose a service" />
        <TextField field={message} label="Message" hint="Optional: what, how much, from where, to where, by when" />
        <SubmitButton pending="Preparing…" sending={fetcher && fetcher.state !== "idle"} className="w-full">
          Prepare the mail
        </SubmitButton>
      </Sent>
    </>
  );
}
