/** Who sends a request: authentication for the portal. */
import { isAuthSessionMissingError } from "@supabase/supabase-js";
import { createContext, type MiddlewareFunction, type RouterContextProvider, redirect } from "react-router";
import { z } from "zod";
import { hasFlagCookie, hasSessionCookie, serializeCookie } from "../http/cookies.server.ts";
import { deadlines } from "../http/env.server.ts";
import { getRateLimiter } from "../http/rate-limiter.server.ts";
import { toViewerPath } from "../http/redirect.server.ts";
import { type UserError, userErrorData, userErrorFromThrown } from "../http/user-error.server.ts";
import {
  type AppSupabaseClient,
  endSession,
  getRenewalFailedSignal,
  getSupabase,
  guardWrites,
  isSessionEnded,
} from "../supabase/client.server.ts";
import { withTimeout } from "../supabase/fetch.server.ts";
import { type Claims, decodeClaims, verifyAccessToken } from "./access-token.server.ts";
import { redirectToLogin } from "./cookies-disabled.server.ts";

/** A verified second factor. `created` is an ISO 8601 time. */
export type Factor = { id: string; name: string; created_at: string };

/** What somebody is at the company's desk. */
export type StaffMember = { name: string; role: "clerk" | "lead" };

/** The signed-in person, verified for this request: a client, or a colleague of the company. */
export type Viewer = {
  id: string;
  email: string;
  fullName: string;
  supabase: AppSupabaseClient;
  /** The verified second factors of the account, oldest first. */
  factors: Factor[];
  /** Whether this session gave the code of one. */
  hasAal2: boolean;
  /** Null for clients. */
  staff: StaffMember | null;
};

/** What every page function of the database says of the session that calls it; null when that session has ended. */
export const ViewerRecord = z
  .object({
    email: z.string().nullable(),
    full_name: z.string().nullable(),
    has_aal2: z.boolean(),
    factors: z.array(z.object({ id: z.string(), name: z.string(), created_at: z.string() })),
    staff: z.object({ name: z.string(), role: z.enum(["clerk", "lead"]) }).nullable(),
  })
  .nullable();
export type ViewerRecord = z.infer<typeof ViewerRecord>;

/** Asks the backend who calls, perhaps with what a page shows. Null: the backend does not take the token. */
export type ViewerQuery = (backend: AppSupabaseClient) => Promise<{ viewer: ViewerRecord } | UserError | null>;

/**
 * The answer of a function of the database that says who calls, read by `schema`; null when the data API does not take
 * the token. Everything else that is no such answer means that the backend cannot say just now.
 */
export async function readViewerResult<Answer extends { viewer: ViewerRecord }>(
  schema: z.ZodType<Answer>,
  call: PromiseLike<{ data: unknown; error: { code: string; message: string } | null }>,
): Promise<Answer | UserError | null> {
  const { data, error } = await call;
  // PostgREST: the token is expired, or not signed by a key it knows.
  if (error && /^PGRST30[13]$/.test(error.code)) return null;
  const answer = schema.safeParse(data);
  return !error && answer.success ? answer.data : userErrorFromThrown(error ?? answer.error);
}

/** Who calls and nothing else: for forms, and for pages outside the portal. */
export const queryViewer: ViewerQuery = (backend) =>
  // A GET: it changes nothing, so backendFetch may retry it.
  readViewerResult(z.object({ viewer: ViewerRecord }), backend.rpc("get_viewer", {}, { get: true }).retry(false));

const viewerContext = createContext<Viewer | UserError>();

export type MiddlewareArgs = Parameters<MiddlewareFunction<Response>>[0];

/**
 * Redirects to the login and back unless signed in. If the backend cannot tell, the page decides (clientOrRefusal). A
 * page asks with `askForPage`, in one call for who asks and for what it shows.
 */
export function viewerMiddleware(askForPage: (args: MiddlewareArgs) => ViewerQuery): MiddlewareFunction<Response> {
  return async (args, next) => {
    const { request, context, url } = args;
    const client = await getViewer(request, context, request.method === "POST" ? queryViewer : askForPage(args));
    if (!client) {
      // A session that the backend does not know, or a cookie that is not one: the cookie goes.
      endSession(context);
      throw redirectToLogin(request, addNextParam("/login", url));
    }
    context.set(viewerContext, client);
    if (!("reason" in client)) {
      if (needsSecondFactor(client)) throw redirect(addNextParam("/login/verify", url), 303);
      // A colleague has no shipments of their own: theirs is the other side of everybody's.
      if (client.staff) throw redirect("/desk", 303);
      limitWrites(context, client);
    }
    const response = await next();
    response.headers.set("Cache-Control", "private, no-store");
    return response;
  };
}

/** Counts what this request changes against the limit of the person. */
export function limitWrites(context: Readonly<RouterContextProvider>, client: Viewer): void {
  guardWrites(context, async () => {
    const attempt = await getRateLimiter(context).consumeWrite(client.id);
    return "reason" in attempt ? attempt : null;
  });
}

