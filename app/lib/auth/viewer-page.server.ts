/** Pages of the portal beside the list: one call to the backend each, for who asks and for what the page shows. */
import type { MiddlewareFunction, RouterContextProvider } from "react-router";
import type { z } from "zod";
import { type UserError, userErrorData, userErrorFromThrown } from "../http/user-error.server.ts";
import type { AppSupabaseClient } from "../supabase/client.server.ts";
import {
  type MiddlewareArgs,
  readViewerResult,
  requireViewer,
  type ViewerRecord,
  viewerMiddleware,
} from "./viewer.server.ts";

type PageLocation = Pick<MiddlewareArgs, "url" | "params">;
type DatabaseCall = PromiseLike<{ data: unknown; error: { code: string; message: string } | null }>;

/**
 * The middleware of such a page, and what its call answered, read by `schema`. After a form the page is asked for anew.
 * `page` throws a 503 when the backend does not answer.
 */
export function createViewerPage<Answer extends { viewer: ViewerRecord }>(
  schema: z.ZodType<Answer>,
  call: (backend: AppSupabaseClient, asked: PageLocation) => DatabaseCall,
) {
  const answers = new WeakMap<AppSupabaseClient, Promise<Answer | UserError | null>>();
  const middleware: MiddlewareFunction<Response> = viewerMiddleware((args) => (backend) => {
    const answer = readViewerResult(schema, call(backend, args));
    answers.set(backend, answer);
    return answer;
  });
  const page = async (asked: PageLocation & { context: Readonly<RouterContextProvider> }): Promise<Answer> => {
    const { supabase: backend } = requireViewer(asked.context);
    const answer = await (answers.get(backend) ?? readViewerResult(schema, call(backend, asked)));
    if (!answer || "reason" in answer) throw userErrorData(answer ?? userErrorFromThrown(null));
    return answer;
  };
  return { middleware, page };
}
