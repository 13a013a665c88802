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

export type StaffViewer = Viewer & { staff: StaffMember };

export type StaffPageQuery = (supabase: AppSupabaseClient) => PromiseLike<{
  data: unknown;
  error: { code: string; message: string } | null;
}>;

type StaffPageResult = { viewer: ViewerRecord } | UserError | null;
const staffContext = createContext<{ viewer: StaffViewer; loadPage: () => Promise<StaffPageResult> } | UserError>();

const notFoundError: UserError = { reason: "", status: 404 };

const factorSetupPath = "/desk/2fa";

/** Loads the viewer for pages of the desk. Clients get status 404, as for an unknown path. */
export function staffMiddleware(
  getPageQuery: (args: MiddlewareArgs) => StaffPageQuery | null,
): MiddlewareFunction<Response> {
  return async (args, next) => {
    const { request, context, url } = args;
    const page = getPageQuery(args);
    let pageResult: Promise<StaffPageResult> | undefined;
    const queryPage: ViewerQuery = page
      ? (supabase) => readViewerResult(z.looseObject({ viewer: ViewerRecord }), page(supabase))
      : queryViewer;
    const viewer = await getViewer(request, context, (supabase) => {
      if (request.method === "POST") return queryViewer(supabase);
      pageResult = queryPage(supabase);
      return pageResult;
    });
    if (!viewer) {
      endSession(context);
      throw redirectToLogin(request, addNextParam("/login", url));
    }
    const staff = "reason" in viewer ? null : viewer.staff;
    // requireStaff throws this error in a loader. Thrown here, it would skip the root loader, whose data the header needs.
    if ("reason" in viewer) context.set(staffContext, viewer);
    else if (!staff) context.set(staffContext, notFoundError);
    else {
      if (needsSecondFactor(viewer)) throw redirect(addNextParam("/login/verify", url), 303);
      const isSettingUp = [factorSetupPath, "/desk/session"].includes(url.pathname);
      if (viewer.factors.length === 0 && !isSettingUp) throw redirect(factorSetupPath, 303);
      limitWrites(context, viewer);
      const loadPage = () => {
        pageResult ??= queryPage(viewer.supabase);
        return pageResult;
      };
      context.set(staffContext, { viewer: { ...viewer, staff }, loadPage });
    }
    const response = await next();
    response.headers.set("Cache-Control", "private, no-store");
    return response;
  };
}

/** Returns the team member. Throws a 503 if the backend does not respond, and a 404 for clients. */
export function requireStaff(context: Readonly<RouterContextProvider>): StaffViewer {
  const staffResult = context.get(staffContext);
  if ("reason" in staffResult) throw userErrorData(staffResult);
  return staffResult.viewer;
}

/** Returns the lead. Throws a 403 for clerks. */
export function requireLead(context: Readonly<RouterContextProvider>): StaffViewer {
  const viewer = requireStaff(context);
  if (viewer.staff.role !== "lead") throw userErrorData({ reason: "This page is for leads.", status: 403 });
  return viewer;
}

export async function getStaffPage<Page>(
  context: Readonly<RouterContextProvider>,
  schema: z.ZodType<Page>,
): Promise<Page> {
  const staffResult = context.get(staffContext);
  if ("reason" in staffResult) throw userErrorData(staffResult);
  const result = await staffResult.loadPage();
  if (!result || "reason" in result) throw userErrorData(result ?? userErrorFromThrown(null));
  const page = schema.safeParse(result);
  if (!page.success) throw userErrorData(userErrorFromThrown(page.error));
  return page.data;
}
