import { isAuthSessionMissingError } from "@supabase/supabase-js";
import { createContext, type MiddlewareFunction, type RouterContextProvider, redirect } from "react-router";
import { z } from "zod";
import {
  deskCookieName,
  hasFlagCookie,
  hasSessionCookie,
  readCookies,
  readSignedInState,
  serializeCookie,
} from "../http/cookies.server.ts";
import { deadlines } from "../http/env.server.ts";
import { noStoreMiddleware } from "../http/headers.server.ts";
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

export type Viewer = {
  id: string;
  email: string;
  fullName: string;
  supabase: AppSupabaseClient;
  factors: Factor[];
  hasAal2: boolean;
  staff: StaffMember | null;
};

/** Database functions that load a page return a ViewerRecord, which is null if the session has ended. */
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
export type Factor = NonNullable<ViewerRecord>["factors"][number];
export type StaffMember = NonNullable<NonNullable<ViewerRecord>["staff"]>;

export type DatabaseCall = PromiseLike<{ data: unknown; error: { code: string; message: string } | null }>;

export type ViewerQuery = (supabase: AppSupabaseClient) => Promise<{ viewer: ViewerRecord } | UserError | null>;

/** Returns null if the backend rejects the access token, and a UserError for any other failure. */
export async function readViewerResult<Result extends { viewer: ViewerRecord }>(
  schema: z.ZodType<Result>,
  call: DatabaseCall,
): Promise<Result | UserError | null> {
  const { data, error } = await call;
  if (error && /^PGRST30[13]$/.test(error.code)) return null;
  const result = schema.safeParse(data);
  return !error && result.success ? result.data : userErrorFromThrown(error ?? result.error);
}

export const queryViewer: ViewerQuery = (supabase) =>
  readViewerResult(z.object({ viewer: ViewerRecord }), supabase.rpc("get_viewer", {}, { get: true }).retry(false));

const viewerContext = createContext<Viewer | UserError>();

export type MiddlewareArgs = Parameters<MiddlewareFunction<Response>>[0];

/** Redirects signed-out visitors to the login page. Stores the viewer or a UserError in the context. */
export function viewerMiddleware(getPageQuery: (args: MiddlewareArgs) => ViewerQuery): MiddlewareFunction<Response> {
  return async (args, next) => {
    const viewer = await getViewerOrRedirect(args, args.request.method === "POST" ? queryViewer : getPageQuery(args));
    args.context.set(viewerContext, viewer);
    if ("reason" in viewer) return noStoreMiddleware(args, next);
    admitViewer(args, viewer);
    if (viewer.staff) throw redirect("/desk", 303);
    return markBrowser(args, next, false);
  };
}

type PageLocation = Pick<MiddlewareArgs, "url" | "params">;

/** Returns a middleware, and `page` for loaders. Both use the result of one `call`. `page` throws if `call` fails. */
export function createViewerPage<Page extends { viewer: ViewerRecord }>(
  schema: z.ZodType<Page>,
  call: (supabase: AppSupabaseClient, location: PageLocation) => DatabaseCall,
) {
  const results = new WeakMap<AppSupabaseClient, Promise<Page | UserError | null>>();
  const middleware: MiddlewareFunction<Response> = viewerMiddleware((args) => (supabase) => {
    const result = readViewerResult(schema, call(supabase, args));
    results.set(supabase, result);
    return result;
  });
  const page = async (location: PageLocation & { context: Readonly<RouterContextProvider> }): Promise<Page> => {
    const { supabase } = requireViewer(location.context);
    const result = await (results.get(supabase) ?? readViewerResult(schema, call(supabase, location)));
    if (!result || "reason" in result) throw userErrorData(result ?? userErrorFromThrown(null));
    return result;
  };
  return { middleware, page };
}

export async function markBrowser(args: MiddlewareArgs, next: () => Promise<Response>, isStaff: boolean) {
  const response = (await noStoreMiddleware(args, next)) as Response;
  if (hasFlagCookie(args.request, deskCookieName) !== isStaff)
    response.headers.append("Set-Cookie", serializeCookie(deskCookieName, isStaff ? "1" : "", isStaff ? undefined : 0));
  return response;
}

export async function getViewerOrRedirect({ request, context, url }: MiddlewareArgs, query: ViewerQuery) {
  const viewer = await getViewer(request, context, query);
  if (viewer) return viewer;
  endSession(context);
  throw redirectToLogin(request, addNextParam("/login", url));
}

