import {
  createContext,
  createCookieSessionStorage,
  type MiddlewareFunction,
  type RouterContextProvider,
  redirect,
  type SessionStorage,
} from "react-router";
import { getToast, setToast, toastMiddleware } from "remix-toast/middleware";
import { cookieAttributes, cookieName, readCookie, serializeCookie } from "./cookies.server.ts";
import { env } from "./env.server.ts";
import type { Toast } from "./toast.ts";

const toastCookieName = "flash";

function createToastStorage(): SessionStorage {
  const cookie = { ...cookieAttributes(), name: cookieName(toastCookieName), secrets: [env().sessionSecret] };
  const cookies = createCookieSessionStorage({ cookie });
  // remix-toast would write an empty cookie after the toast is shown. toastCookieMiddleware removes the cookie instead.
  const commitSession: SessionStorage["commitSession"] = async (session, options) =>
    Object.keys(session.data).length > 0 ? cookies.commitSession(session, options) : "";
  return { ...cookies, commitSession };
}

const isToastTaken = createContext(false);

export const toastCookieMiddleware: MiddlewareFunction<Response> = async (args, next) => {
  const { request, context } = args;
  const response = (await toastMiddleware({ customSession: createToastStorage() })(args, next)) as Response;
  const { headers, status } = response;
  const setCookies = headers.getSetCookie().filter(Boolean);
  const hasToastCookie = readCookie(request, toastCookieName) !== undefined;
  // React Router redirects data requests with status 202.
  const isRedirect = status === 202 || (status >= 300 && status < 400);
  if (hasToastCookie && context.get(isToastTaken) && !isRedirect)
    setCookies.push(serializeCookie(toastCookieName, "", 0));
  headers.delete("Set-Cookie");
  for (const setCookie of setCookies) headers.append("Set-Cookie", setCookie);
  return response;
};

export function takeToast(context: Readonly<RouterContextProvider>): Toast | null {
  context.set(isToastTaken, true);
  const toast = getToast(context);
  if (!toast) return null;
  const { message, description, type } = toast;
  return {
    title: message,
    description,
    variant: type === "error" ? "destructive" : "default",
    ...(type === "info" && { isInfo: true }),
  };
}

export function redirectWithToast(context: Readonly<RouterContextProvider>, path: string, toast: Toast): Response {
  setToast(context, {
    message: toast.title,
    description: toast.description,
    type: toast.variant === "destructive" ? "error" : toast.isInfo ? "info" : "success",
  });
  return redirect(path, 303);
}
