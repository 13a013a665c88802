/** How often something may be tried. The figures come from the environment, the counts lie in Postgres for all processes. */
import { createHmac } from "node:crypto";
import { createContext, type MiddlewareFunction, type RouterContextProvider } from "react-router";
import { z } from "zod";
import { addressOf, networkOf } from "./client-address.server.ts";
import { env } from "./env.server.ts";
import { log } from "./log.server.ts";
import { type Refusal, refusalOf, refusalOfThrown } from "./refusal.server.ts";
import { companyBackend } from "./supabase.server.ts";

/** An attempt that counts. `release` takes it back, for one that was no failure; it never rejects. */
export type Attempt = { release: () => Promise<void> };

const minute = 60;
const hour = 60 * minute;

/** A code of an authenticator is good for 90 seconds: its own step of 30, the one before and the one after. */
const codeLife = 2 * minute;

/** What a 429 says when the backend gave no time, in seconds. */
const unknownWait = 5 * minute;

/** What public.take_attempt answers; `wait` is in seconds. */
const Answer = z.union([z.object({ attempt: z.string() }), z.object({ refused: z.string(), wait: z.number() })]);

/** A limit that is reached; `wait` is in seconds. */
type Limited = Refusal & { wait: number };

/** The limits as one request meets them. */
export class Limits {
  /** How long the person is to wait when a limit was reached, in seconds. */
  wait: number | null = null;
  #network: string;

  constructor(address: string) {
    this.#network = networkOf(address);
  }

  /** A login with a password; release one that was right. Known and unknown addresses are counted alike. */
  login(email: string): Promise<Attempt | Refusal> {
    const { loginsPerEmail, loginsPerAddress, loginsPerAccount } = env().limits;
    const account = email.toLowerCase();
    return this.#take("Too many attempts to log in.", [
      { of: ["login", account, this.#network], most: loginsPerEmail, seconds: 15 * minute },
      { of: ["login address", this.#network], most: loginsPerAddress, seconds: 15 * minute },
      { of: ["login account", account], most: loginsPerAccount, seconds: hour },
    ]);
  }

  /** A client ID at sign-up; release one that was right. */
  clientId(): Promise<Attempt | Refusal> {
    return this.#take("Too many Client IDs that are not known.", [
      { of: ["client id", this.#network], most: env().limits.clientIds, seconds: hour },
    ]);
  }

  /** A code of a second factor; release one that was right. */
  code(userId: string): Promise<Attempt | Refusal> {
    return this.#take("Too many wrong codes.", [
      { of: ["code", userId], most: env().limits.codes, seconds: 15 * minute },
    ]);
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

  async #take(
    words: string,
    limits: { of: string[]; most: number; seconds: number }[],
  ): Promise<Attempt | Limited | Refusal> {
    const company = companyBackend();
    const asked = limits.map(({ of, most, seconds }) => ({ key: hashed(of), most, seconds }));
    try {
      const { data, error, status } = await company.rpc("take_attempt", { limits: asked });
      if (error) return refusalOf({ ...error, status });
      const answer = Answer.parse(data);
      if ("attempt" in answer) {
        const { attempt } = answer;
        return {
          release: async () => {
            await company.rpc("release_attempt", { attempt }).then(undefined, () => undefined);
          },
        };
      }
      this.wait = answer.wait;
      log("warn", "limit", {
        limit: limits[asked.findIndex(({ key }) => key === answer.refused)]?.of[0],
        wait: answer.wait,
      });
      return { reason: `${words} Try again in ${duration(answer.wait)}.`, status: 429, wait: answer.wait };
    } catch (error) {
      return refusalOfThrown(error);
    }
  }
}

const limitsContext = createContext<Limits>();

/** Gives the request its limits, and a 429 the time to wait. */
export const limitsMiddleware: MiddlewareFunction<Response> = async ({ request, context }, next) => {
  const limits = new Limits(addressOf(request));
  context.set(limitsContext, limits);
  const response = await next();
  if (response.status === 429) response.headers.set("Retry-After", String(limits.wait ?? unknownWait));
  return response;
};

/** The limits of this request. */
export function limitsOf(context: Readonly<RouterContextProvider>): Limits {
  return context.get(limitsContext);
}

/** A key under which nobody can read or guess who it is of. */
function hashed(parts: string[]): string {
  return createHmac("sha256", env().sessionSecret).update(JSON.stringify(parts)).digest("base64url");
}

/** "40 seconds", "12 minutes": rounded up, so that trying again then is not too early. */
function duration(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
