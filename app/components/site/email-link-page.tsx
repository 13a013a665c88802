/** The page behind a link that came by mail: a password, and a code where the account has a second factor. */
import type { ReactNode } from "react";
import { Form, Link } from "react-router";
import { LostAuthenticatorHelp, SecondFactorFields } from "../forms/code-field";
import { FormErrorSummary, type RejectedForm, SubmitButton, useActionForm } from "../forms/form";
import { PasswordField } from "../forms/password-field";
import { Title } from "./title";

/** `link` is null for one that opens nothing; `gone` says what to do then. `password` names the field and its rule. */
export function EmailLinkPage(props: {
  id: string;
  title: string;
  /** The title as its h1 shows it, where that is not the plain text. */
  heading?: ReactNode;
  link: { token: string; factors: string[] } | null;
  answer: RejectedForm | undefined;
  password: { label: string; hint?: string; autoComplete: string };
  button: string;
  pending: string;
  gone: ReactNode;
  children?: ReactNode;
}) {
  const { id, title, heading = title, link, answer, password, button, pending, gone, children } = props;
  const [form, fields] = useActionForm(id, answer, ["password", "code", "factor"]);
  return (
    <>
      <Title refused={answer !== undefined}>{title}</Title>
      <FormErrorSummary refused={answer} form={form} />
      <h1 className="mb-6 text-xl">{heading}</h1>
      {link ? (
        <Form method="post" replace id={form.id} noValidate>
          {children}
          <input type="hidden" name="token" value={link.token} />
          <PasswordField field={fields.password} {...password} />
          <SecondFactorFields factors={link.factors} fields={fields} />
          <SubmitButton pending={pending} className="w-full">
            {button}
          </SubmitButton>
        </Form>
      ) : (
        <p>{gone}</p>
      )}
      {link && link.factors.length > 0 && <LostAuthenticatorHelp />}
      <p className="mt-6">
        <Link to="/login" className="inline-flex min-h-11 items-center underline">
          Log in
        </Link>
      </p>
    </>
  );
}
