import { Outlet } from "react-router";

/** The narrow page of sign-up, login and confirmation. */
export default function AuthLayout() {
  return (
    <div className="mx-auto max-w-md">
      <Outlet />
    </div>
  );
}
