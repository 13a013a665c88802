import { randomUUID } from "node:crypto";
import { data, Form, redirect } from "react-router";
import { z } from "zod";
import { PageAccountField, SubmitButton } from "~/components/forms/form";
import { Title } from "~/components/site/title";
import { ButtonLink, TextLink } from "~/components/ui/button";
import { getStaffPage, requireStaff } from "~/lib/auth/staff.server";
import { readForm } from "~/lib/forms/form-data.server";
import { findAccountError, readIntentMetadata, readVersion } from "~/lib/forms/intent-form.server";
import { oneLine } from "~/lib/forms/text-fields";
import { toViewerPath } from "~/lib/http/redirect.server";
import { userErrorData, userErrorFromThrown } from "~/lib/http/user-error.server";
import { maxLength, textLimits } from "~/models/limits";
import { describeOpenItems, lastStage } from "~/models/shipment";
import { isUuid } from "~/models/shipment.server";
import { OpenItemsRecord } from "~/models/shipment-fields.server";
import { BULK_MOVE_OUTCOMES, BulkMovePageData, moveShipments, readBulkMoveOutcomes } from "~/models/staff.server";
import type { Route } from "./+types/desk.shipments_.bulk-move";

const noneSelectedText = "Select at least one shipment.";
const Location = oneLine("").max(...maxLength("location", " for the location"));

/** What the result page listed, by shipment ID. One field for all shipments, because a form has at most 100 fields. */
const Confirmations = z.record(z.string(), z.object({ version: z.number(), items: OpenItemsRecord }));

/** The URL contains the result of the bulk action, so that a team member can open the result again. */
export async function loader({ context, url }: Route.LoaderArgs) {
  const { shipments } = await getStaffPage(context, BulkMovePageData);
  const outcomes = readBulkMoveOutcomes(url);
  const unavailableCount = Object.keys(outcomes).length - shipments.length;
  const confirmations = shipments
    .filter(({ id }) => outcomes[id] === "open")
    .map(({ id, version, open }) => [id, { version, items: open ?? {} }]);
  const list = url.searchParams.get("list") ?? "";
  return {
    shipments: shipments.map(({ id, name, client_name: client, stage, status, open }) => ({
      ...{ id, name, client, stage, status },
      open: open ? describeOpenItems(open) : "",
      outcome: outcomes[id] ?? "unknown",
    })),
    confirmations: confirmations.length > 0 ? JSON.stringify(Object.fromEntries(confirmations)) : null,
    location: url.searchParams.get("location")?.slice(0, textLimits.location) ?? "",
    idempotencyKey: randomUUID(),
    unavailableCount,
    list: toViewerPath(`/desk/shipments${list}`),
    listSearch: list,
  };
}

function readConfirmations(form: FormData): z.infer<typeof Confirmations> {
  try {
    return Confirmations.parse(JSON.parse(String(form.get("confirmed") ?? "{}")));
  } catch {
    return {};
  }
}

/** Moves every selected shipment that can advance, even if other selected shipments cannot. */
export async function action({ request, context }: Route.ActionArgs) {
  const viewer = requireStaff(context);
  const form = await readForm(request, "shipment");
  const ids = [...new Set(form.getAll("shipment").map(String))].filter(isUuid);
  const location = z.optional(Location).safeParse(form.get("location") ?? undefined);
  const confirmations = readConfirmations(form);
  const moves = ids.map((id) => ({
    id,
    expected_version: confirmations[id]?.version ?? readVersion(form, `expectedVersion-${id}`),
    confirmed: confirmations[id]?.items,
  }));
  const problem = ids.length === 0 ? noneSelectedText : location.error?.issues[0]?.message;
  const list = String(form.get("list") ?? "");
  const rejection = findAccountError(form, viewer) ?? (problem && { reason: problem, status: 400 });
  if (rejection) {
    const { reason, status } = rejection;
    return data({ problem: reason, list: toViewerPath(`/desk/shipments${list}`) }, { status });
  }
  const { idempotency_key } = readIntentMetadata(form);
  const moved = await moveShipments(viewer.supabase, moves, location.data, { idempotency_key }).catch(
    userErrorFromThrown,
  );
  if ("reason" in moved) throw userErrorData(moved);
  const query = new URLSearchParams({ ...(list && { list }), ...(location.data && { location: location.data }) });
  for (const outcome of BULK_MOVE_OUTCOMES) {
    const outcomeIds = moved.result.filter(({ failure }) => (failure ?? "moved") === outcome).map(({ id }) => id);
    if (outcomeIds.length > 0) query.set(outcome, outcomeIds.join(","));
  }
  return redirect(`/desk/shipments/bulk-move?${query}`, 303);
}

