import { createContext, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import { z } from "zod";
import { serviceRoleClient } from "../supabase/client.server.ts";
import { env } from "./env.server.ts";
import { getNetwork, getSitePrefix, readIpAddress } from "./ip-address.server.ts";
import { createAccountMark, createKeyedHash, type KnownBrowser, readKnownBrowser } from "./known-browser.server.ts";
import { log } from "./log.server.ts";
import { toUserError, type UserError, userErrorFromThrown } from "./user-error.server.ts";

/** Callers must call `refund` after a correct login or code, so that the attempt does not count. */
export type RateLimitHit = { refund: () => void };

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;

/** A used code is rejected for longer than the 90 seconds for which authenticator codes are valid. */
const usedTotpSeconds = 2 * minuteSeconds;

const maxDataExportsPerHour = 5;

const maxAccountChangesPerDay = 5;

const defaultRetryAfterSeconds = 5 * minuteSeconds;

/** The database function consume_rate_limit returns `retry_after` in seconds. */
const RateLimitResult = z.union([
  z.object({ attempt_id: z.uuid() }),
  z.object({ exceeded_key: z.string(), retry_after: z.number() }),
]);

type RateLimit = { keyParts: string[]; max: number; seconds: number };

/** Refunds are delayed by 100 ms, so that the next attempt can include the refunds in the same backend call. */
const refundDelayMs = 100;

const pendingRefunds: string[] = [];
let refundTimer: NodeJS.Timeout | undefined;

function scheduleRefund(attempt: string): void {
  pendingRefunds.push(attempt);
  if (pendingRefunds.length === 1) refundTimer = setTimeout(() => void refundHits(takePendingRefunds()), refundDelayMs);
}

function takePendingRefunds(): string[] {
  clearTimeout(refundTimer);
  return pendingRefunds.splice(0);
}

async function refundHits(attempts: string[], tries = 2): Promise<void> {
  if (attempts.length === 0) return;
  const { error } = await serviceRoleClient()
    .rpc("refund_rate_limits", { attempt_ids: attempts })
    .then(undefined, (error: Error) => ({ error }));
  if (error && tries > 1) setTimeout(() => void refundHits(attempts, tries - 1), 10 * refundDelayMs);
}

export class RateLimiter {
  retryAfter: number | null = null;
  #network: string;
  #site: string | null;
  #browser: KnownBrowser;

  constructor(request: Request) {
    this.#network = getNetwork(readIpAddress(request));
    this.#site = getSitePrefix(readIpAddress(request));
    this.#browser = readKnownBrowser(request);
  }

  /** Browsers that logged in before have separate counts, so that a stranger cannot lock out the account's owner. */
  consumeLogin(email: string): Promise<RateLimitHit | UserError> {
    const { loginsPerEmail, loginsPerAddress, loginsPerAccount } = env().limits;
    const account = email.toLowerCase();
    const { id, marks } = this.#browser;
    const limits = marks.includes(createAccountMark(id, account))
      ? [{ keyParts: ["login browser", id, account], max: loginsPerEmail, seconds: 15 * minuteSeconds }]
      : [
          { keyParts: ["login", account, this.#network], max: loginsPerEmail, seconds: 15 * minuteSeconds },
          ...this.#perAddress({ keyParts: ["login address"], max: loginsPerAddress, seconds: 15 * minuteSeconds }),
          { keyParts: ["login account", account], max: loginsPerAccount, seconds: hourSeconds },
        ];
    return this.#take("Too many login attempts.", limits);
  }

  consumeClientId(): Promise<RateLimitHit | UserError> {
    return this.#take(
      "Too many wrong Client IDs.",
      this.#perAddress({ keyParts: ["client id"], max: env().limits.clientIds, seconds: hourSeconds }),
    );
  }

  /** Returns no limit if a proxy hides the visitors' IP addresses. A shared limit would lock out all visitors. */
  #perAddress(limit: RateLimit): RateLimit[] {
    if (!env().hasVisitorIps) return [];
    const { keyParts, max } = limit;
    const perNetwork = { ...limit, keyParts: [...keyParts, this.#network] };
    return this.#site ? [perNetwork, { ...limit, keyParts: [...keyParts, this.#site], max: 5 * max }] : [perNetwork];
  }

  /** Wrong codes count separately for each browser that logged in before, and for each emailed link. */
  consumeTotpAttempt(userId: string, email: string, link?: string): Promise<RateLimitHit | UserError> {
    const { id, marks } = this.#browser;
    const isKnown = marks.includes(createAccountMark(id, email.toLowerCase()));
    const keyParts = link ? ["code link", link] : isKnown ? ["code browser", id, userId] : ["code", userId];
    return this.#take("Too many wrong codes.", [{ keyParts, max: env().limits.codes, seconds: 15 * minuteSeconds }]);
  }

  /** Rejects a code that was used before. Callers must call `refund` if the backend did not check the code. */
  consumeTotp(factorId: string, code: string): Promise<RateLimitHit | UserError> {
    return this.#take("You have already tried this code.", [
      { keyParts: ["used code", factorId, code], max: 1, seconds: usedTotpSeconds },
    ]);
  }

  consumeWrite(userId: string): Promise<RateLimitHit | UserError> {
    return this.#take("Too many changes in one minute.", [
      { keyParts: ["write", userId], max: env().limits.writes, seconds: minuteSeconds },
    ]);
  }

  consumeDataExport(userId: string): Promise<RateLimitHit | UserError> {
    return this.#take("You have downloaded your data several times in the last hour.", [
      { keyParts: ["archive", userId], max: maxDataExportsPerHour, seconds: hourSeconds },
    ]);
  }

  /** Limits the emails that strangers can cause. Callers must call `refund` if no email was sent. */
  consumeEmail(recipient: string, advice?: string): Promise<RateLimitHit | UserError> {
    return this.#take("Too many emails were requested.", this.#emailLimits(recipient), advice);
  }

  consumeEmailChange(userId: string, recipient: string): Promise<RateLimitHit | UserError> {
    const limits = [this.#daily("email changes", userId, maxAccountChangesPerDay), ...this.#emailLimits(recipient)];
    return this.#take("Too many attempts to change the email address.", limits);
  }

  consumePasswordChange(userId: string): Promise<RateLimitHit | UserError> {
    const limit = this.#daily("password changes", userId, maxAccountChangesPerDay);
    return this.#take("Too many password changes in 24 hours.", [limit]);
  }

  #emailLimits(recipient: string): RateLimit[] {
    const { emailsPerRecipient, emailsPerAddress } = env().limits;
    const perAddress = { keyParts: ["email address"], max: emailsPerAddress, seconds: hourSeconds };
    return [this.#daily("email", recipient.toLowerCase(), emailsPerRecipient), ...this.#perAddress(perAddress)];
  }

  #daily(kind: string, account: string, max: number): RateLimit {
    return { keyParts: [kind, account], max, seconds: 24 * hourSeconds };
  }

  async #take(message: string, limits: RateLimit[], advice = "Try again"): Promise<RateLimitHit | UserError> {
    const hashedLimits = limits.map(({ keyParts, max: max_hits, seconds: window_seconds }) => {
      return { key: createKeyedHash(keyParts), max_hits, window_seconds };
    });
    const refundedIds = takePendingRefunds();
    const fail = (error: UserError) => {
      void refundHits(refundedIds);
      return error;
    };
    try {
      const args = { limits: hashedLimits, refunded_ids: refundedIds };
      const { data, error, status } = await serviceRoleClient().rpc("consume_rate_limit", args);
      if (error) return fail(toUserError({ ...error, status }));
      const result = RateLimitResult.parse(data);
      if ("attempt_id" in result) return { refund: () => scheduleRefund(result.attempt_id) };
      this.retryAfter = result.retry_after;
      const exceeded = limits[hashedLimits.findIndex(({ key }) => key === result.exceeded_key)];
      log("warn", "limit", { limit: exceeded?.keyParts[0], retryAfter: result.retry_after });
      return { reason: `${message} ${advice} in ${formatDuration(result.retry_after)}.`, status: 429 };
    } catch (error) {
      return fail(userErrorFromThrown(error));
    }
  }
}

const rateLimiterContext = createContext<RateLimiter>();

export const rateLimitMiddleware: MiddlewareFunction<Response> = async ({ request, context }, next) => {
  const limits = new RateLimiter(request);
  context.set(rateLimiterContext, limits);
  const response = await next();
  if (response.status === 429)
    response.headers.set("Retry-After", String(limits.retryAfter ?? defaultRetryAfterSeconds));
  return response;
};

export function getRateLimiter(context: Readonly<RouterContextProvider>): RateLimiter {
  return context.get(rateLimiterContext);
}

function formatDuration(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
