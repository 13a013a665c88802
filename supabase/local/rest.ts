/** Errors of the database as PostgREST answers them; @supabase/lite answers most kinds with 500 and no code. */
import type { App } from "@supabase/lite";
import type { SqlSession } from "./database/database.ts";

type Handler = (request: Request) => Promise<Response>;
type PostgrestErrorsOptions = { next: Handler; connection: App["connection"] };
/** As both drivers throw it. */
type DatabaseError = { code?: unknown; message?: string; detail?: string; hint?: string };

/** PostgREST's list ("HTTP Status Codes"): status by SQLSTATE or by its first two characters; else 400. */
const statusBySqlState: Readonly<Record<string, number>> = {
  "08": 503,
  "09": 500,
  "0L": 403,
  "0P": 403,
  "21": 500,
  "23503": 409,
  "23505": 409,
  "25": 500,
  "25006": 405,
  "28": 403,
  "2D": 500,
  "38": 500,
  "39": 500,
  "3B": 500,
  "40": 500,
  "42883": 404,
  "42P01": 404,
  "42P17": 500,
  "53": 503,
  "53400": 500,
  "54": 500,
  "55": 500,
  "57": 500,
  "57P01": 503,
  "58": 500,
  F0: 500,
  HV: 500,
  P0: 500,
  P0001: 400,
  XX: 500,
};

/** The library answers these as PostgREST does: by the caller's role, or by the status in the code itself. */
const passedThroughCode = /^(42501|PT\d{3}|PGRST)$/;

/**
 * Wraps the handler: an error of the database under /rest/v1/ gets PostgREST's status and body. Requests must not
 * overlap: the error that the library met last is taken for that of the request.
 */
export function withPostgrestErrors({ next, connection }: PostgrestErrorsOptions): Handler {
  let met: DatabaseError | null = null;
  const normalize = connection.normalizeDbError.bind(connection);
  connection.normalizeDbError = (error) => {
    met = normalize(error) as DatabaseError | null;
    return met;
  };
  return async (request) => {
    met = null;
    const response = await next(request);
    if (response.ok || !new URL(request.url).pathname.startsWith("/rest/v1/")) return response;
    return toPostgrestError(met, response);
  };
}

function toPostgrestError(error: DatabaseError | null, response: Response): Response {
  const code = error?.code;
  if (typeof code !== "string" || !/^[0-9A-Z]{5}$/.test(code) || passedThroughCode.test(code)) return response;
  const status = statusBySqlState[code] ?? statusBySqlState[code.slice(0, 2)] ?? 400;
  // Below 500 the library's body is PostgREST's; from 500 on it lacks the code.
  if (response.status === status && status < 500) return response;
  const { message, detail: details = null, hint = null } = error ?? {};
  return Response.json({ code, details, hint, message }, { status });
}

/** What is no argument of a function. */
const reservedParameters = ["select", "order", "limit", "offset", "apikey"];

/**
 * Quotes the arguments in the address of a call: the library takes "null", "true" and "neq.Rice" in a text for something else
 * unless they are quoted. A boolean stays as it is.
 */
export async function createRpcArgumentQuoter(db: SqlSession): Promise<(request: Request) => Request> {
  const { rows } = await db.query<{ argument: string }>(`
    select proname || '.' || argument.name as argument
    from pg_proc cross join unnest(proargnames, proargtypes::oid[]) as argument (name, type)
    where pronamespace = 'public'::regnamespace and argument.type = 'boolean'::regtype`);
  const booleans = new Set(rows.map(({ argument }) => argument));
  const folder = "/rest/v1/rpc/";
  return (request) => {
    const url = new URL(request.url);
    if (!["GET", "HEAD"].includes(request.method) || !url.pathname.startsWith(folder)) return request;
    const called = url.pathname.slice(folder.length);
    const quoted = [...url.searchParams].map(([name, value]) =>
      reservedParameters.includes(name) || booleans.has(`${called}.${name}`) ? [name, value] : [name, `"${value}"`],
    );
    url.search = String(new URLSearchParams(quoted));
    return new Request(url, request);
  };
}
