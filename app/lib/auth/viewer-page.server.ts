import type { MiddlewareFunction, RouterContextProvider } from "react-router";
import type { z } from "zod";
import { type UserError, userErrorData, userErrorFromThrown } from "../http/user-error.server.ts";
import type { AppSupabaseClient } from "../supabase/client.server.ts";
import {
  type DatabaseCall,
  type MiddlewareArgs,
  readViewerResult,
  requireViewer,
  type ViewerRecord,
  viewerMiddleware,
} from "./viewer.server.ts";

type PageLocation = Pick<MiddlewareArgs, "url" | "params">;

/** Returns a middleware and a loader function `page` that share one database call. `page` throws if the call fails. */
export function createViewerPage<Page extends { viewer: ViewerRecord }>(
  schema: z.ZodType<Page>,
  call: (supabase: AppSupabaseClient, location: PageLocation) => DatabaseCall,
) {
  const results = new WeakMap<AppSupabaseClient, Promise<Page | UserError | null>>();
  const middleware: MiddlewareFunction<Response> = viewerMiddleware((args) => (supabase) => {
    const result = readViewerResult(schema, call(supabase, args));
    results.set(supabase, result);
    return result;
  });
  const page = async (location: PageLocation & { context: Readonly<RouterContextProvider> }): Promise<Page> => {
    const { supabase } = requireViewer(location.context);
    const result = await (results.get(supabase) ?? readViewerResult(schema, call(supabase, location)));
    if (!result || "reason" in result) throw userErrorData(result ?? userErrorFromThrown(null));
    return result;
  };
  return { middleware, page };
}
