import { Outlet } from "react-router";
import { noStoreMiddleware } from "~/lib/headers.server";
import type { Route } from "./+types/_auth";

export const middleware: Route.MiddlewareFunction[] = [noStoreMiddleware];

/** The narrow page of sign-up, login and confirmation. */
export default function AuthLayout() {
  return (
    <div className="mx-auto max-w-md">
      <Outlet />
    </div>
  );
}
