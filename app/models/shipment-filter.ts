import { WAITING_ON, type WaitingOn } from "./shipment.ts";

/** "mine" selects the shipments that the viewer handles, and "nobody" the shipments without a handler. */
export const HANDLER_FILTERS = ["mine", "nobody"] as const;

/** The filter of the desk's and portal's shipment lists. `needsCheck` selects shipments with an unverified file. */
export type ShipmentFilter = {
  q: string;
  stage: number | null;
  waiting: WaitingOn | null;
  needsCheck: boolean;
  handler: (typeof HANDLER_FILTERS)[number] | null;
  page: number;
};

export function readShipmentFilter({ searchParams }: URL): ShipmentFilter {
  const readNumber = (name: string, max: number) => {
    const number = Number(searchParams.get(name));
    return Number.isInteger(number) && number > 0 && number <= max ? number : null;
  };
  const waiting = searchParams.get("waiting");
  return {
    q: (searchParams.get("q") ?? "").replaceAll("\0", "").trim().slice(0, 100),
    stage: readNumber("stage", 10),
    waiting: WAITING_ON.find((value) => value === waiting) ?? null,
    needsCheck: searchParams.get("check") === "1",
    handler: HANDLER_FILTERS.find((value) => value === searchParams.get("handler")) ?? null,
    page: readNumber("page", 1e6) ?? 1,
  };
}

export function createShipmentSearch({
  q,
  stage,
  waiting,
  needsCheck,
  handler,
  page,
}: Partial<ShipmentFilter>): string {
  const search = new URLSearchParams();
  if (q) search.set("q", q);
  if (stage) search.set("stage", String(stage));
  if (waiting) search.set("waiting", waiting);
  if (needsCheck) search.set("check", "1");
  if (handler) search.set("handler", handler);
  if (page && page > 1) search.set("page", String(page));
  return search.size > 0 ? `?${search}` : "";
}
