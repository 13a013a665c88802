/** How often something may be tried. The figures come from the environment, the counts lie in Postgres for all processes. */
import { createHmac, randomBytes } from "node:crypto";
import { createContext, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import { z } from "zod";
import { serviceRoleClient } from "../supabase/client.server.ts";
import { readCookie, serializeCookie } from "./cookies.server.ts";
import { env } from "./env.server.ts";
import { getNetwork, getSitePrefix, readIpAddress } from "./ip-address.server.ts";
import { log } from "./log.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "./user-error.server.ts";

/** A counted attempt. `release` takes back one that was no failure: with the next one that is counted, or soon. */
export type RateLimitHit = { refund: () => void };

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;

/** How long used codes are remembered, in seconds: they are valid for 90 (three steps of 30). */
const usedTotpSeconds = 2 * minuteSeconds;

/** Mails to new addresses that one account asks for in a day. */
const maxEmailChangesPerDay = 5;

/** Copies of all data of one account in an hour. */
const maxDataExportsPerHour = 5;

/** What a 429 says when the backend gave no time, in seconds. */
const defaultRetryAfter = 5 * minuteSeconds;

/** What public.consume_rate_limit answers; `wait` is in seconds. */
const RateLimitResult = z.union([
  z.object({ attempt_id: z.uuid() }),
  z.object({ exceeded_key: z.string(), retry_after: z.number() }),
]);

/** At most `most` attempts for the key `of` in `seconds`. */
type RateLimit = { keyParts: string[]; most: number; seconds: number };

/** A limit that is reached; `wait` is in seconds. */
type RateLimitError = UserError & { retryAfter: number };

/** In milliseconds: how long attempts that were no failure wait for the next one to go with. */
const refundDelayMs = 100;

/**
 * Attempts that this process has to give back, of all requests. While they are on their way they count: a wrong answer of that
 * moment is one too strict.
 */
const pendingRefunds: string[] = [];
let refundTimer: NodeJS.Timeout | undefined;

/** Gives an attempt back with the next one, or soon. */
function scheduleRefund(attempt: string): void {
  pendingRefunds.push(attempt);
  if (pendingRefunds.length === 1) refundTimer = setTimeout(() => void refundHits(takePendingRefunds()), refundDelayMs);
}

/** The attempts that wait to be given back; they no longer wait. */
function takePendingRefunds(): string[] {
  clearTimeout(refundTimer);
  return pendingRefunds.splice(0);
}

/** Gives attempts back, at the second try if need be. What the backend does not take counts until its time is over. */
async function refundHits(attempts: string[], tries = 2): Promise<void> {
  if (attempts.length === 0) return;
  const { error } = await serviceRoleClient()
    .rpc("refund_rate_limits", { attempt_ids: attempts })
    .then(undefined, (error: Error) => ({ error }));
  if (error && tries > 1) setTimeout(() => void refundHits(attempts, tries - 1), 10 * refundDelayMs);
}

/** The limits that apply to one request. */
export class RateLimiter {
  /** How long the person is to wait when a limit was reached, in seconds. */
  retryAfter: number | null = null;
  #network: string;
  #site: string | null;
  #browser: KnownBrowser;

  constructor(request: Request) {
    this.#network = getNetwork(readIpAddress(request));
    this.#site = getSitePrefix(readIpAddress(request));
    this.#browser = readKnownBrowser(request);
  }

  /**
   * A login with a password; release one that was right. Known and unknown addresses are counted alike. A browser that
   * has logged in to the account before has its own count: failures from elsewhere do not lock its person out.
   */
  consumeLogin(email: string): Promise<RateLimitHit | UserError> {
    const { loginsPerEmail, loginsPerAddress, loginsPerAccount } = env().limits;
    const account = email.toLowerCase();
    const { id, marks } = this.#browser;
    const limits = marks.includes(createAccountMark(id, account))
      ? [{ keyParts: ["login browser", id, account], most: loginsPerEmail, seconds: 15 * minuteSeconds }]
      : [
          { keyParts: ["login", account, this.#network], most: loginsPerEmail, seconds: 15 * minuteSeconds },
          ...this.#perAddress({ keyParts: ["login address"], most: loginsPerAddress, seconds: 15 * minuteSeconds }),
          { keyParts: ["login account", account], most: loginsPerAccount, seconds: hourSeconds },
        ];
    return this.#take("Too many attempts to log in.", limits);
  }

  /** A client ID at sign-up; release one that was right. */
  consumeClientId(): Promise<RateLimitHit | UserError> {
    return this.#take(
      "Too many Client IDs that are not known.",
      this.#perAddress({ keyParts: ["client id"], most: env().limits.clientIds, seconds: hourSeconds }),
    );
  }

  /**
   * A limit for one network, and five times as much for an IPv6 site; none where a proxy hides the addresses of
   * visitors, since it would lock out all of them together.
   */
  #perAddress(limit: RateLimit): RateLimit[] {
    if (!env().hasVisitorIps) return [];
    const { keyParts: of, most } = limit;
    const perLine = { ...limit, keyParts: [...of, this.#network] };
    return this.#site ? [perLine, { ...limit, keyParts: [...of, this.#site], most: 5 * most }] : [perLine];
  }

  /**
   * A code of a second factor; release one that was right. A browser that has logged in to the account before has its own
   * count, and so has who came by a `link` from a mail: somebody who knows the password locks its owner out of neither.
   */
  consumeTotpAttempt(userId: string, email: string, link?: string): Promise<RateLimitHit | UserError> {
    const { id, marks } = this.#browser;
    const isKnown = marks.includes(createAccountMark(id, email.toLowerCase()));
    const of = link ? ["code link", link] : isKnown ? ["code browser", id, userId] : ["code", userId];
    return this.#take("Too many wrong codes.", [
      { keyParts: of, most: env().limits.codes, seconds: 15 * minuteSeconds },
    ]);
  }

  /** The one use of a code; refused when it was given before. Release it when the backend did not look at it. */
  consumeTotp(factorId: string, code: string): Promise<RateLimitHit | UserError> {
    return this.#take("This code was used.", [
      { keyParts: ["used code", factorId, code], most: 1, seconds: usedTotpSeconds },
    ]);
  }

  /** A form of a signed-in client that changes something. */
  consumeWrite(userId: string): Promise<RateLimitHit | UserError> {
    return this.#take("Too many changes in one minute.", [
      { keyParts: ["write", userId], most: env().limits.writes, seconds: minuteSeconds },
    ]);
  }

  /** A copy of all data of a signed-in client: it reads every file of theirs. */
  consumeDataExport(userId: string): Promise<RateLimitHit | UserError> {
    return this.#take("Your data was downloaded several times just now.", [
      { keyParts: ["archive", userId], most: maxDataExportsPerHour, seconds: hourSeconds },
    ]);
  }

  /** A mail to an address that a signed-in client names as their new one. */
  consumeEmailChange(userId: string): Promise<RateLimitHit | UserError> {
    return this.#take("Too many new addresses in one day.", [
      { keyParts: ["address mails", userId], most: maxEmailChangesPerDay, seconds: 24 * hourSeconds },
    ]);
  }

  async #take(words: string, limits: RateLimit[]): Promise<RateLimitHit | RateLimitError | UserError> {
    const asked = limits.map(({ keyParts: of, most, seconds }) => ({
      key: createKeyedHash(of),
      max_hits: most,
      window_seconds: seconds,
    }));
    const along = takePendingRefunds();
    const failed = (refusal: UserError) => {
      void refundHits(along);
      return refusal;
    };
    try {
      const { data, error, status } = await serviceRoleClient().rpc("consume_rate_limit", {
        limits: asked,
        refunded_ids: along,
      });
      if (error) return failed(toUserError({ ...error, status }));
      const answer = RateLimitResult.parse(data);
      if ("attempt_id" in answer) {
        const { attempt_id } = answer;
        return { refund: () => scheduleRefund(attempt_id) };
      }
      this.retryAfter = answer.retry_after;
      log("warn", "limit", {
        limit: limits[asked.findIndex(({ key }) => key === answer.exceeded_key)]?.keyParts[0],
        retryAfter: answer.retry_after,
      });
      return {
        reason: `${words} Try again in ${formatDuration(answer.retry_after)}.`,
        status: 429,
        retryAfter: answer.retry_after,
      };
    } catch (error) {
      return failed(userErrorFromThrown(error));
    }
  }
}

