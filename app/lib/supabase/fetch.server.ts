/** fetch for backend calls, with a deadline, safe retries and one session refresh for concurrent requests. */
import { setTimeout } from "node:timers/promises";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { deadlines } from "../http/env.server.ts";

/**
 * Returns a fetch with a deadline. Reads and session refreshes are tried three times, 200 and 400 ms apart, after a lost
 * connection and status 502, 503 and 504. Writes are tried once, because a lost write may have taken effect.
 * Throws a TimeoutError after the deadline.
 */
export function createSupabaseFetch(pageSignal: AbortSignal | null, unrenewed = new AbortController()): typeof fetch {
  return async (input, init) => {
    if (!isSessionRefresh(input) || typeof init?.body !== "string") return fetchWithRetry(input, init, pageSignal);
    // supabase-js would retry for half a minute.
    if (unrenewed.signal.aborted) return createNotRenewedResponse();
    try {
      const answer = await shareRefresh(init.body, () => fetchWithRetry(input, init, pageSignal));
      if (answer.status === 503) unrenewed.abort();
      return answer;
    } catch (error) {
      unrenewed.abort();
      throw error;
    }
  };
}

async function fetchWithRetry(
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  pageSignal: AbortSignal | null,
) {
  const repeatable = isSessionRefresh(input) || (init?.method ?? "GET") === "GET";
  const upload = String(input).includes("/storage/v1/object");
  const { page, write, upload: store } = deadlines();
  const deadline = upload ? store : repeatable ? page : write;
  const signal = pageSignal ?? AbortSignal.timeout(deadline);
  for (let round = 1; ; round += 1) {
    const last = !repeatable || round === 3;
    try {
      const response = await fetch(input, { ...init, signal });
      if (last || ![502, 503, 504].includes(response.status)) return response;
    } catch (error) {
      if (last || signal.aborted) throw error;
    }
    await setTimeout(100 * 2 ** round, undefined, { signal });
  }
}

function isSessionRefresh(input: Parameters<typeof fetch>[0]): boolean {
  return String(input).includes("grant_type=refresh_token");
}

/** Responses of current and recent refreshes, by request body. */
const recentRefreshes = new Map<string, Promise<Response>>();
/** How long requests with the same old token share one refresh. */
const refreshReuseMs = 10_000;

/** Shares one refresh and its response among all requests with the same expired token. */
async function shareRefresh(body: string, send: () => Promise<Response>): Promise<Response> {
  let answer = recentRefreshes.get(body);
  if (!answer) {
    answer = send().then(validateRefresh);
    recentRefreshes.set(body, answer);
    const forget = () => recentRefreshes.delete(body);
    answer.then((response) => (response.ok ? globalThis.setTimeout(forget, refreshReuseMs).unref() : forget()), forget);
  }
  return (await answer).clone();
}

/** Auth cannot decide now: timeout, another refresh in progress, or too many requests. */
const temporaryStatuses = [408, 409, 429];

/**
 * Returns the response if it is a session or a named error of auth, and otherwise a 503. After a 503 supabase-js keeps
 * the session. After another error, such as a failed hook or a proxy's error page, it would delete the session.
 */
async function validateRefresh(response: Response): Promise<Response> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  const { access_token, code, error_code, error } = (body ?? {}) as Record<string, unknown>;
  if (response.ok)
    return typeof access_token === "string" && looksLikeToken(access_token) ? response : createNotRenewedResponse();
  // With a version header, auth names the error in `code`. Older versions use `error_code` or `error`.
  const said = response.headers.has("X-Supabase-Api-Version") ? code : (error_code ?? error);
  const isNamed = typeof said === "string" && !said.startsWith("hook_") && (said !== error || said === "invalid_grant");
  return response.status < 500 && !temporaryStatuses.includes(response.status) && isNamed
    ? response
    : createNotRenewedResponse();
}

function createNotRenewedResponse(): Response {
  return Response.json({ message: "The session could not be renewed." }, { status: 503 });
}

/**
 * Waits for `promise` at most `milliseconds`, for calls that retry by themselves. Throws a TimeoutError, or an AbortError
 * when `hopeless` is aborted.
 */
export async function withTimeout<T>(milliseconds: number, promise: Promise<T>, hopeless?: AbortSignal): Promise<T> {
  const settled = new AbortController();
  const signal = hopeless ? AbortSignal.any([settled.signal, hopeless]) : settled.signal;
  const expiry = setTimeout(milliseconds, undefined, { signal }).then(() => {
    throw new DOMException("The backend did not answer in time.", "TimeoutError");
  });
  try {
    return await Promise.race([promise, expiry]);
  } finally {
    expiry.catch(() => undefined);
    settled.abort();
  }
}

/** True if the text has the form of a token. Its signature is not verified. */
export function looksLikeToken(text: string): boolean {
  try {
    return typeof decodeProtectedHeader(text).alg === "string" && Boolean(decodeJwt(text));
  } catch {
    return false;
  }
}
