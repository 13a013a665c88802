/** Pages of the portal beside the list: one call to the backend each, for who asks and for what the page shows. */
import type { MiddlewareFunction, RouterContextProvider } from "react-router";
import type { z } from "zod";
import { type Refusal, refusalOfThrown, thrown } from "./refusal.server.ts";
import { answerOf, type Caller, type MiddlewareArgs, portalMiddleware, requireClient } from "./session.server.ts";
import type { Backend } from "./supabase.server.ts";

type Asked = Pick<MiddlewareArgs, "url" | "params">;
type Call = PromiseLike<{ data: unknown; error: { code: string; message: string } | null }>;

/**
 * The middleware of such a page, and what its call answered, read by `schema`. After a form the page is asked for anew.
 * `page` throws a 503 when the backend does not answer.
 */
export function portalCall<Answer extends { caller: Caller }>(
  schema: z.ZodType<Answer>,
  call: (backend: Backend, asked: Asked) => Call,
) {
  const answers = new WeakMap<Backend, Promise<Answer | Refusal | null>>();
  const middleware: MiddlewareFunction<Response> = portalMiddleware((args) => (backend) => {
    const answer = answerOf(schema, call(backend, args));
    answers.set(backend, answer);
    return answer;
  });
  const page = async (asked: Asked & { context: Readonly<RouterContextProvider> }): Promise<Answer> => {
    const { backend } = requireClient(asked.context);
    const answer = await (answers.get(backend) ?? answerOf(schema, call(backend, asked)));
    if (!answer || "reason" in answer) throw thrown(answer ?? refusalOfThrown(null));
    return answer;
  };
  return { middleware, page };
}
