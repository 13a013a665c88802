/** The lists of the desk and of the portal: what is asked for, as it stands in their addresses. Goes to the browser. */

/** Whose move a shipment is. */
export const TURNS = { client: "Client's move", company: "Our move", closed: "Closed" } as const;
export type Turn = keyof typeof TURNS;

/** Where cargo arrives: the port, and the inland depots. The database has the same list. */
export const PLACES = { mombasa: "Mombasa port", nairobi: "Nairobi ICD", naivasha: "Naivasha ICD" } as const;
export type Place = keyof typeof PLACES;

/** The filter of a list of shipments. `stage` is 1 to 10; `check`, at the desk, asks for those with a document to check. */
export type Filter = { q: string; stage: number | null; turn: Turn | null; check: boolean; page: number };

/** The filter that an address asks for; what makes no sense counts as not asked. */
export function filterOf({ searchParams }: URL): Filter {
  const whole = (name: string, most: number) => {
    const asked = Number(searchParams.get(name));
    return Number.isInteger(asked) && asked > 0 && asked <= most ? asked : null;
  };
  const turn = searchParams.get("turn") ?? "";
  return {
    q: (searchParams.get("q") ?? "").replaceAll("\0", "").trim().slice(0, 100),
    stage: whole("stage", 10),
    turn: Object.hasOwn(TURNS, turn) ? (turn as Turn) : null,
    check: searchParams.get("check") === "1",
    page: whole("page", 1e6) ?? 1,
  };
}

/** A filter as the search of an address, "" for none. */
export function searchOf({ q, stage, turn, check, page }: Partial<Filter>): string {
  const search = new URLSearchParams();
  if (q) search.set("q", q);
  if (stage) search.set("stage", String(stage));
  if (turn) search.set("turn", turn);
  if (check) search.set("check", "1");
  if (page && page > 1) search.set("page", String(page));
  return search.size > 0 ? `?${search}` : "";
}
