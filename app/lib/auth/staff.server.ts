import { createContext, type MiddlewareFunction, type RouterContextProvider, redirect } from "react-router";
import { z } from "zod";
import { noStoreMiddleware } from "../http/headers.server.ts";
import { type UserError, userErrorData, userErrorFromThrown } from "../http/user-error.server.ts";
import type { AppSupabaseClient } from "../supabase/client.server.ts";
import {
  admitViewer,
  type DatabaseCall,
  getViewerOrRedirect,
  type MiddlewareArgs,
  markBrowser,
  queryViewer,
  readViewerResult,
  type StaffMember,
  type Viewer,
  type ViewerQuery,
  ViewerRecord,
} from "./viewer.server.ts";

export type StaffViewer = Viewer & { staff: StaffMember };

export type StaffPageQuery = (supabase: AppSupabaseClient) => DatabaseCall;

type StaffPageResult = { viewer: ViewerRecord } | UserError | null;
const staffContext = createContext<{ viewer: StaffViewer; loadPage: () => Promise<StaffPageResult> } | UserError>();

const notFoundError: UserError = { reason: "", status: 404 };

const factorSetupPath = "/desk/2fa";

/** Loads the viewer of a desk page. Clients get status 404, as for an unknown path. */
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
    const viewer = await getViewerOrRedirect(args, (supabase) => {
      if (request.method === "POST") return queryViewer(supabase);
      pageResult = queryPage(supabase);
      return pageResult;
    });
    const staff = "reason" in viewer ? null : viewer.staff;
    // An error thrown here would skip the root loader and break the header, so requireStaff throws the error.
    if ("reason" in viewer) context.set(staffContext, viewer);
    else if (!staff) context.set(staffContext, notFoundError);
    else {
      admitViewer(args, viewer);
      const isSettingUp = [factorSetupPath, "/desk/session"].includes(url.pathname);
      if (viewer.factors.length === 0 && !isSettingUp) throw redirect(factorSetupPath, 303);
      const loadPage = () => {
        pageResult ??= queryPage(viewer.supabase);
        return pageResult;
      };
      context.set(staffContext, { viewer: { ...viewer, staff }, loadPage });
      return markBrowser(args, next, true);
    }
    return noStoreMiddleware(args, next);
  };
}

export function requireStaff(context: Readonly<RouterContextProvider>): StaffViewer {
  const staffResult = context.get(staffContext);
  if ("reason" in staffResult) throw userErrorData(staffResult);
  return staffResult.viewer;
}

export function requireLead(context: Readonly<RouterContextProvider>): StaffViewer {
  const viewer = requireStaff(context);
  if (viewer.staff.role !== "lead") throw userErrorData({ reason: "Only leads can open this page.", status: 403 });
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
