import { useRouteLoaderData } from "react-router";
import type { loader } from "~/root";

/** The page's title, with the company's name; "Error: " before it when the form on the page was refused. */
export function Title({ refused = false, children }: { refused?: boolean; children: string }) {
  const company = useRouteLoaderData<typeof loader>("root")?.company.name;
  return <title>{`${refused ? "Error: " : ""}${children}${company ? ` · ${company}` : ""}`}</title>;
}
