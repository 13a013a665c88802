/** How often something may be tried. The figures come from the environment, the counts lie in Postgres for all processes. */
import { createHmac, randomBytes } from "node:crypto";
import { createContext, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import { z } from "zod";
import { addressOf, networkOf, siteOf } from "./client-address.server.ts";
import { cookieOf, setCookie } from "./cookies.server.ts";
import { env } from "./env.server.ts";
import { log } from "./log.server.ts";
import { type Refusal, refusalOf, refusalOfThrown } from "./refusal.server.ts";
import { companyBackend } from "./supabase.server.ts";

/** A counted attempt. `release` uncounts one that was no failure: with the next one that is counted, or soon. */
export type Attempt = { release: () => void };

const minute = 60;
const hour = 60 * minute;

/** How long used codes are remembered, in seconds: they are valid for 90 (three steps of 30). */
const codeLife = 2 * minute;

/** Mails to new addresses that one account asks for in a day. */
const addressMailsPerDay = 5;

/** Copies of all data of one account in an hour. */
const archivesPerHour = 5;

/** What a 429 says when the backend gave no time, in seconds. */
const unknownWait = 5 * minute;

/** What public.take_attempt answers; `wait` is in seconds. */
const Answer = z.union([z.object({ attempt: z.uuid() }), z.object({ refused: z.string(), wait: z.number() })]);

/** At most `most` attempts for the key `of` in `seconds`. */
type Limit = { of: string[]; most: number; seconds: number };

/** A limit that is reached; `wait` is in seconds. */
type Limited = Refusal & { wait: number };

/** In milliseconds: how long attempts that were no failure wait for the next one to go with. */
const soon = 100;

/**
 * Attempts that this process has to give back, of all requests. While they are on their way they count: a wrong answer of that
 * moment is one too strict.
 */
const waiting: string[] = [];
let waited: NodeJS.Timeout | undefined;

/** Gives an attempt back with the next one, or soon. */
function giveBackSoon(attempt: string): void {
  waiting.push(attempt);
  if (waiting.length === 1) waited = setTimeout(() => void giveBack(takeAlong()), soon);
}

/** The attempts that wait to be given back; they no longer wait. */
function takeAlong(): string[] {
  clearTimeout(waited);
  return waiting.splice(0);
}

/** Gives attempts back, at the second try if need be. What the backend does not take counts until its time is over. */
async function giveBack(attempts: string[], tries = 2): Promise<void> {
  if (attempts.length === 0) return;
  const { error } = await companyBackend()
    .rpc("release_attempts", { attempts })
    .then(undefined, (error: Error) => ({ error }));
  if (error && tries > 1) setTimeout(() => void giveBack(attempts, tries - 1), 10 * soon);
}

/** The limits that apply to one request. */
export class Limits {
  /** How long the person is to wait when a limit was reached, in seconds. */
  wait: number | null = null;
  #network: string;
  #site: string | null;
  #browser: KnownBrowser;

  constructor(request: Request) {
    this.#network = networkOf(addressOf(request));
    this.#site = siteOf(addressOf(request));
    this.#browser = knownBrowser(request);
  }

  /**
   * A login with a password; release one that was right. Known and unknown addresses are counted alike. A browser that
   * has logged in to the account before has its own count: failures from elsewhere do not lock its person out.
   */
  login(email: string): Promise<Attempt | Refusal> {
    const { loginsPerEmail, loginsPerAddress, loginsPerAccount } = env().limits;
    const account = email.toLowerCase();
    const { id, marks } = this.#browser;
    const limits = marks.includes(markOf(id, account))
      ? [{ of: ["login browser", id, account], most: loginsPerEmail, seconds: 15 * minute }]
      : [
          { of: ["login", account, this.#network], most: loginsPerEmail, seconds: 15 * minute },
          ...this.#perAddress({ of: ["login address"], most: loginsPerAddress, seconds: 15 * minute }),
          { of: ["login account", account], most: loginsPerAccount, seconds: hour },
        ];
    return this.#take("Too many attempts to log in.", limits);
  }

  /** A client ID at sign-up; release one that was right. */
  clientId(): Promise<Attempt | Refusal> {
    return this.#take(
      "Too many Client IDs that are not known.",
      this.#perAddress({ of: ["client id"], most: env().limits.clientIds, seconds: hour }),
    );
  }

  /**
   * A limit for one network, and five times as much for an IPv6 site; none where a proxy hides the addresses of
   * visitors, since it would lock out all of them together.
   */
  #perAddress(limit: Limit): Limit[] {
    if (!env().addressesTold) return [];
    const { of, most } = limit;
    const perLine = { ...limit, of: [...of, this.#network] };
    return this.#site ? [perLine, { ...limit, of: [...of, this.#site], most: 5 * most }] : [perLine];
  }

  /**
   * A code of a second factor; release one that was right. A browser that has logged in to the account before has its own
   * count, and so has who came by a `link` from a mail: somebody who knows the password locks its owner out of neither.
   */
  code(userId: string, email: string, link?: string): Promise<Attempt | Refusal> {
    const { id, marks } = this.#browser;
    const isKnown = marks.includes(markOf(id, email.toLowerCase()));
    const of = link ? ["code link", link] : isKnown ? ["code browser", id, userId] : ["code", userId];
    return this.#take("Too many wrong codes.", [{ of, most: env().limits.codes, seconds: 15 * minute }]);
  }

  /** The one use of a code; refused when it was given before. Release it when the backend did not look at it. */
  codeOnce(factorId: string, code: string): Promise<Attempt | Refusal> {
    return this.#take("This code was used.", [{ of: ["used code", factorId, code], most: 1, seconds: codeLife }]);
  }

  /** A form of a signed-in client that changes something. */
  write(userId: string): Promise<Attempt | Refusal> {
    return this.#take("Too many changes in one minute.", [
      { of: ["write", userId], most: env().limits.writes, seconds: minute },
    ]);
  }

  /** A copy of all data of a signed-in client: it reads every file of theirs. */
  archive(userId: string): Promise<Attempt | Refusal> {
    return this.#take("Your data was downloaded several times just now.", [
      { of: ["archive", userId], most: archivesPerHour, seconds: hour },
    ]);
  }

  /** A mail to an address that a signed-in client names as their new one. */
  addressMails(userId: string): Promise<Attempt | Refusal> {
    return this.#take("Too many new addresses in one day.", [
      { of: ["address mails", userId], most: addressMailsPerDay, seconds: 24 * hour },
    ]);
  }

  async #take(words: string, limits: Limit[]): Promise<Attempt | Limited | Refusal> {
    const asked = limits.map(({ of, most, seconds }) => ({ key: hashed(of), most, seconds }));
    const along = takeAlong();
    const failed = (refusal: Refusal) => {
      void giveBack(along);
      return refusal;
    };
    try {
      const { data, error, status } = await companyBackend().rpc("take_attempt", { limits: asked, released: along });
      if (error) return failed(refusalOf({ ...error, status }));
      const answer = Answer.parse(data);
      if ("attempt" in answer) {
        const { attempt } = answer;
        return { release: () => giveBackSoon(attempt) };
      }
      this.wait = answer.wait;
      log("warn", "limit", {
        limit: limits[asked.findIndex(({ key }) => key === answer.refused)]?.of[0],
        wait: answer.wait,
      });
      return { reason: `${words} Try again in ${duration(answer.wait)}.`, status: 429, wait: answer.wait };
    } catch (error) {
      return failed(refusalOfThrown(error));
    }
  }
}

