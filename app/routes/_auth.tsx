import { Outlet } from "react-router";
import { Door } from "~/components/door";
import { identifiers } from "~/lib/content.server";
import { noStoreMiddleware } from "~/lib/headers.server";
import type { Route } from "./+types/_auth";

export const middleware: Route.MiddlewareFunction[] = [noStoreMiddleware];

/** Nothing of it changes from page to page. */
export const shouldRevalidate = () => false;

export function loader() {
  return { licence: identifiers.customs_agent_licence };
}

/** The pages of sign-up, login and confirmation. */
export default function AuthLayout({ loaderData }: Route.ComponentProps) {
  return (
    <Door licence={loaderData.licence}>
      <Outlet />
    </Door>
  );
}
