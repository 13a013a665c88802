import { setTimeout } from "node:timers/promises";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { deadlines } from "../http/env.server.ts";
import { backendCallChannel } from "../http/metrics.server.ts";

/** Repeats failed reads and session refreshes twice, but no writes, because a failed write may have changed data. */
export function createSupabaseFetch(
  pageSignal: AbortSignal | null,
  renewalFailure = new AbortController(),
): typeof fetch {
  return async (input, init) => {
    if (!isSessionRefresh(input) || typeof init?.body !== "string") return fetchWithRetry(input, init, pageSignal);
    // After a failed refresh, the next refreshes fail immediately, because supabase-js would retry for half a minute.
    if (renewalFailure.signal.aborted) return createNotRenewedResponse();
    try {
      const response = await shareRefresh(init.body, () => fetchWithRetry(input, init, pageSignal));
      if (response.status === 503) renewalFailure.abort();
      return response;
    } catch (error) {
      renewalFailure.abort();
      throw error;
    }
  };
}

/** Matches texts that may begin with an operator of PostgREST, such as the email address "in.njeri@client.example". */
const operatorPattern = /^[a-z]+(\([^)]*\))?\./;

/** Moves a database function's arguments from the URL to the body if PostgREST could read one argument as a filter. */
function withLiteralArguments(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Parameters<typeof fetch> {
  const url = new URL(String(input));
  const isRead = (init.method ?? "GET") === "GET" && url.pathname.includes("/rest/v1/rpc/");
  if (!isRead || ![...url.searchParams.values()].some((text) => operatorPattern.test(text))) return [input, init];
  const headers = new Headers(init.headers);
  headers.set("Content-Type", "application/json");
  const body = JSON.stringify(Object.fromEntries(url.searchParams));
  url.search = "";
  return [url, { ...init, method: "POST", headers, body }];
}

async function fetchWithRetry(
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  pageSignal: AbortSignal | null,
) {
  const isRepeatable = isSessionRefresh(input) || (init?.method ?? "GET") === "GET";
  const isUpload = String(input).includes("/storage/v1/object");
  const { page, write, upload: store } = deadlines();
  const deadline = isUpload ? store : isRepeatable ? page : write;
  const signal = pageSignal ?? AbortSignal.timeout(deadline);
  const [target, options] = withLiteralArguments(input, init);
  for (let attempt = 1; ; attempt += 1) {
    const isLastTry = !isRepeatable || attempt === 3;
    try {
      const response = await measuredFetch(target, { ...options, signal });
      if (isLastTry || ![502, 503, 504].includes(response.status)) return response;
    } catch (error) {
      if (isLastTry || signal.aborted) throw error;
    }
    await setTimeout(100 * 2 ** attempt, undefined, { signal });
  }
}

async function measuredFetch(...args: Parameters<typeof fetch>): Promise<Response> {
  const start = performance.now();
  let status = 0;
  try {
    const response = await fetch(...args);
    status = response.status;
    return response;
  } finally {
    backendCallChannel.publish({ url: String(args[0]), status, ms: performance.now() - start });
  }
}

function isSessionRefresh(input: Parameters<typeof fetch>[0]): boolean {
  return String(input).includes("grant_type=refresh_token");
}

const recentRefreshes = new Map<string, Promise<Response>>();
const refreshReuseMs = 10_000;

/** Requests with the same refresh token share one call, because a refresh token works only once. */
async function shareRefresh(body: string, send: () => Promise<Response>): Promise<Response> {
  let sharedResponse = recentRefreshes.get(body);
  if (!sharedResponse) {
    sharedResponse = send().then(validateRefresh);
    recentRefreshes.set(body, sharedResponse);
    const remove = () => recentRefreshes.delete(body);
    sharedResponse.then(
      (response) => (response.ok ? globalThis.setTimeout(remove, refreshReuseMs).unref() : remove()),
      remove,
    );
  }
  return (await sharedResponse).clone();
}

/** Turns all failures except a rejected token into status 503, so that supabase-js does not end the session. */
async function validateRefresh(response: Response): Promise<Response> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  const { access_token } = (body ?? {}) as Record<string, unknown>;
  if (response.ok && typeof access_token === "string" && looksLikeToken(access_token)) return response;
  const { status } = response;
  if (![400, 401, 403, 404].includes(status)) return createNotRenewedResponse();
  // The site treats an error response without `error_code` as a failure of the backend.
  return Response.json({ error_code: "refresh_token_not_found", msg: "The session has ended." }, { status });
}

function createNotRenewedResponse(): Response {
  return Response.json({ message: "The session could not be renewed." }, { status: 503 });
}

/** Throws a TimeoutError after `milliseconds`, or an AbortError when `abortSignal` is aborted. */
export async function withTimeout<T>(milliseconds: number, promise: Promise<T>, abortSignal?: AbortSignal): Promise<T> {
  const settled = new AbortController();
  const signal = abortSignal ? AbortSignal.any([settled.signal, abortSignal]) : settled.signal;
  const expiry = setTimeout(milliseconds, undefined, { signal }).then(() => {
    throw new DOMException("The backend did not respond in time.", "TimeoutError");
  });
  try {
    return await Promise.race([promise, expiry]);
  } finally {
    expiry.catch(() => undefined);
    settled.abort();
  }
}

export function looksLikeToken(text: string): boolean {
  try {
    return typeof decodeProtectedHeader(text).alg === "string" && Boolean(decodeJwt(text));
  } catch {
    return false;
  }
}
