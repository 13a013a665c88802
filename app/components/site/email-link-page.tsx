import type { ReactNode } from "react";
import { Form } from "react-router";
import { LostAuthenticatorHelp, SecondFactorFields } from "../forms/code-field";
import { type RejectedForm, SubmitButton, useActionForm } from "../forms/form";
import { PasswordField } from "../forms/password-field";
import { TextLink } from "../ui/button";
import { PageHeading } from "./title";

/** If the link is invalid or has expired, `link` is null and the page shows the text `expired` instead of the form. */
export function EmailLinkPage(props: {
  id: string;
  title: string;
  link: { token: string; factors: string[] } | null;
  actionData: RejectedForm | undefined;
  password: { label: string; hint?: string; autoComplete: string };
  button: string;
  pending: string;
  expired: ReactNode;
  children?: ReactNode;
}) {
  const { id, title, link, actionData: rejected, password, button, pending, expired, children } = props;
  const [form, fields] = useActionForm(id, rejected, ["password", "code", "factor"]);
  return (
    <>
      <PageHeading title={title} className="mb-6 text-xl" form={form} />
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
        <p>{expired}</p>
      )}
      {link && link.factors.length > 0 && <LostAuthenticatorHelp />}
      <p className="mt-6">
        <TextLink to="/login">Log in</TextLink>
      </p>
    </>
  );
}
