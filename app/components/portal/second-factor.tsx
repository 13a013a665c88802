import { useEffect, useRef, useState } from "react";
import { Form } from "react-router";
import type { TotpSetupActionData, TotpSetupData } from "~/actions/second-factor.server";
import { CodeField } from "~/components/forms/code-field";
import { Field } from "~/components/forms/field";
import {
  ErrorSummary,
  PageAccountField,
  type RejectedForm,
  SubmitButton,
  useActionForm,
} from "~/components/forms/form";
import { PageHeading, Title } from "~/components/site/title";
import { ButtonLink, buttonClass, TextLink } from "~/components/ui/button";
import { CloseLink, dialogLinkProps } from "~/components/ui/dialog";
import type { Factor } from "~/lib/auth/viewer.server";
import { eastAfricaTime } from "~/lib/dates";

type Area = "/portal" | "/desk";

export function SecondFactors(props: { area: Area; factors: Factor[]; actionData: TotpSetupActionData | undefined }) {
  const { area, factors, actionData } = props;
  const newSetup = actionData ? ("setup" in actionData ? actionData.setup : undefined) : null;
  // After a lost connection, the page must show the same setup key, because the authenticator app may contain this key.
  const [setup, setSetup] = useState(newSetup);
  if (newSetup !== undefined && newSetup !== setup) setSetup(newSetup);
  return setup ? (
    <FactorSetup
      area={area}
      setup={setup}
      rejected={actionData?.result || actionData?.formError ? actionData : undefined}
    />
  ) : (
    <FactorList area={area} factors={factors} rejected={actionData} />
  );
}

function FactorList(props: { area: Area; factors: Factor[]; rejected: RejectedForm | undefined }) {
  const { area, factors, rejected } = props;
  const [form, fields] = useActionForm("set-up-2fa", rejected, ["name"]);
  return (
    <>
      <PageHeading title="Manage 2FA" className="mb-2 text-xl" form={form} />
      <p className="mb-6 text-quiet">
        {area === "/desk" && factors.length === 0 ? "Set up 2FA to open the desk. " : ""}
        With two-factor authentication (2FA), you log in with your password and a code from an authenticator app, such
        as Google Authenticator. 2FA protects your account even if someone steals your password.
      </p>
      {factors.length > 0 && (
        <ul className="mb-6 ruled rounded-label border border-line bg-raised">
          {factors.map((factor) => (
            <li key={factor.id} className="flex flex-wrap items-center justify-between gap-4 px-4 py-3">
              <span>
                <span className="block font-semibold">{factor.name}</span>
                <span className="text-sm text-quiet">Added {eastAfricaTime(factor.created_at)}</span>
              </span>
              <ButtonLink to={`${area}/2fa/${factor.id}`} {...dialogLinkProps}>
                Remove<span className="sr-only">: {factor.name}</span>
              </ButtonLink>
            </li>
          ))}
        </ul>
      )}
      {factors.length === 1 && (
        <p className="mb-4 text-quiet">
          New phone? First add an authenticator app on your new phone. Then remove your old phone from this list.
        </p>
      )}
      <Form method="post" id={form.id}>
        <PageAccountField />
        <Field
          field={fields.name}
          label="Name of your phone"
          hint="Optional. If you enter no name, we use a name such as “Phone added in May 2026”."
          optional
          autoComplete="off"
        />
        <SubmitButton name="begin" look={factors.length > 0 ? "plain" : "action"} pending="Preparing…">
          {factors.length > 0 ? "Add another authenticator app" : "Set up 2FA"}
        </SubmitButton>
      </Form>
      <p className="mt-4">
        {(area === "/portal" || factors.length > 0) && (
          <CloseLink to={area} className="inline-flex min-h-11 items-center underline">
            {area === "/portal" ? "Back to My Shipments" : "Back to the desk"}
          </CloseLink>
        )}
      </p>
    </>
  );
}

function FactorSetup(props: { area: Area; setup: TotpSetupData; rejected: RejectedForm | undefined }) {
  const { area, setup, rejected } = props;
  const [form, fields] = useActionForm("confirm-2fa", rejected, ["code"]);
  const heading = useRef<HTMLHeadingElement>(null);
  // Submitting the form removed the focused button, so the heading gets the focus.
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <>
      <Title rejected={rejected !== undefined}>Set up 2FA</Title>
      <ErrorSummary {...form} />
      <h1 ref={heading} tabIndex={-1} className="mb-4 text-xl">
        Set up 2FA
      </h1>
      <ol className="mb-6 grid list-decimal gap-4 pl-6">
        <li>
          Add your account to your authenticator app. If the app is on another device, scan this QR code:
          <div
            role="img"
            aria-label="QR code for your authenticator app"
            className="my-2 size-52 bg-white [&>svg]:size-full"
            dangerouslySetInnerHTML={{ __html: setup.qr }}
          />
          If the app is on this device:
          <a href={setup.uri} className="flex min-h-11 w-fit items-center underline">
            Open your authenticator app
          </a>
          Or type this key into the app:
          <span className="mt-1 block font-mono text-base break-words">{setup.secret.match(/.{1,4}/g)?.join(" ")}</span>
        </li>
        <li>Enter the current code from the app.</li>
      </ol>
      <Form method="post" replace id={form.id} noValidate>
        <PageAccountField />
        <input type="hidden" name="factorId" value={setup.factorId} />
        <input type="hidden" name="secret" value={setup.secret} />
        <CodeField field={fields.code} />
        <div className="flex flex-wrap gap-3">
          <SubmitButton pending="Checking…">Enable 2FA</SubmitButton>
          <TextLink to={`${area}/2fa`} className="px-4">
            Cancel
          </TextLink>
        </div>
      </Form>
    </>
  );
}

export function FactorRemoval(props: { area: Area; name: string; actionData: RejectedForm | undefined }) {
  const { area, name, actionData: rejected } = props;
  const [form, fields] = useActionForm("remove-2fa", rejected, ["code"]);
  return (
    <>
      <PageHeading title="Remove authenticator app" className="mb-2 text-xl" form={form} />
      <p className="mb-6 text-quiet">
        When you remove the app “{name}”, its codes stop working. To confirm, enter a code from any of your
        authenticator apps.
      </p>
      <Form method="post" replace id={form.id} noValidate>
        <CodeField field={fields.code} />
        <div className="flex flex-wrap gap-3">
          <SubmitButton pending="Removing…">Remove</SubmitButton>
          <CloseLink to={`${area}/2fa`} className={buttonClass()}>
            Cancel
          </CloseLink>
        </div>
      </Form>
    </>
  );
}