export default function BulkMovePage({ loaderData, actionData }: Route.ComponentProps) {
  const { shipments, unavailableCount, confirmations } = loaderData;
  const moved = shipments.filter(({ outcome }) => outcome === "moved");
  const open = shipments.filter(({ outcome }) => outcome === "open");
  const stayed = shipments.filter(({ outcome }) => outcome !== "moved" && outcome !== "open");
  const isEmpty = shipments.length + unavailableCount === 0;
  const title = isEmpty
    ? "No shipments moved"
    : `${moved.length} of ${shipments.length + unavailableCount} shipments moved`;
  return (
    <>
      <Title rejected={actionData !== undefined}>{title}</Title>
      <h1 className="mb-4 text-xl">{title}</h1>
      {(isEmpty || actionData) && <p role="alert">{actionData?.problem ?? noneSelectedText}</p>}
      {confirmations && (
        <Form method="post" className="mb-6">
          <PageAccountField />
          <input type="hidden" name="idempotencyKey" value={loaderData.idempotencyKey} />
          <input type="hidden" name="list" value={loaderData.listSearch} />
          <input type="hidden" name="location" value={loaderData.location} />
          <input type="hidden" name="confirmed" value={confirmations} />
          <BulkMoveList title="Move these shipments anyway?" items={open} />
          <SubmitButton pending="Moving…">Move the selected shipments anyway</SubmitButton>
        </Form>
      )}
      {stayed.length > 0 && <BulkMoveList title="Not moved" items={stayed} />}
      {unavailableCount > 0 && (
        <p className="mb-6">
          {unavailableCount === 1 ? "1 shipment no longer exists." : `${unavailableCount} shipments no longer exist.`}
        </p>
      )}
      {moved.length > 0 && <BulkMoveList title="Moved" items={moved} />}
      <p className="mt-6">
        <ButtonLink to={actionData?.list ?? loaderData.list}>Back to shipments</ButtonLink>
      </p>
    </>
  );
}

type BulkMoveItem = Route.ComponentProps["loaderData"]["shipments"][number];

function BulkMoveList({ title, items }: { title: string; items: BulkMoveItem[] }) {
  return (
    <section className="mb-6">
      <h2 className="mb-2 text-base font-semibold">{title}</h2>
      <ul className="ruled rounded-label border border-line bg-raised">
        {items.map((shipment) => (
          <li key={shipment.id} className="flex items-center gap-1 px-4 py-2">
            {shipment.outcome === "open" && (
              <label className="-my-2 -ml-3 flex size-11 shrink-0 items-center justify-center">
                <span className="sr-only">{shipment.name}</span>
                <input type="checkbox" name="shipment" value={shipment.id} defaultChecked className="size-5" />
              </label>
            )}
            <p>
              <TextLink to={`/desk/shipments/${shipment.id}`} className="wrap-anywhere">
                {shipment.name}
              </TextLink>{" "}
              <span className="text-sm text-quiet">
                {shipment.client}, {shipment.stage}/{lastStage} {shipment.status}.{" "}
              </span>
              <span className="text-sm">{explainOutcome(shipment)}</span>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function explainOutcome({ outcome, stage, open }: BulkMoveItem): string {
  if (outcome === "open") return open || "No document is missing now, and no amount is due now. Try again.";
  if (outcome === "moved") return stage === lastStage ? open : "";
  if (outcome === "closed") return "This shipment is closed.";
  if (outcome === "withdrawn") return "This shipment is withdrawn.";
  if (outcome === "changed")
    return "Someone changed this shipment after you opened the list. Check the shipment, then try again.";
  return "";
}
