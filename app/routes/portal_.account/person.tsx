/** Who the account is of, and how it is opened. */
import { ActForm, showing, useAct } from "~/components/act-form";
import { CodeFields } from "~/components/code-field";
import { Field } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { PasswordField, PasswordOf } from "~/components/password-field";
import { Card } from "~/components/ui/card";
import type { Part } from "./route";

export function Name({ account, answer }: Part) {
  const { id, act, fields, refused } = useAct("name", answer, ["fullName"]);
  return (
    <Card title="Name">
      <ActForm id={id} act={act} className="px-4 py-3">
        <Field field={showing(fields.fullName, refused, account.name)} label="Full name" autoComplete="name" />
        <SubmitButton look="plain" pending="Saving…">
          Save name
        </SubmitButton>
      </ActForm>
    </Card>
  );
}

export function Password({ account, answer }: Part) {
  const { id, act, fields } = useAct("password", answer, ["present", "password", "factor", "code"]);
  return (
    <Card title="Password">
      <ActForm id={id} act={act} className="px-4 py-3">
        <p className="mb-3 text-sm text-quiet">Every other device is signed out.</p>
        <PasswordOf email={account.email} />
        <PasswordField field={fields.present} label="Current password" autoComplete="current-password" />
        <PasswordField
          field={fields.password}
          label="New password"
          hint={`At least ${account.least} characters`}
          autoComplete="new-password"
        />
        <CodeFields factors={account.factors} fields={fields} />
        <SubmitButton look="plain" pending="Changing…">
          Change password
        </SubmitButton>
      </ActForm>
    </Card>
  );
}

export function Email({ account, answer }: Part) {
  const { id, act, fields } = useAct("email", answer, ["email", "present", "factor", "code"]);
  return (
    <Card title="E-mail address">
      <ActForm id={id} act={act} className="px-4 py-3">
        {account.new_email && (
          <p className="mb-3 text-sm text-needs-you wrap-anywhere">
            We wrote to {account.new_email}. Your address changes when you open the link in that mail.
          </p>
        )}
        <PasswordOf email={account.email} />
        <Field field={fields.email} label="New e-mail address" type="email" autoComplete="email" />
        <PasswordField field={fields.present} label="Current password" autoComplete="current-password" />
        <CodeFields factors={account.factors} fields={fields} />
        <SubmitButton look="plain" pending="Sending…">
          Change email
        </SubmitButton>
      </ActForm>
    </Card>
  );
}
