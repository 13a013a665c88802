import { data, Link } from "react-router";
import { z } from "zod";
import { Title } from "~/components/title";
import { ButtonLink } from "~/components/ui/button";
import { sentWith } from "~/lib/act-form.server";
import { requireColleague } from "~/lib/desk.server";
import { readForm } from "~/lib/form.server";
import { portalPath } from "~/lib/redirect.server";
import { refusalOfThrown } from "~/lib/refusal.server";
import { moveShipment } from "~/models/desk-act.server";
import { isUuid } from "~/models/shipment.server";
import { oneLine } from "~/models/text";
import type { Route } from "./+types/desk.shipments_.move-many";

const Location = oneLine("").max(120, "Use at most 120 characters for the location.");

/** What became of one of the ticked shipments. `why` is null for those that moved. */
type Outcome = { id: string; why: string | null; status: string };

/** Moves every ticked shipment on, each in a transaction of its own: one that cannot move stops no other. */
export async function action({ request, context }: Route.ActionArgs) {
  const { backend } = requireColleague(context);
  const form = await readForm(request, "shipment");
  const ids = [...new Set(form.getAll("shipment").map(String))].filter(isUuid);
  const location = z.optional(Location).safeParse(form.get("location") ?? undefined);
  const problem = ids.length === 0 ? "Tick the shipments that move on." : location.error?.issues[0]?.message;
  const list = portalPath(`/desk/shipments${form.get("list") ?? ""}`);
  if (problem) return data({ problem, outcomes: [], list }, { status: 400 });
  const { request: form_id } = sentWith(form);
  const outcomes: Outcome[] = [];
  for (const id of ids) {
    const seen = Number(form.get(`seen-${id}`) ?? Number.NaN);
    const signed = { request: form_id, seen: Number.isInteger(seen) ? seen : undefined };
    const moved = await moveShipment(backend, id, { location: location.data }, signed).catch(refusalOfThrown);
    if ("reason" in moved) outcomes.push({ id, why: moved.reason, status: "" });
    else if ("missing" in moved.answer)
      outcomes.push({ id, why: `Still missing: ${moved.answer.missing.join(", ")}.`, status: "" });
    else outcomes.push({ id, why: null, status: moved.answer.status });
  }
  return data({ problem: null, outcomes, list });
}

export default function MovedPage({ actionData }: Route.ComponentProps) {
  const { problem, outcomes, list } = actionData ?? {
    problem: "Tick the shipments that move on.",
    outcomes: [],
    list: "/desk/shipments",
  };
  const moved = outcomes.filter(({ why }) => !why);
  const stayed = outcomes.filter(({ why }) => why);
  const title = problem ? "Nothing moved" : `${moved.length} moved, ${stayed.length} did not`;
  return (
    <>
      <Title refused={problem !== null}>{title}</Title>
      <h1 className="mb-4 text-xl">{title}</h1>
      {problem && <p role="alert">{problem}</p>}
      {stayed.length > 0 && <Outcomes title="Did not move" all={stayed} />}
      {moved.length > 0 && <Outcomes title="Moved" all={moved} />}
      <p className="mt-6">
        <ButtonLink to={list}>Back to the shipments</ButtonLink>
      </p>
    </>
  );
}

function Outcomes({ title, all }: { title: string; all: Outcome[] }) {
  return (
    <section className="mb-6">
      <h2 className="mb-2 text-base font-semibold">{title}</h2>
      <ul className="ruled rounded-label border border-line bg-raised text-sm">
        {all.map(({ id, why, status }) => (
          <li key={id} className="px-4 py-1">
            <Link to={`/desk/shipments/${id}`} className="inline-flex min-h-11 items-center font-mono underline">
              {id.slice(0, 8)}
            </Link>{" "}
            {why ?? status}
          </li>
        ))}
      </ul>
    </section>
  );
}
