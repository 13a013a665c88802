/** Flash toasts: a message for the next page, in a signed cookie that is removed by the page that shows it. */
import {
  createContext,
  createCookieSessionStorage,
  type MiddlewareFunction,
  type RouterContextProvider,
  redirect,
  type SessionStorage,
} from "react-router";
import { getToast, setToast, toastMiddleware } from "remix-toast/middleware";
import { cookieAttributes, cookieName, cookieOf, setCookie } from "./cookies.server.ts";
import { env } from "./env.server.ts";
import type { Toast } from "./flash.ts";

const cookie = "flash";
let storage: SessionStorage | undefined;

function flashStorage(): SessionStorage {
  if (storage) return storage;
  const cookies = createCookieSessionStorage({
    cookie: { ...cookieAttributes(), name: cookieName(cookie), secrets: [env().sessionSecret] },
  });
  // The library writes the cookie back without its toast; flashMiddleware removes it instead.
  const commitSession: SessionStorage["commitSession"] = async (session, options) =>
    Object.keys(session.data).length > 0 ? cookies.commitSession(session, options) : "";
  storage = { ...cookies, commitSession };
  return storage;
}

const isTaken = createContext(false);

/**
 * Reads the flash of this request and writes the one for the next. The page that shows the toast removes the cookie;
 * redirects, and responses that are no page, keep it.
 */
export const flashMiddleware: MiddlewareFunction<Response> = async (args, next) => {
  const { request, context } = args;
  const response = (await toastMiddleware({ customSession: flashStorage() })(args, next)) as Response;
  const { headers, status } = response;
  const lines = headers.getSetCookie().filter(Boolean);
  const isBrought = cookieOf(request, cookie) !== undefined;
  // React Router redirects data requests with 202.
  const isRedirect = status === 202 || (status >= 300 && status < 400);
  if (isBrought && context.get(isTaken) && !isRedirect) lines.push(setCookie(cookie, "", 0));
  headers.delete("Set-Cookie");
  for (const line of lines) headers.append("Set-Cookie", line);
  return response;
};

/** The toast the previous page left, or null. */
export function takeFlash(context: Readonly<RouterContextProvider>): Toast | null {
  context.set(isTaken, true);
  const toast = getToast(context);
  if (!toast) return null;
  const { message, description, type } = toast;
  return { title: message, description, variant: type === "error" ? "destructive" : "default" };
}

/** See Other, with a toast on the page that follows. Only for paths of this site. */
export function redirectWithFlash(context: Readonly<RouterContextProvider>, path: string, toast: Toast): Response {
  setToast(context, {
    message: toast.title,
    description: toast.description,
    type: toast.variant === "destructive" ? "error" : "success",
  });
  return redirect(path, 303);
}
