import { Outlet } from "react-router";
import { AuthPage } from "~/components/site/auth-page";
import { noStoreMiddleware } from "~/lib/http/headers.server";
import { identifiers } from "~/models/content.server";
import type { Route } from "./+types/_auth";

export const middleware: Route.MiddlewareFunction[] = [noStoreMiddleware];

export const shouldRevalidate = () => false;

export function loader() {
  return { licence: identifiers.customs_agent_licence };
}

export default function AuthLayout({ loaderData }: Route.ComponentProps) {
  return (
    <AuthPage licence={loaderData.licence}>
      <Outlet />
    </AuthPage>
  );
}
