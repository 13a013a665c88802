import { parseWithZod } from "@conform-to/zod/v4";
import { data, Form } from "react-router";
import { showing } from "~/components/act-form";
import { CloseLink, Dialog } from "~/components/dialog";
import { Field } from "~/components/field";
import { type FormField, FormProblems, type Refused, SubmitButton, useActionForm } from "~/components/form";
import { Title } from "~/components/title";
import { buttonLook } from "~/components/ui/button";
import { sentWith } from "~/lib/act-form.server";
import { failure, firstError, refuse } from "~/lib/answer.server";
import { keepTyped } from "~/lib/connection";
import { redirectWithFlash } from "~/lib/flash.server";
import { readForm } from "~/lib/form.server";
import { noPageOf, refusalOfThrown, thrown } from "~/lib/refusal.server";
import { requireClient } from "~/lib/session.server";
import { ChangeShipment, changeShipment } from "~/models/new-shipment.server";
import { getShipment, isUuid, shipmentPath } from "~/models/shipment.server";
import type { Route } from "./+types/portal.$shipmentId_.change";

export { afterConflict as shouldRevalidate } from "~/lib/revalidate";

export async function loader({ context, params, url }: Route.LoaderArgs) {
  const shipment = await getShipment(requireClient(context), params.shipmentId, url);
  if (!shipment) throw noPageOf("portal");
  if ("reason" in shipment) throw thrown(shipment);
  const { id, name, awb, stage, version } = shipment;
  return { page: shipmentPath(id, url), name, awb: awb ?? "", isOpen: stage === 1, version };
}

export async function action({ request, context, params, url }: Route.ActionArgs) {
  const id = params.shipmentId;
  if (!isUuid(id)) throw data("Not found", { status: 404 });
  const client = requireClient(context);
  const form = await readForm(request);
  const submission = parseWithZod(form, { schema: ChangeShipment });
  if (submission.status !== "success") {
    const result = submission.reply();
    return refuse(result, failure("Not changed", firstError(result)));
  }
  const { seen = -1 } = sentWith(form);
  const refused = await changeShipment(client, id, submission.value, seen).catch(refusalOfThrown);
  if (refused) return refuse(submission.reply(), failure("Not changed", refused.reason), refused.status);
  return redirectWithFlash(context, shipmentPath(id, url), { title: "Shipment changed", variant: "default" });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function ChangeShipmentPage({ loaderData, actionData }: Route.ComponentProps) {
  const { page, name, awb, isOpen, version } = loaderData;
  const [form, fields] = useActionForm("change-shipment", actionData, ["name", "awb"]);
  return (
    <Dialog className="static w-full max-w-xl bg-transparent p-0" label="Change shipment" back={page}>
      <Title refused={actionData !== undefined}>Change shipment</Title>
      <FormProblems refused={actionData} form={form} />
      <h1 className="mb-6 text-xl">Change shipment</h1>
      {isOpen ? (
        <Form method="post" replace id={form.id} noValidate>
          <input type="hidden" name="seen" value={version} />
          <Field
            field={showing(fields.name, actionData, name)}
            label="Name of the shipment"
            hint={changed(fields.name, actionData, name)}
            autoComplete="off"
          />
          <Field
            field={showing(fields.awb, actionData, awb)}
            label="AWB/BL"
            hint={changed(fields.awb, actionData, awb) ?? "The number of the air waybill or the bill of lading"}
            optional
            autoComplete="off"
            spellCheck={false}
          />
          <div className="flex flex-wrap gap-3">
            <SubmitButton pending="Saving…">Save</SubmitButton>{" "}
            <CloseLink to={page} className={buttonLook()}>
              Cancel
            </CloseLink>
          </div>
        </Form>
      ) : (
        <p>
          This shipment has moved on: call us to change its name or its AWB/BL.{" "}
          <CloseLink to={page} className="inline-flex min-h-11 items-center underline">
            Back to the shipment
          </CloseLink>
        </p>
      )}
    </Dialog>
  );
}

/** What is stored, beside a refused form that says something else. */
function changed(field: FormField, refused: Refused | undefined, stored: string): string | undefined {
  return refused && field.value !== stored ? `Stored: ${stored || "none"}` : undefined;
}