const rateLimiterContext = createContext<RateLimiter>();

/** Gives the request its limits, and a 429 response its Retry-After. */
export const rateLimitMiddleware: MiddlewareFunction<Response> = async ({ request, context }, next) => {
  const limits = new RateLimiter(request);
  context.set(rateLimiterContext, limits);
  const response = await next();
  if (response.status === 429) response.headers.set("Retry-After", String(limits.retryAfter ?? defaultRetryAfter));
  return response;
};

/** The limits of this request. */
export function getRateLimiter(context: Readonly<RouterContextProvider>): RateLimiter {
  return context.get(rateLimiterContext);
}

/** A browser: a random id, and a mark for each account it has logged in to. */
type KnownBrowser = { id: string; marks: string[] };

const knownBrowserCookieName = "known";
const maxKnownAccounts = 5;
/** In seconds: a year. */
const knownBrowserMaxAge = 365 * 24 * hourSeconds;

function readKnownBrowser(request: Request): KnownBrowser {
  const [id = "", ...marks] = (readCookie(request, knownBrowserCookieName) ?? "").split(".");
  return { id, marks };
}

/** A keyed hash of browser and account: cannot be forged, and does not reveal the account. */
function createAccountMark(id: string, email: string): string {
  return createKeyedHash(["known browser", id, email.toLowerCase()]);
}

/** A Set-Cookie after a complete login: from now on this browser's attempts at the account are counted apart. */
export function knownBrowserCookie(request: Request, email: string): string {
  const known = readKnownBrowser(request);
  const id = /^[\w-]{22}$/.test(known.id) ? known.id : randomBytes(16).toString("base64url");
  const mark = createAccountMark(id, email);
  const others = known.marks.filter((other) => other !== mark && /^[\w-]{43}$/.test(other));
  const value = [id, mark, ...others.slice(0, maxKnownAccounts - 1)].join(".");
  return serializeCookie(knownBrowserCookieName, value, knownBrowserMaxAge);
}

/** A keyed hash: does not reveal whose attempts are counted. */
function createKeyedHash(parts: string[]): string {
  return createHmac("sha256", env().sessionSecret).update(JSON.stringify(parts)).digest("base64url");
}

/** "40 seconds", "12 minutes": rounded up, so that trying again then is not too early. */
function formatDuration(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
