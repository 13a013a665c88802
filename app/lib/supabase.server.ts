/** Handles on the backend: one per request for the person who asks, one for the company's own work. */
import { combineChunks, createServerClient, serializeCookieHeader, stringFromBase64URL } from "@supabase/ssr";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { createContext, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import ws from "ws";
import { backendFetch } from "./backend-fetch.server.ts";
import {
  type Cookie,
  cookieAttributes,
  cookiesOf,
  hasMark,
  isOfSession,
  sessionCookieName,
  setReadableCookie,
} from "./cookies.server.ts";
import type { Database } from "./database.ts";
import { type BackendAccess, deadlines, env } from "./env.server.ts";
import { type Refusal, refusalAsAnswer } from "./refusal.server.ts";
import { looksLikeToken } from "./token-shape.ts";

export type Backend = SupabaseClient<Database>;

/** How long the session of a browser lasts without a visit, in seconds: 30 days. */
const sessionAge = 30 * 24 * 60 * 60;

// supabase-js wants a WebSocket at hand on Node 20, though nothing here listens to changes.
const realtime = { transport: ws as unknown as typeof WebSocket };

const unrenewedHandles = new WeakMap<Backend, AbortSignal>();

/** Aborted once the session of a handle could not be renewed, so that calls waiting for the session can give up. */
export function renewalFailed(backend: Backend): AbortSignal | undefined {
  return unrenewedHandles.get(backend);
}

/** Set by the login: whether this is a shared computer. Null: as the browser's cookie says. */
export const sharedComputer = createContext<boolean | null>(null);
const sharedCookie = "shared";

/** Whether the person said at login that this computer is shared. */
export function isShared(request: Request): boolean {
  return hasMark(request, sharedCookie);
}

/** A cookie of the browser session that remembers the answer. Script reads it too: no page is kept on a shared computer. */
export function rememberShared(shared: boolean): string {
  return shared ? setReadableCookie(sharedCookie, "1") : setReadableCookie(sharedCookie, "", 0);
}

/** Whether the answer removes the session's cookies, whatever @supabase/ssr sets meanwhile. */
const sessionEnded = createContext<boolean>(false);

/** Takes the session from the browser with the answer to this request. */
export function endSession(context: Readonly<RouterContextProvider>): void {
  context.set(sessionEnded, true);
}

/** Whether this request has ended the session it came with. */
export function isSessionEnded(context: Readonly<RouterContextProvider>): boolean {
  return context.get(sessionEnded);
}

const backendContext = createContext<() => Backend>();

/** Why this request may not change anything; null when it may. */
type WriteGuard = () => Promise<Refusal | null>;
const writeGuard = createContext<WriteGuard | null>(null);

/** Asks `guard` once, before the first call of this request that changes something; its refusal answers all of them. */
export function guardWrites(context: Readonly<RouterContextProvider>, guard: WriteGuard): void {
  let verdict: Promise<Refusal | null> | undefined;
  context.set(writeGuard, () => {
    verdict ??= guard();
    return verdict;
  });
}

function guarded(send: typeof fetch, context: Readonly<RouterContextProvider>): typeof fetch {
  return async (input, init) => {
    const refusal = (init?.method ?? "GET") === "GET" ? null : await context.get(writeGuard)?.();
    return refusal ? refusalAsAnswer(refusal) : send(input, init);
  };
}

/**
 * Gives the request a lazy handle on the backend and adds to the response what the handle sets: renewed or removed
 * session cookies, and `no-store` with them. After endSession all session cookies are removed instead, also those that
 * a refresh has set.
 */
export const backendMiddleware: MiddlewareFunction<Response> = async ({ request, context }, next) => {
  const cookies = new Map<string, string>();
  const headers = new Headers();
  let handle: Backend | undefined;
  let brought: Promise<Cookie[]> | undefined;
  const unrenewed = new AbortController();
  context.set(backendContext, () => {
    if (handle) return handle;
    const pageSignal = request.method === "GET" ? AbortSignal.timeout(deadlines().page) : null;
    handle = createServerClient<Database>(env().backend.url, env().backend.publishableKey, {
      cookieOptions: { ...cookieAttributes(), name: sessionCookieName() },
      cookies: {
        encode: "tokens-only",
        // The library asks several times for each call.
        getAll: () => {
          brought ??= withoutDamage(cookiesOf(request));
          return brought;
        },
        setAll: (values, noStore) => {
          for (const { name, value, options } of values) {
            // The library gives every cookie 400 days. On a shared computer the session ends with the browser.
            const age = (context.get(sharedComputer) ?? isShared(request)) ? undefined : sessionAge;
            const maxAge = value === "" ? 0 : age;
            cookies.set(name, serializeCookieHeader(name, value, { ...options, maxAge }));
          }
          for (const [name, value] of Object.entries(noStore)) headers.set(name, value);
        },
      },
      global: {
        fetch: guarded(backendFetch(pageSignal, unrenewed), context),
      },
      realtime,
    });
    unrenewedHandles.set(handle, unrenewed.signal);
    return handle;
  });

  const response = await next();
  if (isSessionEnded(context)) {
    headers.set("Cache-Control", "private, no-store");
    const held = cookiesOf(request).filter(isOfSession);
    for (const name of [...cookies.keys(), ...held.map(({ name }) => name)]) {
      cookies.set(name, serializeCookieHeader(name, "", { ...cookieAttributes(), maxAge: 0 }));
    }
  }
  for (const [name, value] of headers) response.headers.set(name, value);
  for (const cookie of cookies.values()) response.headers.append("Set-Cookie", cookie);
  return response;
};

/** The cookies without a damaged session: @supabase/ssr would log every one. */
async function withoutDamage(all: Cookie[]): Promise<Cookie[]> {
  const session = await combineChunks(sessionCookieName(), (name) => all.find((cookie) => cookie.name === name)?.value);
  return isSession(session) ? all : all.filter((cookie) => !isOfSession(cookie));
}

function isSession(value: string | null): boolean {
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
export function backendOf(context: Readonly<RouterContextProvider>): Backend {
  return context.get(backendContext)();
}

/**
 * A handle of the same person whose calls have a deadline each, instead of one together: for an answer that is longer than a
 * page. It does not renew the session, so it reads for as long as the access token lives, an hour at most.
 */
export async function forLongReads(backend: Backend): Promise<Backend> {
  const { data } = await backend.auth.getSession();
  const { url, publishableKey } = env().backend;
  return detached(url, publishableKey, { Authorization: `Bearer ${data.session?.access_token}` });
}

/** A handle without a session, for acts before one exists. Nothing it receives is kept. */
export function anonymousBackend(): Backend {
  return detached(env().backend.url, env().backend.publishableKey);
}

/**
 * The company's handle, which bypasses row-level security. Only for staff commands, limits, client IDs, confirming an
 * address, links from mails and to shipments, accounts of colleagues, erasing, notices, and the bytes of files after the database
 * has judged who asks for them.
 */
export function companyBackend(access: BackendAccess = env().backend): Backend {
  const known = companyHandles.get(access);
  if (known) return known;
  const handle = detached(access.url, access.secretKey);
  companyHandles.set(access, handle);
  return handle;
}

/** Nobody signs in with the company's handle, so one serves all. */
const companyHandles = new WeakMap<BackendAccess, Backend>();

function detached(url: string, key: string, headers: Record<string, string> = {}): Backend {
  return createClient<Database>(url, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { fetch: backendFetch(null), headers },
    realtime,
  });
}
