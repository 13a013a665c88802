/** Who sends a request: authentication for the portal. */
import { isAuthSessionMissingError } from "@supabase/supabase-js";
import { createContext, type MiddlewareFunction, type RouterContextProvider, redirect } from "react-router";
import { z } from "zod";
import { type Claims, unverifiedClaims, verifiedClaims } from "./access-token.server.ts";
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

/** What somebody is at the company's desk. */
export type Colleague = { name: string; role: "clerk" | "lead" };

/** The signed-in person, verified for this request: a client, or a colleague of the company. */
export type Client = {
  id: string;
  email: string;
  fullName: string;
  backend: Backend;
  /** The verified second factors of the account, oldest first. */
  factors: Factor[];
  /** Whether this session gave the code of one. */
  hasGivenCode: boolean;
  /** Null for clients. */
  colleague: Colleague | null;
};

/** What every page function of the database says of the session that calls it; null when that session has ended. */
export const Caller = z
  .object({
    email: z.string().nullable(),
    full_name: z.string().nullable(),
    gave_code: z.boolean(),
    factors: z.array(z.object({ id: z.string(), name: z.string(), created: z.string() })),
    colleague: z.object({ name: z.string(), role: z.enum(["clerk", "lead"]) }).nullable(),
  })
  .nullable();
export type Caller = z.infer<typeof Caller>;

/** Asks the backend who calls, perhaps with what a page shows. Null: the backend does not take the token. */
export type Ask = (backend: Backend) => Promise<{ caller: Caller } | Refusal | null>;

/**
 * The answer of a function of the database that says who calls, read by `schema`; null when the data API does not take
 * the token. Everything else that is no such answer means that the backend cannot say just now.
 */
export async function answerOf<Answer extends { caller: Caller }>(
  schema: z.ZodType<Answer>,
  call: PromiseLike<{ data: unknown; error: { code: string; message: string } | null }>,
): Promise<Answer | Refusal | null> {
  const { data, error } = await call;
  // PostgREST: the token is expired, or not signed by a key it knows.
  if (error && /^PGRST30[13]$/.test(error.code)) return null;
  const answer = schema.safeParse(data);
  return !error && answer.success ? answer.data : refusalOfThrown(error ?? answer.error);
}

/** Who calls and nothing else: for forms, and for pages outside the portal. */
export const whoAsks: Ask = (backend) =>
  // A GET: it changes nothing, so backendFetch may retry it.
  answerOf(z.object({ caller: Caller }), backend.rpc("who_asks", {}, { get: true }).retry(false));

const clientContext = createContext<Client | Refusal>();

export type MiddlewareArgs = Parameters<MiddlewareFunction<Response>>[0];

/**
 * Redirects to the login and back unless signed in. If the backend cannot tell, the page decides (clientOrRefusal). A
 * page asks with `askForPage`, in one call for who asks and for what it shows.
 */
export function portalMiddleware(askForPage: (args: MiddlewareArgs) => Ask): MiddlewareFunction<Response> {
  return async (args, next) => {
    const { request, context, url } = args;
    const client = await getClient(request, context, request.method === "POST" ? whoAsks : askForPage(args));
    if (!client) {
      // A session that the backend does not know, or a cookie that is not one: the cookie goes.
      endSession(context);
      throw toLogin(request, withNext("/login", url));
    }
    context.set(clientContext, client);
    if (!("reason" in client)) {
      if (needsCode(client)) throw redirect(withNext("/login/verify", url), 303);
      // A colleague has no shipments of their own: theirs is the other side of everybody's.
      if (client.colleague) throw redirect("/desk", 303);
      limitWrites(context, client);
    }
    const response = await next();
    response.headers.set("Cache-Control", "private, no-store");
    return response;
  };
}

/** Counts what this request changes against the limit of the person. */
export function limitWrites(context: Readonly<RouterContextProvider>, client: Client): void {
  guardWrites(context, async () => {
    const attempt = await limitsOf(context).write(client.id);
    return "reason" in attempt ? attempt : null;
  });
}

/**
 * Redirects the signed-in from the login and the sign-up to the portal. Others see the form, also when the backend
 * cannot tell. Removes the cookie of an ended session.
 */
export const signedInMiddleware: MiddlewareFunction<Response> = async ({ request, context, url }, next) => {
  if (request.method === "POST") return next();
  const client = await getClient(request, context);
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

/** A path with the page of the portal or the desk that was asked for, to come back to it. */
export function withNext(path: string, wanted: URL): string {
  // Of a file the page that it is on: a login cannot lead to a download.
  const next = portalPath(wanted.pathname.replace(/\/documents\/[^/]*$/, "") + wanted.search);
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

/**
 * The signed-in client; null when there is none; a refusal when that cannot be found out just now: the session is kept
 * then. The access token is verified here; whether its session still lives only the database knows.
 */
export async function getClient(
  request: Request,
  context: Readonly<RouterContextProvider>,
  ask: Ask = whoAsks,
): Promise<Client | Refusal | null> {
  if (!hasSessionCookie(request)) return null;
  const backend = backendOf(context);
  return within(deadlines().page, recognise(backend, ask), renewalFailed(backend)).catch(refusalOfThrown);
}

async function recognise(backend: Backend, ask: Ask): Promise<Client | Refusal | null> {
  const { data: stored, error: unrenewed } = await backend.auth.getSession();
  if (unrenewed && isUnavailable(unrenewed)) throw unrenewed;
  const token = stored.session?.access_token;
  if (!token) return null;
  const verified = await verifiedClaims(token);
  const claims = verified === "unknown" ? await claimsByAuth(backend, token) : verified;
  if (!claims) return null;
  const answer = await ask(backend);
  // A key that was revoked since it was published to us ends the session. What auth knows and the data API does not take
  // is their disagreement, of a moment or of their settings.
  const byAuth = !answer && (verified === "unknown" || (await claimsByAuth(backend, token)));
  if (byAuth) return refusalOfThrown(null);
  if (!answer || "reason" in answer) return answer;
  const { caller } = answer;
  return (
    caller && {
      id: claims.sub,
      email: caller.email ?? "",
      fullName: caller.full_name ?? "",
      backend,
      factors: caller.factors,
      // A token says so for its hour; auth no longer when the factor was removed meanwhile.
      hasGivenCode: claims.aal === "aal2" && caller.gave_code,
      colleague: caller.colleague,
    }
  );
}

/** The claims of a token that auth itself takes; null when it does not. Rejects when it cannot tell just now. */
async function claimsByAuth(backend: Backend, token: string): Promise<Claims | null> {
  const { data, error } = await backend.auth.getUser(token);
  if (error && isUnavailable(error)) throw error;
  return data.user && unverifiedClaims(token);
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
