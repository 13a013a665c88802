import { combineChunks, createServerClient, serializeCookieHeader, stringFromBase64URL } from "@supabase/ssr";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { createContext, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import ws from "ws";
import { decodeClaims } from "../auth/access-token.server.ts";
import {
  accountCookieName,
  cookieAttributes,
  hasFlagCookie,
  hashAccountId,
  isSessionCookie,
  type RequestCookie,
  readCookie,
  readCookies,
  serializeReadableCookie,
  sessionCookieName,
  signedOutAccount,
} from "../http/cookies.server.ts";
import { type BackendAccess, deadlines, env } from "../http/env.server.ts";
import { type UserError, userErrorResponse } from "../http/user-error.server.ts";
import type { Database } from "./database.ts";
import { createSupabaseFetch, looksLikeToken } from "./fetch.server.ts";

export type AppSupabaseClient = SupabaseClient<Database>;

const sessionMaxAge = 30 * 24 * 60 * 60;

// supabase-js requires a WebSocket class on Node 20.
const realtimeOptions = { transport: ws as unknown as typeof WebSocket };

const failedRenewals = new WeakMap<AppSupabaseClient, AbortSignal>();

export function getRenewalFailedSignal(supabase: AppSupabaseClient): AbortSignal | undefined {
  return failedRenewals.get(supabase);
}

/** The value of the checkbox for shared computers on requests with a login form; null on all other requests. */
export const sharedComputerContext = createContext<boolean | null>(null);
const sharedComputerCookieName = "shared";

export function isSharedComputer(request: Request): boolean {
  return hasFlagCookie(request, sharedComputerCookieName);
}

/** Browser scripts read the cookie `shared`, because a shared computer must not store offline copies. */
export function sharedComputerCookie(shared: boolean): string {
  return serializeReadableCookie(sharedComputerCookieName, shared ? "1" : "", shared ? undefined : 0);
}

const sessionEndContext = createContext<"sign-out" | "ended" | null>(null);

export function endSession(context: Readonly<RouterContextProvider>, isSignOut = false): void {
  context.set(sessionEndContext, isSignOut ? "sign-out" : "ended");
}

export function isSessionEnded(context: Readonly<RouterContextProvider>): boolean {
  return context.get(sessionEndContext) !== null;
}

const supabaseContext = createContext<() => AppSupabaseClient>();

type WriteGuard = () => Promise<UserError | null>;
const writeGuardContext = createContext<WriteGuard | null>(null);

/** Calls `guard` once per request, before the first backend call that changes data. */
export function guardWrites(context: Readonly<RouterContextProvider>, guard: WriteGuard): void {
  let verdict: Promise<UserError | null> | undefined;
  context.set(writeGuardContext, () => {
    verdict ??= guard();
    return verdict;
  });
}

function createGuardedFetch(send: typeof fetch, context: Readonly<RouterContextProvider>): typeof fetch {
  return async (input, init) => {
    const error = (init?.method ?? "GET") === "GET" ? null : await context.get(writeGuardContext)?.();
    return error ? userErrorResponse(error) : send(input, init);
  };
}

export const supabaseMiddleware: MiddlewareFunction<Response> = async ({ request, context }, next) => {
  const cookies = new Map<string, string>();
  const headers = new Headers();
  let client: AppSupabaseClient | undefined;
  let requestCookies: Promise<RequestCookie[]> | undefined;
  const renewalFailure = new AbortController();
  context.set(supabaseContext, () => {
    if (client) return client;
    const pageSignal = request.method === "GET" ? AbortSignal.timeout(deadlines().page) : null;
    client = createServerClient<Database>(env().backend.url, env().backend.publishableKey, {
      cookieOptions: { ...cookieAttributes(), name: sessionCookieName() },
      cookies: {
        encode: "tokens-only",
        getAll: () => {
          requestCookies ??= dropDamagedSession(readCookies(request));
          return requestCookies;
        },
        setAll: (values, noStore) => {
          // Without `maxAge`, the cookie ends with the browser session. @supabase/ssr would set a `maxAge` of 400 days.
          const age = (context.get(sharedComputerContext) ?? isSharedComputer(request)) ? undefined : sessionMaxAge;
          for (const { name, value, options } of values) {
            const maxAge = value === "" ? 0 : age;
            cookies.set(name, serializeCookieHeader(name, value, { ...options, maxAge }));
          }
          const token = readAccessToken(values.map((each) => (isSessionCookie(each) ? each.value : "")).join(""));
          if (token) {
            const account = hashAccountId(decodeClaims(token).sub);
            cookies.set(accountCookieName, serializeReadableCookie(accountCookieName, account, age));
          }
          for (const [name, value] of Object.entries(noStore)) headers.set(name, value);
        },
      },
      global: { fetch: createGuardedFetch(createSupabaseFetch(pageSignal, renewalFailure), context) },
      realtime: realtimeOptions,
    });
    failedRenewals.set(client, renewalFailure.signal);
    return client;
  });

  const response = await next();
  if (isSessionEnded(context)) {
    headers.set("Cache-Control", "private, no-store");
    const sessionCookies = readCookies(request).filter(isSessionCookie);
    for (const name of [...cookies.keys(), ...sessionCookies.map(({ name }) => name)]) {
      cookies.set(name, serializeCookieHeader(name, "", { ...cookieAttributes(), maxAge: 0 }));
    }
    cookies.delete(accountCookieName);
    const account = readCookie(request, accountCookieName) ?? signedOutAccount;
    if (context.get(sessionEndContext) === "sign-out")
      cookies.set(accountCookieName, serializeReadableCookie(accountCookieName, signedOutAccount, sessionMaxAge));
    else if (account !== signedOutAccount)
      cookies.set(accountCookieName, serializeReadableCookie(accountCookieName, "", 0));
  }
  for (const [name, value] of headers) response.headers.set(name, value);
  for (const cookie of cookies.values()) response.headers.append("Set-Cookie", cookie);
  return response;
};

async function dropDamagedSession(all: RequestCookie[]): Promise<RequestCookie[]> {
  const session = await combineChunks(sessionCookieName(), (name) => all.find((cookie) => cookie.name === name)?.value);
  return readAccessToken(session) ? all : all.filter((cookie) => !isSessionCookie(cookie));
}

function readAccessToken(value: string | null): string | null {
  try {
    const session: unknown = JSON.parse(stringFromBase64URL(value?.replace(/^base64-/, "") ?? ""));
    const { access_token, refresh_token } = session as Record<string, unknown>;
    const isText = [access_token, refresh_token].every((token) => typeof token === "string" && /^[\w.-]+$/.test(token));
    return isText && looksLikeToken(access_token as string) ? (access_token as string) : null;
  } catch {
    return null;
  }
}

export function getSupabase(context: Readonly<RouterContextProvider>): AppSupabaseClient {
  return context.get(supabaseContext)();
}

/**
 * Returns a Supabase client for long downloads. Each call has its own time limit, instead of one limit for all calls of
 * a request. The client does not refresh its access token, which expires within an hour.
 */
export async function createLongReadClient(supabase: AppSupabaseClient): Promise<AppSupabaseClient> {
  const { data } = await supabase.auth.getSession();
  const { url, publishableKey } = env().backend;
  return createSessionlessClient(url, publishableKey, { Authorization: `Bearer ${data.session?.access_token}` });
}

export function anonymousClient(): AppSupabaseClient {
  return createSessionlessClient(env().backend.url, env().backend.publishableKey);
}

/** Bypasses row-level security. Only for work beyond a viewer's privileges, and for files after an access check. */
export function serviceRoleClient(access: BackendAccess = env().backend): AppSupabaseClient {
  const cachedClient = serviceRoleClients.get(access);
  if (cachedClient) return cachedClient;
  const client = createSessionlessClient(access.url, access.secretKey);
  serviceRoleClients.set(access, client);
  return client;
}

const serviceRoleClients = new WeakMap<BackendAccess, AppSupabaseClient>();

function createSessionlessClient(url: string, key: string, headers: Record<string, string> = {}): AppSupabaseClient {
  return createClient<Database>(url, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { fetch: createSupabaseFetch(null), headers },
    realtime: realtimeOptions,
  });
}