const limitsContext = createContext<Limits>();

/** Gives the request its limits, and a 429 response its Retry-After. */
export const limitsMiddleware: MiddlewareFunction<Response> = async ({ request, context }, next) => {
  const limits = new Limits(request);
  context.set(limitsContext, limits);
  const response = await next();
  if (response.status === 429) response.headers.set("Retry-After", String(limits.wait ?? unknownWait));
  return response;
};

/** The limits of this request. */
export function limitsOf(context: Readonly<RouterContextProvider>): Limits {
  return context.get(limitsContext);
}

/** A browser: a random id, and a mark for each account it has logged in to. */
type KnownBrowser = { id: string; marks: string[] };

const knownCookie = "known";
const knownAccounts = 5;
/** In seconds: a year. */
const knownFor = 365 * 24 * hour;

function knownBrowser(request: Request): KnownBrowser {
  const [id = "", ...marks] = (cookieOf(request, knownCookie) ?? "").split(".");
  return { id, marks };
}

/** A keyed hash of browser and account: cannot be forged, and does not reveal the account. */
function markOf(id: string, email: string): string {
  return hashed(["known browser", id, email.toLowerCase()]);
}

/** A Set-Cookie after a complete login: from now on this browser's attempts at the account are counted apart. */
export function rememberBrowser(request: Request, email: string): string {
  const known = knownBrowser(request);
  const id = /^[\w-]{22}$/.test(known.id) ? known.id : randomBytes(16).toString("base64url");
  const mark = markOf(id, email);
  const others = known.marks.filter((other) => other !== mark && /^[\w-]{43}$/.test(other));
  const value = [id, mark, ...others.slice(0, knownAccounts - 1)].join(".");
  return setCookie(knownCookie, value, knownFor);
}

/** A keyed hash: does not reveal whose attempts are counted. */
function hashed(parts: string[]): string {
  return createHmac("sha256", env().sessionSecret).update(JSON.stringify(parts)).digest("base64url");
}

/** "40 seconds", "12 minutes": rounded up, so that trying again then is not too early. */
function duration(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
