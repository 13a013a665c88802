/** Flash toasts: a message for the next page, in a signed cookie that the next page takes away. */
import {
  createCookieSessionStorage,
  type MiddlewareFunction,
  type RouterContextProvider,
  redirect,
  type SessionStorage,
} from "react-router";
import { getToast, setToast, toastMiddleware } from "remix-toast/middleware";
import { env } from "./env.server.ts";
import type { Toast } from "./flash.ts";
import { cookieAttributes, cookieName } from "./supabase.server.ts";

let storage: SessionStorage | undefined;

function flashStorage(): SessionStorage {
  storage ??= createCookieSessionStorage({
    cookie: { ...cookieAttributes(), name: cookieName("flash"), secrets: [env().sessionSecret] },
  });
  return storage;
}

/** Reads the flash of this request and writes the one for the next. */
export const flashMiddleware: MiddlewareFunction<Response> = async (args, next) =>
  (await toastMiddleware({ customSession: flashStorage() })(args, next)) as Response;

/** The toast the previous page left, or null. */
export function takeFlash(context: Readonly<RouterContextProvider>): Toast | null {
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
