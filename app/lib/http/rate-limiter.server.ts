/** Rate limits. The limits come from the environment. Postgres stores the counts of all processes. */
import { createContext, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import { z } from "zod";
import { serviceRoleClient } from "../supabase/client.server.ts";
import { env } from "./env.server.ts";
import { getNetwork, getSitePrefix, readIpAddress } from "./ip-address.server.ts";
import { createAccountMark, createKeyedHash, type KnownBrowser, readKnownBrowser } from "./known-browser.server.ts";
import { log } from "./log.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "./user-error.server.ts";

/** A counted attempt. `refund` removes it from the count if it was no failure. */
export type RateLimitHit = { refund: () => void };

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;

/** How long used codes are stored. They are valid for 90 seconds (three steps of 30). */
const usedTotpSeconds = 2 * minuteSeconds;

const maxEmailChangesPerDay = 5;

const maxDataExportsPerHour = 5;

/** Retry-After of a 429 for which the backend gave no time, in seconds. */
const defaultRetryAfter = 5 * minuteSeconds;

/** The result of public.consume_rate_limit; `retry_after` is in seconds. */
const RateLimitResult = z.union([
  z.object({ attempt_id: z.uuid() }),
  z.object({ exceeded_key: z.string(), retry_after: z.number() }),
]);

type RateLimit = { keyParts: string[]; most: number; seconds: number };

/** `retryAfter` is in seconds. */
type RateLimitError = UserError & { retryAfter: number };

/** How long refunds wait for the next attempt, to share its backend call. */
const refundDelayMs = 100;

/** Attempts that this process has to refund, of all requests. Until then they count, so that a limit may apply too early. */
const pendingRefunds: string[] = [];
let refundTimer: NodeJS.Timeout | undefined;

function scheduleRefund(attempt: string): void {
  pendingRefunds.push(attempt);
  if (pendingRefunds.length === 1) refundTimer = setTimeout(() => void refundHits(takePendingRefunds()), refundDelayMs);
}

/** Returns the pending refunds and removes them from the list. */
function takePendingRefunds(): string[] {
  clearTimeout(refundTimer);
  return pendingRefunds.splice(0);
}

/** Refunds attempts, and tries once more after a failure. Otherwise they count until their window ends. */
async function refundHits(attempts: string[], tries = 2): Promise<void> {
  if (attempts.length === 0) return;
  const { error } = await serviceRoleClient()
    .rpc("refund_rate_limits", { attempt_ids: attempts })
    .then(undefined, (error: Error) => ({ error }));
  if (error && tries > 1) setTimeout(() => void refundHits(attempts, tries - 1), 10 * refundDelayMs);
}

export class RateLimiter {
  /** How long to wait after a limit was reached, in seconds. */
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
   * Counts a login with a password; refund a correct one. Known and unknown addresses are counted alike. A browser that has
   * logged in to the account before has its own count, so that failures from elsewhere do not lock out its owner.
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

  /** Counts a client ID at sign-up; refund a correct one. */
  consumeClientId(): Promise<RateLimitHit | UserError> {
    return this.#take(
      "Too many Client IDs that are not known.",
      this.#perAddress({ keyParts: ["client id"], most: env().limits.clientIds, seconds: hourSeconds }),
    );
  }

  /**
   * Returns a limit for one network, and five times as much for an IPv6 site. Returns no limit where a proxy hides the
   * visitors' addresses, because it would lock out all visitors together.
   */
  #perAddress(limit: RateLimit): RateLimit[] {
    if (!env().hasVisitorIps) return [];
    const { keyParts: of, most } = limit;
    const perNetwork = { ...limit, keyParts: [...of, this.#network] };
    return this.#site ? [perNetwork, { ...limit, keyParts: [...of, this.#site], most: 5 * most }] : [perNetwork];
  }

  /**
   * Counts a code of a second factor; refund a correct one. A browser that has logged in to the account before has its own
   * count, and so has a `link` from an email. Someone who knows the password cannot lock out the owner in either case.
   */
  consumeTotpAttempt(userId: string, email: string, link?: string): Promise<RateLimitHit | UserError> {
    const { id, marks } = this.#browser;
    const isKnown = marks.includes(createAccountMark(id, email.toLowerCase()));
    const of = link ? ["code link", link] : isKnown ? ["code browser", id, userId] : ["code", userId];
    return this.#take("Too many wrong codes.", [
      { keyParts: of, most: env().limits.codes, seconds: 15 * minuteSeconds },
    ]);
  }

  /** Counts the one use of a code. Refund it when the backend did not check the code. */
  consumeTotp(factorId: string, code: string): Promise<RateLimitHit | UserError> {
    return this.#take("This code was used.", [
      { keyParts: ["used code", factorId, code], most: 1, seconds: usedTotpSeconds },
    ]);
  }

  consumeWrite(userId: string): Promise<RateLimitHit | UserError> {
    return this.#take("Too many changes in one minute.", [
      { keyParts: ["write", userId], most: env().limits.writes, seconds: minuteSeconds },
    ]);
  }

  consumeDataExport(userId: string): Promise<RateLimitHit | UserError> {
    return this.#take("Your data was downloaded several times just now.", [
      { keyParts: ["archive", userId], most: maxDataExportsPerHour, seconds: hourSeconds },
    ]);
  }

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

/** Provides the limits of a request, and adds Retry-After to a 429 response. */
export const rateLimitMiddleware: MiddlewareFunction<Response> = async ({ request, context }, next) => {
  const limits = new RateLimiter(request);
  context.set(rateLimiterContext, limits);
  const response = await next();
  if (response.status === 429) response.headers.set("Retry-After", String(limits.retryAfter ?? defaultRetryAfter));
  return response;
};

export function getRateLimiter(context: Readonly<RouterContextProvider>): RateLimiter {
  return context.get(rateLimiterContext);
}

/** Returns "40 seconds" or "12 minutes", rounded up so that the next attempt is not too early. */
function formatDuration(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
