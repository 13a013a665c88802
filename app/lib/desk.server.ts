/** The gate of /desk: for colleagues whose session gave the code of a second factor. */
import { createContext, type MiddlewareFunction, type RouterContextProvider, redirect } from "react-router";
import { z } from "zod";
import { toLogin } from "./kept-cookies.server.ts";
import { type Refusal, refusalOfThrown, thrown } from "./refusal.server.ts";
import {
  type Ask,
  answerOf,
  Caller,
  type Client,
  type Colleague,
  getClient,
  limitWrites,
  type MiddlewareArgs,
  needsCode,
  whoAsks,
  withNext,
} from "./session.server.ts";
import { type Backend, endSession } from "./supabase.server.ts";

/** Somebody of the company, verified for this request. */
export type AtDesk = Client & { colleague: Colleague };

/** Calls the function of the database behind a page of the desk, which says who asks with what the page shows. */
export type AskForDesk = (backend: Backend) => PromiseLike<{
  data: unknown;
  error: { code: string; message: string } | null;
}>;

type Shown = { caller: Caller } | Refusal | null;
const deskContext = createContext<{ person: AtDesk; shown: () => Promise<Shown> } | Refusal>();

/** The answer to everybody who is no colleague: that of an unknown path. */
const noPage: Refusal = { reason: "", status: 404 };

/** Where a colleague without a second factor is led before the first page. */
const setUpPath = "/desk/2fa";

/**
 * Redirects strangers to the login and back; answers a client as an unknown path is answered. A page asks with
 * `askForPage`, in one call for who asks and for what it shows.
 */
export function deskMiddleware(askForPage: (args: MiddlewareArgs) => AskForDesk | null): MiddlewareFunction<Response> {
  return async (args, next) => {
    const { request, context, url } = args;
    const page = askForPage(args);
    let shown: Promise<Shown> | undefined;
    const ask: Ask = page ? (backend) => answerOf(z.looseObject({ caller: Caller }), page(backend)) : whoAsks;
    // A form is judged first; its page is asked for only when it is shown again.
    const person = await getClient(request, context, (backend) => {
      if (request.method === "POST") return whoAsks(backend);
      shown = ask(backend);
      return shown;
    });
    if (!person) {
      endSession(context);
      throw toLogin(request, withNext("/login", url));
    }
    const { colleague } = "reason" in person ? { colleague: null } : person;
    // Loaders throw a refusal, not this: an error page has the site around it only when the root's loader has run.
    if ("reason" in person) context.set(deskContext, person);
    else if (!colleague) context.set(deskContext, noPage);
    else {
      if (needsCode(person)) throw redirect(withNext("/login/verify", url), 303);
      const isSettingUp = [setUpPath, "/desk/session"].includes(url.pathname);
      if (person.factors.length === 0 && !isSettingUp) throw redirect(setUpPath, 303);
      limitWrites(context, person);
      const again = () => {
        shown ??= ask(person.backend);
        return shown;
      };
      context.set(deskContext, { person: { ...person, colleague }, shown: again });
    }
    const response = await next();
    response.headers.set("Cache-Control", "private, no-store");
    return response;
  };
}

/** The colleague of a request that has passed deskMiddleware. Throws a 503 when the backend could not tell. */
export function requireColleague(context: Readonly<RouterContextProvider>): AtDesk {
  const desk = context.get(deskContext);
  if ("reason" in desk) throw thrown(desk);
  return desk.person;
}

/** The same for a page of leads; clerks get a 403 that says so. */
export function requireLead(context: Readonly<RouterContextProvider>): AtDesk {
  const person = requireColleague(context);
  if (person.colleague.role !== "lead") throw thrown({ reason: "This page is for leads.", status: 403 });
  return person;
}

/** What the page of this request shows, read by `schema`. Throws a 503 when the backend does not answer. */
export async function deskPage<Page>(context: Readonly<RouterContextProvider>, schema: z.ZodType<Page>): Promise<Page> {
  const desk = context.get(deskContext);
  if ("reason" in desk) throw thrown(desk);
  const answer = await desk.shown();
  if (!answer || "reason" in answer) throw thrown(answer ?? refusalOfThrown(null));
  const page = schema.safeParse(answer);
  if (!page.success) throw thrown(refusalOfThrown(page.error));
  return page.data;
}
