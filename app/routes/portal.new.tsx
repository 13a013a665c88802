import { randomUUID } from "node:crypto";
import { parseWithZod } from "@conform-to/zod/v4";
import { Form, redirect, useOutletContext } from "react-router";
import { CloseLink, Dialog } from "~/components/dialog";
import { Field } from "~/components/field";
import { FormProblems, SubmitButton, useActionForm } from "~/components/form";
import { useDraft } from "~/components/portal/use-draft";
import { Title } from "~/components/title";
import { buttonLook } from "~/components/ui/button";
import { failure, firstError, refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { refusalOfThrown } from "~/lib/refusal.server";
import { clientOrRefusal } from "~/lib/session.server";
import { CreateShipment, createShipment } from "~/models/new-shipment.server";
import type { Route } from "./+types/portal.new";
import type { Overview } from "./portal";

export function loader() {
  return { requestId: randomUUID() };
}

export async function action({ request, context }: Route.ActionArgs) {
  const client = clientOrRefusal(context);
  const form = await readForm(request);
  const submission = parseWithZod(form, { schema: CreateShipment });
  if (submission.status !== "success") {
    // A form without a valid requestId gets a new one.
    const result = submission.reply({ hideFields: submission.error?.requestId ? ["requestId"] : [] });
    return refuse(result, failure("Failed to create shipment", firstError(result)));
  }
  // An empty name creates nothing and shows no message (decisions.md).
  if (submission.value.name === "") return redirect("/portal", 303);
  const made = "reason" in client ? client : await createShipment(client, submission.value).catch(refusalOfThrown);
  if ("reason" in made)
    return refuse(submission.reply(), failure("Failed to create shipment", made.reason), made.status);
  return redirectWithFlash(context, `/portal/${made.id}`, {
    title: "Shipment created",
    description: "Upload its documents next.",
    variant: "default",
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function CreateShipmentPage({ actionData, loaderData }: Route.ComponentProps) {
  const { person } = useOutletContext<Overview>();
  const [form, fields] = useActionForm("create-shipment", actionData, ["name", "awb"]);
  useDraft(form.id, person);
  // A refused form keeps its requestId: if the shipment was made after all, a retry finds that one.
  const sent = actionData?.result?.initialValue?.requestId;
  const requestId = typeof sent === "string" ? sent : loaderData.requestId;
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Create Shipment" back="/portal">
      <Title refused={actionData !== undefined}>Create Shipment</Title>
      <FormProblems refused={actionData} form={form} />
      <h1 className="mb-6 text-xl">Create Shipment</h1>
      <Form method="post" replace id={form.id} noValidate>
        <input type="hidden" name="requestId" value={requestId} />
        <Field
          field={fields.name}
          label="Name of the shipment"
          hint="For yourself, such as the goods and where they go"
          autoComplete="off"
        />
        <Field
          field={fields.awb}
          label="AWB/BL"
          hint="The number of the air waybill or the bill of lading, if you have it"
          optional
          autoComplete="off"
          spellCheck={false}
        />
        <div className="flex flex-wrap gap-3">
          <SubmitButton pending="Creating…">Create Shipment</SubmitButton>{" "}
          <CloseLink to="/portal" className={buttonLook()}>
            Cancel
          </CloseLink>
        </div>
      </Form>
    </Dialog>
  );
}