/** Limits the viewer's changes per minute. Throws a redirect to /login/verify if the session needs a second factor. */
export function admitViewer({ context, url }: MiddlewareArgs, viewer: Viewer): void {
  if (needsSecondFactor(viewer)) throw redirect(addNextParam("/login/verify", url), 303);
  guardWrites(context, async () => {
    const attempt = await getRateLimiter(context).consumeWrite(viewer.id);
    return "reason" in attempt ? attempt : null;
  });
}

export const redirectSignedInMiddleware: MiddlewareFunction<Response> = async ({ request, context, url }, next) => {
  if (request.method === "POST") return next();
  const viewer = await getViewer(request, context);
  if (viewer && !("reason" in viewer)) {
    const target = toViewerPath(url.searchParams.get("next"));
    throw redirect(needsSecondFactor(viewer) ? addNextParam("/login/verify", new URL(target, url)) : target, 303);
  }
  if (!viewer && hasSessionCookie(request)) endSession(context);
  return next();
};

export function needsSecondFactor(viewer: Viewer): boolean {
  return viewer.factors.length > 0 && !viewer.hasAal2;
}

function addNextParam(path: string, requestedUrl: URL): string {
  // `next` is the shipment's page, because a redirect to a download would leave the browser on the login page.
  const next = toViewerPath(requestedUrl.pathname.replace(/\/documents\/[^/]*$/, "") + requestedUrl.search);
  return next === "/portal" ? path : `${path}?next=${encodeURIComponent(next)}`;
}

export function requireViewer(context: Readonly<RouterContextProvider>): Viewer {
  const viewer = getViewerOrError(context);
  if ("reason" in viewer) throw userErrorData(viewer);
  return viewer;
}

export function getViewerOrError(context: Readonly<RouterContextProvider>): Viewer | UserError {
  return context.get(viewerContext);
}

/** Returns null without a valid session, and a UserError if the backend does not respond. */
export async function getViewer(
  request: Request,
  context: Readonly<RouterContextProvider>,
  query: ViewerQuery = queryViewer,
): Promise<Viewer | UserError | null> {
  if (!hasSessionCookie(request)) return null;
  const supabase = getSupabase(context);
  return withTimeout(deadlines().page, identifyViewer(supabase, query), getRenewalFailedSignal(supabase)).catch(
    userErrorFromThrown,
  );
}

async function identifyViewer(supabase: AppSupabaseClient, query: ViewerQuery): Promise<Viewer | UserError | null> {
  const { data: stored, error: renewalError } = await supabase.auth.getSession();
  if (renewalError && isUnavailable(renewalError)) throw renewalError;
  const token = stored.session?.access_token;
  if (!token) return null;
  const verified = await verifyAccessToken(token);
  const claims = verified === "unknown" ? await fetchClaims(supabase, token) : verified;
  if (!claims) return null;
  const result = await query(supabase);
  // If Supabase Auth accepts a token that the data API rejects, the cause is temporary and the session continues.
  const isValidForAuth = !result && (verified === "unknown" || (await fetchClaims(supabase, token)));
  if (isValidForAuth) return userErrorFromThrown(null);
  if (!result || "reason" in result) return result;
  const { viewer: viewerRecord } = result;
  return (
    viewerRecord && {
      id: claims.sub,
      email: viewerRecord.email ?? "",
      fullName: viewerRecord.full_name ?? "",
      supabase,
      factors: viewerRecord.factors,
      // Existing tokens contain aal2 for up to an hour after the removal of the second factor.
      hasAal2: claims.aal === "aal2" && viewerRecord.has_aal2,
      staff: viewerRecord.staff,
    }
  );
}

async function fetchClaims(supabase: AppSupabaseClient, token: string): Promise<Claims | null> {
  const { data, error } = await supabase.auth.getUser(token);
  if (error && isUnavailable(error)) throw error;
  return data.user && decodeClaims(token);
}

export function getSignedInState(request: Request, context: Readonly<RouterContextProvider>): boolean | "staff" {
  return !isSessionEnded(context) && readSignedInState(readCookies(request));
}

const reminderCookieName = "reminded";

export function isReminderShown(request: Request): boolean {
  return hasFlagCookie(request, reminderCookieName);
}

export function secondFactorReminderCookie(): string {
  return serializeCookie(reminderCookieName, "1");
}

/** True if Supabase Auth could not check the session. A rejection by Supabase Auth always has an error code. */
function isUnavailable(error: { name: string; status?: number; code?: unknown }): boolean {
  if (isAuthSessionMissingError(error)) return false;
  return error.code === undefined || error.status === 429 || (error.status ?? 500) >= 500;
}
