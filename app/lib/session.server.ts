/** Who sends a request: authentication for the portal. */
import { isAuthSessionMissingError } from "@supabase/supabase-js";
import { createContext, type MiddlewareFunction, type RouterContextProvider, redirect } from "react-router";
import { within } from "./backend-fetch.server.ts";
import { hasMark, hasSessionCookie, setCookie } from "./cookies.server.ts";
import { deadlines } from "./env.server.ts";
import { toLogin } from "./kept-cookies.server.ts";
import { limitsOf } from "./limits.server.ts";
import { portalPath } from "./redirect.server.ts";
import { type Refusal, refusalOfThrown, thrown } from "./refusal.server.ts";
import { type Backend, backendOf, endSession, guardWrites, isSessionEnded, renewalFailed } from "./supabase.server.ts";

/** A verified second factor. `created` is an ISO 8601 time. */
export type Factor = { id: string; name: string; created: string };

/** The signed-in client, verified by the backend for this request. */
export type Client = {
  id: string;
  email: string;
  fullName: string;
  backend: Backend;
  /** The verified second factors of the account, oldest first. */
  factors: Factor[];
  /** Whether this session gave the code of one. */
  hasGivenCode: boolean;
};

const clientContext = createContext<Client | Refusal>();

/** Redirects to the login and back unless signed in. If the backend cannot tell, the page decides (clientOrRefusal). */
export const portalMiddleware: MiddlewareFunction<Response> = async ({ request, context, url }, next) => {
  const client = await getClient(request, context).catch(refusalOfThrown);
  if (!client) {
    // A session that the backend does not know, or a cookie that is not one: the cookie goes.
    endSession(context);
    throw toLogin(request, withNext("/login", url));
  }
  if (!("reason" in client) && needsCode(client)) throw redirect(withNext("/login/verify", url), 303);
  context.set(clientContext, client);
  if (!("reason" in client)) {
    guardWrites(context, async () => {
      const attempt = await limitsOf(context).write(client.id);
      return "reason" in attempt ? attempt : null;
    });
  }
  const response = await next();
  response.headers.set("Cache-Control", "private, no-store");
  return response;
};

/**
 * Redirects the signed-in from the login and the sign-up to the portal. Others see the form, also when the backend
 * cannot tell. Removes the cookie of an ended session.
 */
export const signedInMiddleware: MiddlewareFunction<Response> = async ({ request, context, url }, next) => {
  if (request.method === "POST") return next();
  const client = await getClient(request, context).catch(refusalOfThrown);
  if (client && !("reason" in client)) {
    const wanted = portalPath(url.searchParams.get("next"));
    throw redirect(needsCode(client) ? withNext("/login/verify", new URL(wanted, url)) : wanted, 303);
  }
  if (!client && hasSessionCookie(request)) endSession(context);
  return next();
};

/** Whether the account has a second factor whose code this session has not given. */
export function needsCode(client: Client): boolean {
  return client.factors.length > 0 && !client.hasGivenCode;
}

/** A path with the portal page that was asked for, to come back to it. */
function withNext(path: string, wanted: URL): string {
  const next = portalPath(wanted.pathname + wanted.search);
  return next === "/portal" ? path : `${path}?next=${encodeURIComponent(next)}`;
}

/** The client of a request that has passed portalMiddleware. Throws a 503 when the backend could not tell. */
export function requireClient(context: Readonly<RouterContextProvider>): Client {
  const client = clientOrRefusal(context);
  if ("reason" in client) throw thrown(client);
  return client;
}

/** The client of a request that has passed portalMiddleware, or why the backend could not tell. */
export function clientOrRefusal(context: Readonly<RouterContextProvider>): Client | Refusal {
  return context.get(clientContext);
}

/** The signed-in client, or null. Rejects when the backend cannot say; the session is kept then. */
export async function getClient(request: Request, context: Readonly<RouterContextProvider>): Promise<Client | null> {
  if (!hasSessionCookie(request)) return null;
  const backend = backendOf(context);
  const verdict = await within(deadlines().page, backend.auth.getUser(), renewalFailed(backend)).catch(() => null);
  if (!verdict || (verdict.error && isUnavailable(verdict.error))) {
    throw new DOMException("The session could not be checked.", "TimeoutError");
  }
  const { user } = verdict.data;
  if (!user) return null;
  const email = user.email ?? "";
  const fullName = typeof user.user_metadata.full_name === "string" ? user.user_metadata.full_name : "";
  const factors = (user.factors ?? [])
    .filter(({ status }) => status === "verified")
    .map((factor) => ({ id: factor.id, name: factor.friendly_name ?? "", created: factor.created_at }));
  return { id: user.id, email, fullName, backend, factors, hasGivenCode: await isAal2(backend) };
}

/** Whether the session is AAL2, from the access token that getUser has just verified. */
async function isAal2(backend: Backend): Promise<boolean> {
  const { data: stored } = await backend.auth.getSession();
  const payload = stored.session?.access_token.split(".")[1] ?? "";
  const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8") || "{}");
  return (claims as { aal?: unknown }).aal === "aal2";
}

/** Whether there seems to be a session. For the navigation only: the session is not verified. */
export function seemsSignedIn(request: Request, context: Readonly<RouterContextProvider>): boolean {
  return hasSessionCookie(request) && !isSessionEnded(context);
}

const reminderCookie = "reminded";

/** Whether the reminder to set up a second factor was shown in this browser session. */
export function wasReminded(request: Request): boolean {
  return hasMark(request, reminderCookie);
}

/** A Set-Cookie, for the browser session, that the reminder was shown. */
export function rememberReminder(): string {
  return setCookie(reminderCookie, "1");
}

/** Whether an auth error means "not now" rather than "no": auth says no with a code of its own. */
function isUnavailable(error: { name: string; status?: number; code?: unknown }): boolean {
  if (isAuthSessionMissingError(error)) return false;
  return error.code === undefined || error.status === 429 || (error.status ?? 500) >= 500;
}
