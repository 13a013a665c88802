import { randomUUID } from "node:crypto";
import { data } from "react-router";
import { z } from "zod";
import { ActForm, ActProblems, requestOf, useAct } from "~/components/act-form";
import { Field, TextField } from "~/components/field";
import { SubmitButton } from "~/components/form";
import { Title } from "~/components/title";
import { ButtonLink } from "~/components/ui/button";
import { answerForm, formOf } from "~/lib/act-form.server";
import { keepTyped } from "~/lib/connection";
import { deskPage } from "~/lib/desk.server";
import { noPageOf } from "~/lib/refusal.server";
import { filterOf, searchOf } from "~/models/desk";
import { ShipmentsPage } from "~/models/desk.server";
import { moveShipment } from "~/models/desk-act.server";
import { lastStage, STAGES } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import { oneLine, severalLines } from "~/models/text";
import type { Route } from "./+types/desk.shipments.$shipmentId_.move";

export { afterConflict as shouldRevalidate } from "~/lib/revalidate";

const Move = z.object({
  location: oneLine("").max(120, "Use at most 120 characters for the location.").optional(),
  note: severalLines("").max(1000, "Use at most 1,000 characters for the note.").optional(),
  despite: z.literal("missing").optional(),
});

export async function loader({ context, url }: Route.LoaderArgs) {
  const { opened } = await deskPage(context, ShipmentsPage);
  if (!opened) throw noPageOf("desk");
  const { id, name, stage, status, version, documents } = opened;
  const missing = documents.filter(({ uploaded }) => !uploaded).map((document) => document.name);
  const page = `/desk/shipments/${id}${searchOf(filterOf(url))}`;
  return { name, stage, status, version, missing, request: randomUUID(), page };
}

/** Moves the shipment on; while documents are missing, the page asks first. */
export async function action({ request, context, params, url }: Route.ActionArgs) {
  if (!isUuid(params.shipmentId)) throw data("Not found", { status: 404 });
  const id = params.shipmentId;
  return answerForm(request, context, `/desk/shipments/${id}${searchOf(filterOf(url))}`, {
    move: formOf(Move, async ({ backend }, { location, note, despite }, sent) => {
      const moved = await moveShipment(backend, id, { location, note, despiteMissing: despite !== undefined }, sent);
      if ("reason" in moved) return moved;
      if (!("missing" in moved.answer)) return { toast: `It is at ${moved.answer.status} now` };
      return { reason: "", status: 409 };
    }),
  });
}

export function clientAction({ serverAction }: Route.ClientActionArgs) {
  return keepTyped(serverAction);
}

export default function MovePage({ loaderData, actionData }: Route.ComponentProps) {
  const { name, stage, status, version, missing, page } = loaderData;
  const request = requestOf(actionData, loaderData.request);
  const { id, act, fields } = useAct("move", actionData, ["location", "note"]);
  const next = STAGES[stage];
  const asks = missing.length > 0;
  const title = asks ? "Move on without these documents?" : "Move to the next stage";
  return (
    <>
      <Title refused={actionData !== undefined}>{title}</Title>
      <ActProblems answer={actionData} />
      <h1 className="mb-2 text-xl">{title}</h1>
      <p className="mb-4 wrap-anywhere">
        {name}, at {stage}/{lastStage} {status}
      </p>
      {asks && (
        <ul className="mb-6 list-disc pl-6">
          {missing.map((document) => (
            <li key={document}>{document}</li>
          ))}
        </ul>
      )}
      {next && (
        <ActForm id={id} act={act} seen={version} request={request} className="max-w-xl">
          {asks && <input type="hidden" name="despite" value="missing" />}
          <Field field={fields.location} label="Location" optional autoComplete="off" />
          <TextField field={fields.note} label="Note to the client" rows={2} />
          <div className="flex flex-wrap gap-3">
            <SubmitButton pending="Moving…">
              {asks ? "Move on all the same" : "Move"} to {next}
            </SubmitButton>
            <ButtonLink to={page}>Leave it where it is</ButtonLink>
          </div>
        </ActForm>
      )}
    </>
  );
}
