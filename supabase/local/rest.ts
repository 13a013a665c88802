import type { App } from "@supabase/lite";
import type { SqlSession } from "./database/database.ts";

type Handler = (request: Request) => Promise<Response>;
type PostgrestErrorsOptions = { next: Handler; connection: App["connection"] };
type DatabaseError = { code?: unknown; message?: string; detail?: string; hint?: string };

/** The HTTP status codes of PostgREST's manual, by SQLSTATE or its first two characters. Other errors are 400. */
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

const passedThroughCode = /^(42501|PT\d{3}|PGRST)$/;

/** Gives database errors PostgREST's status and body. Requests run one at a time, because they share `lastError`. */
export function withPostgrestErrors({ next, connection }: PostgrestErrorsOptions): Handler {
  let lastError: DatabaseError | null = null;
  const normalize = connection.normalizeDbError.bind(connection);
  connection.normalizeDbError = (error) => {
    lastError = normalize(error) as DatabaseError | null;
    return lastError;
  };
  return async (request) => {
    lastError = null;
    const response = await next(request);
    if (response.ok || !new URL(request.url).pathname.startsWith("/rest/v1/")) return response;
    return toPostgrestError(lastError, response);
  };
}

function toPostgrestError(error: DatabaseError | null, response: Response): Response {
  const code = error?.code;
  if (typeof code !== "string" || !/^[0-9A-Z]{5}$/.test(code) || passedThroughCode.test(code)) return response;
  const status = statusBySqlState[code] ?? statusBySqlState[code.slice(0, 2)] ?? 400;
  // Below 500, the body of @supabase/lite equals PostgREST's. From 500 on, the body lacks the code.
  if (response.status === status && status < 500) return response;
  const { message, detail: details = null, hint = null } = error ?? {};
  return Response.json({ code, details, hint, message }, { status });
}

const reservedParameters = ["select", "order", "limit", "offset", "apikey"];

/** Returns a function that quotes text arguments of GET calls. @supabase/lite treats "null" and "neq.x" specially. */
export async function createRpcArgumentQuoter(db: SqlSession): Promise<(request: Request) => Request> {
  const { rows } = await db.query<{ argument: string }>(`
    select proname || '.' || argument.name as argument
    from pg_proc cross join unnest(proargnames, proargtypes::oid[]) as argument (name, type)
    where pronamespace = 'public'::regnamespace and argument.type = 'boolean'::regtype`);
  const booleans = new Set(rows.map(({ argument }) => argument));
  const prefix = "/rest/v1/rpc/";
  return (request) => {
    const url = new URL(request.url);
    if (!["GET", "HEAD"].includes(request.method) || !url.pathname.startsWith(prefix)) return request;
    const functionName = url.pathname.slice(prefix.length);
    const quoted = [...url.searchParams].map(([name, value]) =>
      reservedParameters.includes(name) || booleans.has(`${functionName}.${name}`)
        ? [name, value]
        : [name, `"${value}"`],
    );
    url.search = String(new URLSearchParams(quoted));
    return new Request(url, request);
  };
}
