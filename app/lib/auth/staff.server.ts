/** The gate of /desk: for colleagues whose session gave the code of a second factor. */
import { createContext, type MiddlewareFunction, type RouterContextProvider, redirect } from "react-router";
import { z } from "zod";
import { type UserError, userErrorData, userErrorFromThrown } from "../http/user-error.server.ts";
import { type AppSupabaseClient, endSession } from "../supabase/client.server.ts";
import { redirectToLogin } from "./cookies-disabled.server.ts";
import {
  addNextParam,
  getViewer,
  limitWrites,
  type MiddlewareArgs,
  needsSecondFactor,
  queryViewer,
  readViewerResult,
  type StaffMember,
  type Viewer,
  type ViewerQuery,
  ViewerRecord,
} from "./viewer.server.ts";

/** Somebody of the company, verified for this request. */
export type StaffViewer = Viewer & { staff: StaffMember };

/** Calls the function of the database behind a page of the desk, which says who asks with what the page shows. */
export type StaffPageQuery = (backend: AppSupabaseClient) => PromiseLike<{
  data: unknown;
  error: { code: string; message: string } | null;
}>;

type StaffPageResult = { viewer: ViewerRecord } | UserError | null;
const staffContext = createContext<{ person: StaffViewer; shown: () => Promise<StaffPageResult> } | UserError>();

/** The answer to everybody who is no colleague: that of an unknown path. */
const notFoundError: UserError = { reason: "", status: 404 };

/** Where a colleague without a second factor is led before the first page. */
const factorSetupPath = "/desk/2fa";

/**
 * Redirects strangers to the login and back; answers a client as an unknown path is answered. A page asks with
 * `askForPage`, in one call for who asks and for what it shows.
 */
export function staffMiddleware(
  askForPage: (args: MiddlewareArgs) => StaffPageQuery | null,
): MiddlewareFunction<Response> {
  return async (args, next) => {
    const { request, context, url } = args;
    const page = askForPage(args);
    let shown: Promise<StaffPageResult> | undefined;
    const ask: ViewerQuery = page
      ? (backend) => readViewerResult(z.looseObject({ viewer: ViewerRecord }), page(backend))
      : queryViewer;
    // A form is judged first; its page is asked for only when it is shown again.
    const person = await getViewer(request, context, (backend) => {
      if (request.method === "POST") return queryViewer(backend);
      shown = ask(backend);
      return shown;
    });
    if (!person) {
      endSession(context);
      throw redirectToLogin(request, addNextParam("/login", url));
    }
    const staff = "reason" in person ? null : person.staff;
    // Loaders throw a refusal, not this: an error page has the site around it only when the root's loader has run.
    if ("reason" in person) context.set(staffContext, person);
    else if (!staff) context.set(staffContext, notFoundError);
    else {
      if (needsSecondFactor(person)) throw redirect(addNextParam("/login/verify", url), 303);
      const isSettingUp = [factorSetupPath, "/desk/session"].includes(url.pathname);
      if (person.factors.length === 0 && !isSettingUp) throw redirect(factorSetupPath, 303);
      limitWrites(context, person);
      const again = () => {
        shown ??= ask(person.supabase);
        return shown;
      };
      context.set(staffContext, { person: { ...person, staff }, shown: again });
    }
    const response = await next();
    response.headers.set("Cache-Control", "private, no-store");
    return response;
  };
}

/** The colleague of a request that has passed deskMiddleware. Throws a 503 when the backend could not tell. */
export function requireStaff(context: Readonly<RouterContextProvider>): StaffViewer {
  const desk = context.get(staffContext);
  if ("reason" in desk) throw userErrorData(desk);
  return desk.person;
}

/** The same for a page of leads; clerks get a 403 that says so. */
export function requireLead(context: Readonly<RouterContextProvider>): StaffViewer {
  const person = requireStaff(context);
  if (person.staff.role !== "lead") throw userErrorData({ reason: "This page is for leads.", status: 403 });
  return person;
}

/** What the page of this request shows, read by `schema`. Throws a 503 when the backend does not answer. */
export async function getStaffPage<Page>(
  context: Readonly<RouterContextProvider>,
  schema: z.ZodType<Page>,
): Promise<Page> {
  const desk = context.get(staffContext);
  if ("reason" in desk) throw userErrorData(desk);
  const answer = await desk.shown();
  if (!answer || "reason" in answer) throw userErrorData(answer ?? userErrorFromThrown(null));
  const page = schema.safeParse(answer);
  if (!page.success) throw userErrorData(userErrorFromThrown(page.error));
  return page.data;
}
