import { type RouterContextProvider, redirect } from "react-router";
import { knownBrowserCookie } from "../http/known-browser.server.ts";
import { redirectWithToast } from "../http/toast.server.ts";
import type { Toast } from "../http/toast.ts";
import { sharedComputerCookie } from "../supabase/client.server.ts";

export function redirectAfterLogIn(
  request: Request,
  context: Readonly<RouterContextProvider>,
  login: { email: string; requiresSecondFactor: boolean; isShared: boolean; next: string; toast: Toast },
): Response {
  const { email, requiresSecondFactor, isShared, next, toast } = login;
  const verifyPath = next === "/portal" ? "/login/verify" : `/login/verify?next=${encodeURIComponent(next)}`;
  const response = requiresSecondFactor ? redirect(verifyPath, 303) : redirectWithToast(context, next, toast);
  response.headers.append("Set-Cookie", sharedComputerCookie(isShared));
  if (!requiresSecondFactor && !isShared) response.headers.append("Set-Cookie", knownBrowserCookie(request, email));
  return response;
}
