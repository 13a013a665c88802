/** The lists of the desk and of the portal: what is asked for, as it stands in their addresses. Goes to the browser. */
import { WAITING_ON, type WaitingOn } from "./labels.ts";

/** The filter of a list of shipments. `stage` is 1 to 10; `check`, at the desk, asks for those with a document to check. */
export type ShipmentFilter = {
  q: string;
  stage: number | null;
  waiting: WaitingOn | null;
  needsCheck: boolean;
  page: number;
};

/** The filter that an address asks for; what makes no sense counts as not asked. */
export function readShipmentFilter({ searchParams }: URL): ShipmentFilter {
  const whole = (name: string, most: number) => {
    const asked = Number(searchParams.get(name));
    return Number.isInteger(asked) && asked > 0 && asked <= most ? asked : null;
  };
  const turn = searchParams.get("waiting") ?? "";
  return {
    q: (searchParams.get("q") ?? "").replaceAll("\0", "").trim().slice(0, 100),
    stage: whole("stage", 10),
    waiting: WAITING_ON.find((value) => value === turn) ?? null,
    needsCheck: searchParams.get("check") === "1",
    page: whole("page", 1e6) ?? 1,
  };
}

/** A filter as the search of an address, "" for none. */
export function createShipmentSearch({
  q,
  stage,
  waiting: turn,
  needsCheck: check,
  page,
}: Partial<ShipmentFilter>): string {
  const search = new URLSearchParams();
  if (q) search.set("q", q);
  if (stage) search.set("stage", String(stage));
  if (turn) search.set("waiting", turn);
  if (check) search.set("check", "1");
  if (page && page > 1) search.set("page", String(page));
  return search.size > 0 ? `?${search}` : "";
}
