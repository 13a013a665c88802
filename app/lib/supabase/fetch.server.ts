/** Calls to the backend: with a deadline, retries where that is safe, and one refresh for concurrent requests. */
import { setTimeout } from "node:timers/promises";
import { deadlines } from "../http/env.server.ts";
import { looksLikeToken } from "./token-shape.ts";

/**
 * fetch for the backend's calls, with a deadline. Reads and session refreshes are tried three times, 200 and 400 ms
 * apart, on a lost connection and 502, 503 and 504; writes once, because a lost write may have been done. Rejects with
 * a TimeoutError past the deadline.
 */
export function createSupabaseFetch(pageSignal: AbortSignal | null, unrenewed = new AbortController()): typeof fetch {
  return async (input, init) => {
    if (!isSessionRefresh(input) || typeof init?.body !== "string") return fetchWithRetry(input, init, pageSignal);
    // supabase-js would go on retrying for half a minute.
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

/** Answers of the refreshes under way and just done, by request body. */
const recentRefreshes = new Map<string, Promise<Response>>();
/** How long a refresh answers for requests that come with the same old token, in milliseconds. */
const refreshReuseMs = 10_000;

/** Shares one refresh, and its answer, among all requests with the same expired token. */
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

/** What auth says when it cannot judge a refresh just now: too slow, another one on its way, too many. */
const temporaryStatuses = [408, 409, 429];

/**
 * The answer to a refresh if auth gave it: a session, or a refusal with a code. Anything else becomes a 503, on which
 * supabase-js keeps the session; on other errors it would drop it: a failure, a hook's too, or a proxy's page.
 */
async function validateRefresh(response: Response): Promise<Response> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  const { access_token, code, error_code, error } = (body ?? {}) as Record<string, unknown>;
  if (response.ok)
    return typeof access_token === "string" && looksLikeToken(access_token) ? response : createNotRenewedResponse();
  // Auth names the error in `code` when it says its version, before that in `error_code`, and long ago in `error`.
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
 * Waits for `promise` at most `milliseconds`, for calls that retry by themselves; rejects with a TimeoutError, or with
 * an AbortError as soon as `hopeless` is aborted.
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