/**
 * Redirects the signed-in from the login and the sign-up to the portal. Others see the form, also when the backend
 * cannot tell. Removes the cookie of an ended session.
 */
export const redirectSignedInMiddleware: MiddlewareFunction<Response> = async ({ request, context, url }, next) => {
  if (request.method === "POST") return next();
  const client = await getViewer(request, context);
  if (client && !("reason" in client)) {
    const wanted = toViewerPath(url.searchParams.get("next"));
    throw redirect(needsSecondFactor(client) ? addNextParam("/login/verify", new URL(wanted, url)) : wanted, 303);
  }
  if (!client && hasSessionCookie(request)) endSession(context);
  return next();
};

/** Whether the account has a second factor whose code this session has not given. */
export function needsSecondFactor(client: Viewer): boolean {
  return client.factors.length > 0 && !client.hasAal2;
}

/** A path with the page of the portal or the desk that was asked for, to come back to it. */
export function addNextParam(path: string, wanted: URL): string {
  // Of a file the page that it is on: a login cannot lead to a download.
  const next = toViewerPath(wanted.pathname.replace(/\/documents\/[^/]*$/, "") + wanted.search);
  return next === "/portal" ? path : `${path}?next=${encodeURIComponent(next)}`;
}

/** The client of a request that has passed portalMiddleware. Throws a 503 when the backend could not tell. */
export function requireViewer(context: Readonly<RouterContextProvider>): Viewer {
  const client = getViewerOrError(context);
  if ("reason" in client) throw userErrorData(client);
  return client;
}

/** The client of a request that has passed portalMiddleware, or why the backend could not tell. */
export function getViewerOrError(context: Readonly<RouterContextProvider>): Viewer | UserError {
  return context.get(viewerContext);
}

/**
 * The signed-in client; null when there is none; a refusal when that cannot be found out just now: the session is kept
 * then. The access token is verified here; whether its session still lives only the database knows.
 */
export async function getViewer(
  request: Request,
  context: Readonly<RouterContextProvider>,
  ask: ViewerQuery = queryViewer,
): Promise<Viewer | UserError | null> {
  if (!hasSessionCookie(request)) return null;
  const backend = getSupabase(context);
  return withTimeout(deadlines().page, identifyViewer(backend, ask), getRenewalFailedSignal(backend)).catch(
    userErrorFromThrown,
  );
}

async function identifyViewer(backend: AppSupabaseClient, ask: ViewerQuery): Promise<Viewer | UserError | null> {
  const { data: stored, error: unrenewed } = await backend.auth.getSession();
  if (unrenewed && isUnavailable(unrenewed)) throw unrenewed;
  const token = stored.session?.access_token;
  if (!token) return null;
  const verified = await verifyAccessToken(token);
  const claims = verified === "unknown" ? await fetchClaims(backend, token) : verified;
  if (!claims) return null;
  const answer = await ask(backend);
  // A key that was revoked since it was published to us ends the session. What auth knows and the data API does not take
  // is their disagreement, of a moment or of their settings.
  const byAuth = !answer && (verified === "unknown" || (await fetchClaims(backend, token)));
  if (byAuth) return userErrorFromThrown(null);
  if (!answer || "reason" in answer) return answer;
  const { viewer: caller } = answer;
  return (
    caller && {
      id: claims.sub,
      email: caller.email ?? "",
      fullName: caller.full_name ?? "",
      supabase: backend,
      factors: caller.factors,
      // A token says so for its hour; auth no longer when the factor was removed meanwhile.
      hasAal2: claims.aal === "aal2" && caller.has_aal2,
      staff: caller.staff,
    }
  );
}

/** The claims of a token that auth itself takes; null when it does not. Rejects when it cannot tell just now. */
async function fetchClaims(backend: AppSupabaseClient, token: string): Promise<Claims | null> {
  const { data, error } = await backend.auth.getUser(token);
  if (error && isUnavailable(error)) throw error;
  return data.user && decodeClaims(token);
}

/** Whether there seems to be a session. For the navigation only: the session is not verified. */
export function seemsSignedIn(request: Request, context: Readonly<RouterContextProvider>): boolean {
  return hasSessionCookie(request) && !isSessionEnded(context);
}

const reminderCookieName = "reminded";

/** Whether the reminder to set up a second factor was shown in this browser session. */
export function isReminderShown(request: Request): boolean {
  return hasFlagCookie(request, reminderCookieName);
}

/** A Set-Cookie, for the browser session, that the reminder was shown. */
export function secondFactorReminderCookie(): string {
  return serializeCookie(reminderCookieName, "1");
}

/** Whether an auth error means "not now" rather than "no": auth says no with a code of its own. */
function isUnavailable(error: { name: string; status?: number; code?: unknown }): boolean {
  if (isAuthSessionMissingError(error)) return false;
  return error.code === undefined || error.status === 429 || (error.status ?? 500) >= 500;
}
