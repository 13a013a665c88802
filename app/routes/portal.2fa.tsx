import { parseWithZod } from "@conform-to/zod/v4";
import { useEffect, useRef, useState } from "react";
import { data, Form, Link } from "react-router";
import { z } from "zod";
import { CodeField } from "~/components/code-field";
import { CloseLink, Dialog, opensOver } from "~/components/dialog";
import { Flash } from "~/components/flash";
import { FormProblems, type Refused, SubmitButton, useActionForm } from "~/components/form";
import { Title } from "~/components/title";
import { ButtonLink } from "~/components/ui/button";
import { codeErrors, failure, firstError, refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { theCompany } from "~/lib/content.server";
import { eastAfricaTime } from "~/lib/dates";
import type { Toast } from "~/lib/flash";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { limitsOf } from "~/lib/limits.server";
import { refusalOfThrown } from "~/lib/refusal.server";
import { type Factor, requireClient } from "~/lib/session.server";
import { Code, giveCode, qrCode, setupUri, startSetup } from "~/models/second-factor.server";
import type { Route } from "./+types/portal.2fa";

/** Hidden fields of the set-up form, as auth made them. */
const Begun = z.object({ factorId: z.uuid(), secret: z.string().regex(/^[A-Z2-7]{16,128}$/) });
const Confirm = z.object({ code: Code });

export function loader({ context }: Route.LoaderArgs) {
  return { factors: requireClient(context).factors };
}

/** Without a factor begins one; with a factor and its code confirms it. The secret lives only in the page's form. */
export async function action({ request, context }: Route.ActionArgs) {
  const client = requireClient(context);
  const form = await readForm(request);
  const issuer = theCompany.short_name;
  if (!form.has("factorId")) {
    const setup = await startSetup(client, issuer).catch(refusalOfThrown);
    if ("reason" in setup) return notBegun(failure("Error setting up 2FA", setup.reason), setup.status);
    return data({ result: null, toast: undefined, setup: shown(setup.factorId, setup.secret, setup.uri) });
  }

  const begun = Begun.safeParse({ factorId: form.get("factorId"), secret: form.get("secret") });
  if (!begun.success) return notBegun(failure("Verification failed", "This form arrived damaged. Start again."), 400);
  const { factorId, secret } = begun.data;
  const setup = shown(factorId, secret, setupUri(secret, client.email, issuer));
  const submission = parseWithZod(form, { schema: Confirm });
  if (submission.status !== "success") {
    const result = submission.reply({ hideFields: ["code"] });
    return refuse(result, failure("Verification failed", firstError(result)), 400, { setup });
  }
  const failed = await giveCode(client, limitsOf(context), factorId, submission.value.code);
  // A set-up in another window has replaced this factor: no code can confirm it.
  if (failed?.status === 409) return notBegun(failure(failed.title, failed.reason), 409);
  if (failed) {
    const result = submission.reply({ hideFields: ["code"], fieldErrors: codeErrors(failed) });
    return refuse(result, failure(failed.title, failed.reason), failed.status, { setup });
  }
  return redirectWithFlash(context, "/portal", {
    title: "2FA Enabled!",
    description: "Your account is now more secure.",
    variant: "default",
  });
}

/** The page before a set-up, with a toast that says why none began. */
function notBegun(toast: Toast, status: number) {
  return data({ result: null, toast, setup: null }, { status });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

type Shown = { factorId: string; secret: string; uri: string; qr: string };

function shown(factorId: string, secret: string, uri: string): Shown {
  return { factorId, secret, uri, qr: qrCode(uri) };
}

export default function TwoFactorPage({ actionData, loaderData }: Route.ComponentProps) {
  const { result, toast } = actionData ?? {};
  const answered = actionData ? ("setup" in actionData ? actionData.setup : undefined) : null;
  // If the connection is lost while a code is sent, the key already added to the authenticator stays in view.
  const [setup, setSetup] = useState(answered);
  if (answered !== undefined && answered !== setup) setSetup(answered);
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Manage 2FA" back="/portal">
      {setup ? (
        <SetUp setup={setup} refused={result ? { result, toast } : undefined} />
      ) : (
        <Factors factors={loaderData.factors} failed={toast} />
      )}
    </Dialog>
  );
}

function Factors({ factors, failed }: { factors: Factor[]; failed: Toast | undefined }) {
  return (
    <>
      <Title refused={failed !== undefined}>Manage 2FA</Title>
      {failed && <Flash toast={failed} />}
      <h1 className="mb-2 text-xl">Manage 2FA</h1>
      <p className="mb-6 text-quiet">
        With two-factor authentication, your account opens with your password and a code from an app on your phone. A
        stolen password alone opens nothing.
      </p>
      {factors.length > 0 && (
        <ul className="mb-6 ruled rounded-label border border-line bg-raised">
          {factors.map((factor) => (
            <li key={factor.id} className="flex flex-wrap items-center justify-between gap-4 px-4 py-3">
              <span>
                <span className="block font-semibold">{factor.name}</span>
                <span className="text-sm text-quiet">Added {eastAfricaTime(factor.created)}</span>
              </span>
              <ButtonLink to={`/portal/2fa/${factor.id}`} {...opensOver}>
                Remove<span className="sr-only"> {factor.name}</span>
              </ButtonLink>
            </li>
          ))}
        </ul>
      )}
      <Form method="post">
        <SubmitButton name="begin" look={factors.length > 0 ? "plain" : "action"} pending="Preparing…">
          {factors.length > 0 ? "Add another authenticator" : "Set up 2FA"}
        </SubmitButton>
      </Form>
      <p className="mt-4">
        <CloseLink to="/portal" className="inline-flex min-h-11 items-center underline">
          Back to the shipments
        </CloseLink>
      </p>
    </>
  );
}

function SetUp({ setup, refused }: { setup: Shown; refused: Refused | undefined }) {
  const [form, fields] = useActionForm("confirm-2fa", refused, ["code"]);
  const heading = useRef<HTMLHeadingElement>(null);
  // The button that had the focus is gone.
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <>
      <Title refused={refused !== undefined}>Set up 2FA</Title>
      <FormProblems refused={refused} form={form} />
      <h1 ref={heading} tabIndex={-1} className="mb-4 text-xl">
        Set up 2FA
      </h1>
      <ol className="mb-6 grid list-decimal gap-4 pl-6">
        <li>
          Scan this picture with an authenticator app on another device.
          <div
            role="img"
            aria-label="QR code for your authenticator app"
            className="mt-2 size-52 bg-white [&>svg]:size-full"
            dangerouslySetInnerHTML={{ __html: setup.qr }}
          />
        </li>
        <li>
          Or, if the app is on this device:
          <a href={setup.uri} className="flex min-h-11 w-fit items-center underline">
            open it from here
          </a>
          or type this key into it:
          <span className="mt-1 block font-mono text-base break-words">{setup.secret.match(/.{1,4}/g)?.join(" ")}</span>
        </li>
        <li>Enter the code that the app shows now.</li>
      </ol>
      <Form method="post" replace id={form.id} noValidate>
        <input type="hidden" name="factorId" value={setup.factorId} />
        <input type="hidden" name="secret" value={setup.secret} />
        <CodeField field={fields.code} />
        <div className="flex flex-wrap gap-3">
          <SubmitButton pending="Checking…">Enable 2FA</SubmitButton>
          <Link to="/portal/2fa" className="inline-flex min-h-11 items-center px-4 underline">
            Cancel
          </Link>
        </div>
      </Form>
    </>
  );
}
