/** Handles on the backend: one per request for the person who asks, one for the company's own work. */
import { combineChunks, createServerClient, serializeCookieHeader, stringFromBase64URL } from "@supabase/ssr";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { createContext, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import ws from "ws";
import {
  cookieAttributes,
  hasFlagCookie,
  isSessionCookie,
  type RequestCookie,
  readCookies,
  serializeReadableCookie,
  sessionCookieName,
} from "../http/cookies.server.ts";
import { type BackendAccess, deadlines, env } from "../http/env.server.ts";
import { type UserError, userErrorResponse } from "../http/user-error.server.ts";
import type { Database } from "./database.ts";
import { createSupabaseFetch, looksLikeToken } from "./fetch.server.ts";

export type AppSupabaseClient = SupabaseClient<Database>;

/** How long the session of a browser lasts without a visit, in seconds: 30 days. */
const sessionMaxAge = 30 * 24 * 60 * 60;

// supabase-js wants a WebSocket at hand on Node 20, though nothing here listens to changes.
const realtimeOptions = { transport: ws as unknown as typeof WebSocket };

const failedRenewals = new WeakMap<AppSupabaseClient, AbortSignal>();

/** Aborted once the session of a handle could not be renewed, so that calls waiting for the session can give up. */
export function getRenewalFailedSignal(backend: AppSupabaseClient): AbortSignal | undefined {
  return failedRenewals.get(backend);
}

/** Set by the login: whether this is a shared computer. Null: as the browser's cookie says. */
export const sharedComputerContext = createContext<boolean | null>(null);
const sharedComputerCookieName = "shared";

/** Whether the person said at login that this computer is shared. */
export function isSharedComputer(request: Request): boolean {
  return hasFlagCookie(request, sharedComputerCookieName);
}

/** A cookie of the browser session that remembers the answer. Script reads it too: no page is kept on a shared computer. */
export function sharedComputerCookie(shared: boolean): string {
  return shared
    ? serializeReadableCookie(sharedComputerCookieName, "1")
    : serializeReadableCookie(sharedComputerCookieName, "", 0);
}

/** Whether the answer removes the session's cookies, whatever @supabase/ssr sets meanwhile. */
const sessionEndedContext = createContext<boolean>(false);

/** Takes the session from the browser with the answer to this request. */
export function endSession(context: Readonly<RouterContextProvider>): void {
  context.set(sessionEndedContext, true);
}

/** Whether this request has ended the session it came with. */
export function isSessionEnded(context: Readonly<RouterContextProvider>): boolean {
  return context.get(sessionEndedContext);
}

const supabaseContext = createContext<() => AppSupabaseClient>();

/** Why this request may not change anything; null when it may. */
type WriteGuard = () => Promise<UserError | null>;
const writeGuardContext = createContext<WriteGuard | null>(null);

/** Asks `guard` once, before the first call of this request that changes something; its refusal answers all of them. */
export function guardWrites(context: Readonly<RouterContextProvider>, guard: WriteGuard): void {
  let verdict: Promise<UserError | null> | undefined;
  context.set(writeGuardContext, () => {
    verdict ??= guard();
    return verdict;
  });
}

function createGuardedFetch(send: typeof fetch, context: Readonly<RouterContextProvider>): typeof fetch {
  return async (input, init) => {
    const refusal = (init?.method ?? "GET") === "GET" ? null : await context.get(writeGuardContext)?.();
    return refusal ? userErrorResponse(refusal) : send(input, init);
  };
}

/**
 * Gives the request a lazy handle on the backend and adds to the response what the handle sets: renewed or removed
 * session cookies, and `no-store` with them. After endSession all session cookies are removed instead, also those that
 * a refresh has set.
 */
export const supabaseMiddleware: MiddlewareFunction<Response> = async ({ request, context }, next) => {
  const cookies = new Map<string, string>();
  const headers = new Headers();
  let handle: AppSupabaseClient | undefined;
  let brought: Promise<RequestCookie[]> | undefined;
  const unrenewed = new AbortController();
  context.set(supabaseContext, () => {
    if (handle) return handle;
    const pageSignal = request.method === "GET" ? AbortSignal.timeout(deadlines().page) : null;
    handle = createServerClient<Database>(env().backend.url, env().backend.publishableKey, {
      cookieOptions: { ...cookieAttributes(), name: sessionCookieName() },
      cookies: {
        encode: "tokens-only",
        // The library asks several times for each call.
        getAll: () => {
          brought ??= dropDamagedSession(readCookies(request));
          return brought;
        },
        setAll: (values, noStore) => {
          for (const { name, value, options } of values) {
            // The library gives every cookie 400 days. On a shared computer the session ends with the browser.
            const age = (context.get(sharedComputerContext) ?? isSharedComputer(request)) ? undefined : sessionMaxAge;
            const maxAge = value === "" ? 0 : age;
            cookies.set(name, serializeCookieHeader(name, value, { ...options, maxAge }));
          }
          for (const [name, value] of Object.entries(noStore)) headers.set(name, value);
        },
      },
      global: {
        fetch: createGuardedFetch(createSupabaseFetch(pageSignal, unrenewed), context),
      },
      realtime: realtimeOptions,
    });
    failedRenewals.set(handle, unrenewed.signal);
    return handle;
  });

  const response = await next();
  if (isSessionEnded(context)) {
    headers.set("Cache-Control", "private, no-store");
    const held = readCookies(request).filter(isSessionCookie);
    for (const name of [...cookies.keys(), ...held.map(({ name }) => name)]) {
      cookies.set(name, serializeCookieHeader(name, "", { ...cookieAttributes(), maxAge: 0 }));
    }
  }
  for (const [name, value] of headers) response.headers.set(name, value);
  for (const cookie of cookies.values()) response.headers.append("Set-Cookie", cookie);
  return response;
};

/** The cookies without a damaged session: @supabase/ssr would log every one. */
async function dropDamagedSession(all: RequestCookie[]): Promise<RequestCookie[]> {
  const session = await combineChunks(sessionCookieName(), (name) => all.find((cookie) => cookie.name === name)?.value);
  return isValidSession(session) ? all : all.filter((cookie) => !isSessionCookie(cookie));
}

function isValidSession(value: string | null): boolean {
  try {
    const session: unknown = JSON.parse(stringFromBase64URL(value?.replace(/^base64-/, "") ?? ""));
    const { access_token, refresh_token } = session as Record<string, unknown>;
    const isText = [access_token, refresh_token].every((token) => typeof token === "string" && /^[\w.-]+$/.test(token));
    return isText && looksLikeToken(access_token as string);
  } catch {
    return false;
  }
}

/** The handle of the person who sends this request, under row-level security. */
export function getSupabase(context: Readonly<RouterContextProvider>): AppSupabaseClient {
  return context.get(supabaseContext)();
}

/**
 * A handle of the same person whose calls have a deadline each, instead of one together: for an answer that is longer than a
 * page. It does not renew the session, so it reads for as long as the access token lives, an hour at most.
 */
export async function createLongReadClient(backend: AppSupabaseClient): Promise<AppSupabaseClient> {
  const { data } = await backend.auth.getSession();
  const { url, publishableKey } = env().backend;
  return createSessionlessClient(url, publishableKey, { Authorization: `Bearer ${data.session?.access_token}` });
}

/** A handle without a session, for acts before one exists. Nothing it receives is kept. */
export function anonymousClient(): AppSupabaseClient {
  return createSessionlessClient(env().backend.url, env().backend.publishableKey);
}

/**
 * The company's handle, which bypasses row-level security. Only for staff commands, limits, client IDs, confirming an
 * address, links from mails and to shipments, accounts of colleagues, erasing, notices, and the bytes of files after the database
 * has judged who asks for them.
 */
export function serviceRoleClient(access: BackendAccess = env().backend): AppSupabaseClient {
  const known = serviceRoleClients.get(access);
  if (known) return known;
  const handle = createSessionlessClient(access.url, access.secretKey);
  serviceRoleClients.set(access, handle);
  return handle;
}

/** Nobody signs in with the company's handle, so one serves all. */
const serviceRoleClients = new WeakMap<BackendAccess, AppSupabaseClient>();

function createSessionlessClient(url: string, key: string, headers: Record<string, string> = {}): AppSupabaseClient {
  return createClient<Database>(url, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { fetch: createSupabaseFetch(null), headers },
    realtime: realtimeOptions,
  });
}
