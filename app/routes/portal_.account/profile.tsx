import { SecondFactorFields } from "~/components/forms/code-field";
import { Field } from "~/components/forms/field";
import { SubmitButton } from "~/components/forms/form";
import { IntentForm, useIntentForm } from "~/components/forms/intent-form";
import { HiddenUsername, PasswordField } from "~/components/forms/password-field";
import { PhoneFields } from "~/components/forms/phone-fields";
import { Card } from "~/components/ui/card";
import { getPhoneCountry } from "~/models/phone";
import type { Route } from "./+types/route";

export type AccountSectionProps = { account: Route.ComponentProps["loaderData"] };

export function NameSection({ account }: AccountSectionProps) {
  const { intent, fields } = useIntentForm("name", ["fullName"], { stored: { fullName: account.name } });
  return (
    <Card title="Name">
      <IntentForm intent={intent} className="px-4 py-3">
        <Field field={fields.fullName} label="Full name" autoComplete="name" />
        <SubmitButton look="plain">Save name</SubmitButton>
      </IntentForm>
    </Card>
  );
}

export function PhoneSection({ account }: AccountSectionProps) {
  const { intent, fields } = useIntentForm("phone", ["phone", "country"], {
    stored: { phone: account.phone ?? "", country: getPhoneCountry(account.phone) },
  });
  return (
    <Card title="Telephone">
      <IntentForm intent={intent} className="px-4 py-3">
        <p className="mb-3 text-sm text-quiet">
          Optional. Our team uses the number to call you or to write on WhatsApp about your shipments and your account.
          To remove the number, empty the field and save.
        </p>
        <PhoneFields fields={fields} autoComplete="tel" />
        <SubmitButton look="plain">Save telephone number</SubmitButton>
      </IntentForm>
    </Card>
  );
}

export function PasswordSection({ account }: AccountSectionProps) {
  const { intent, fields } = useIntentForm("password", ["currentPassword", "password", "factor", "code"]);
  return (
    <Card title="Password">
      <IntentForm intent={intent} className="px-4 py-3">
        <p className="mb-3 text-sm text-quiet">When you change your password, we sign you out on all other devices.</p>
        <HiddenUsername email={account.email} />
        <PasswordField field={fields.currentPassword} label="Current password" autoComplete="current-password" />
        <PasswordField
          field={fields.password}
          label="New password"
          hint={`At least ${account.minPasswordLength} characters`}
          autoComplete="new-password"
        />
        <SecondFactorFields factors={account.factors} fields={fields} />
        <SubmitButton look="plain" pending="Changing…">
          Change password
        </SubmitButton>
      </IntentForm>
    </Card>
  );
}

export function EmailSection({ account }: AccountSectionProps) {
  const { intent, fields } = useIntentForm("email", ["email", "currentPassword", "factor", "code"]);
  return (
    <Card title="Email">
      <IntentForm intent={intent} className="px-4 py-3">
        {account.new_email && (
          <p className="mb-3 text-sm text-attention wrap-anywhere">
            We sent an email to {account.new_email}. Open the link in that email to confirm your new email address.
          </p>
        )}
        <HiddenUsername email={account.email} />
        <Field field={fields.email} label="New email" type="email" autoComplete="email" />
        <PasswordField field={fields.currentPassword} label="Current password" autoComplete="current-password" />
        <SecondFactorFields factors={account.factors} fields={fields} />
        <SubmitButton look="plain" pending="Sending…">
          Change email
        </SubmitButton>
      </IntentForm>
    </Card>
  );
}
