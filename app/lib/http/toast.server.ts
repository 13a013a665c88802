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
import { cookieAttributes, cookieName, readCookie, serializeCookie } from "./cookies.server.ts";
import { env } from "./env.server.ts";
import type { Toast } from "./toast.ts";

const toastCookieName = "flash";
let toastStorage: SessionStorage | undefined;

function getToastStorage(): SessionStorage {
  if (toastStorage) return toastStorage;
  const cookies = createCookieSessionStorage({
    cookie: { ...cookieAttributes(), name: cookieName(toastCookieName), secrets: [env().sessionSecret] },
  });
  // The library writes the cookie back without its toast; flashMiddleware removes it instead.
  const commitSession: SessionStorage["commitSession"] = async (session, options) =>
    Object.keys(session.data).length > 0 ? cookies.commitSession(session, options) : "";
  toastStorage = { ...cookies, commitSession };
  return toastStorage;
}

const isToastTaken = createContext(false);

/**
 * Reads the flash of this request and writes the one for the next. The page that shows the toast removes the cookie;
 * redirects, and responses that are no page, keep it.
 */
export const toastCookieMiddleware: MiddlewareFunction<Response> = async (args, next) => {
  const { request, context } = args;
  const response = (await toastMiddleware({ customSession: getToastStorage() })(args, next)) as Response;
  const { headers, status } = response;
  const lines = headers.getSetCookie().filter(Boolean);
  const isBrought = readCookie(request, toastCookieName) !== undefined;
  // React Router redirects data requests with 202.
  const isRedirect = status === 202 || (status >= 300 && status < 400);
  if (isBrought && context.get(isToastTaken) && !isRedirect) lines.push(serializeCookie(toastCookieName, "", 0));
  headers.delete("Set-Cookie");
  for (const line of lines) headers.append("Set-Cookie", line);
  return response;
};

/** The toast the previous page left, or null. */
export function takeToast(context: Readonly<RouterContextProvider>): Toast | null {
  context.set(isToastTaken, true);
  const toast = getToast(context);
  if (!toast) return null;
  const { message, description, type } = toast;
  return { title: message, description, variant: type === "error" ? "destructive" : "default" };
}

/** See Other, with a toast on the page that follows. Only for paths of this site. */
export function redirectWithToast(context: Readonly<RouterContextProvider>, path: string, toast: Toast): Response {
  setToast(context, {
    message: toast.title,
    description: toast.description,
    type: toast.variant === "destructive" ? "error" : "success",
  });
  return redirect(path, 303);
}
