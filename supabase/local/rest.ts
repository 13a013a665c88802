import type { App } from "@supabase/lite";
import type { Handler } from "./auth/sessions.ts";
import type { SqlSession } from "./database/database.ts";

type DatabaseError = { code?: unknown; message?: string; detail?: string; hint?: string };

/** The HTTP status of each SQLSTATE, or of its first two characters, from PostgREST's manual. The default is 400. */
const statusBySqlState = new Map(
  Object.entries({
    400: "P0001",
    403: "0L 0P 28",
    404: "42883 42P01",
    405: "25006",
    409: "23503 23505",
    500: "09 21 25 2D 38 39 3B 40 42P17 53400 54 55 57 58 F0 HV P0 XX",
    503: "08 53 57P01",
  }).flatMap(([status, sqlStates]) => sqlStates.split(" ").map((sqlState) => [sqlState, Number(status)] as const)),
);

const passedThroughCode = /^(42501|PT\d{3}|PGRST)$/;

/** Returns errors with PostgREST's status and body. Requests must not run in parallel: they share `lastError`. */
export function withPostgrestErrors(next: Handler, connection: App["connection"]): Handler {
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
  const status = statusBySqlState.get(code) ?? statusBySqlState.get(code.slice(0, 2)) ?? 400;
  // @supabase/lite returns the same body as PostgREST, except that errors with status 500 or more lack the code.
  if (response.status === status && status < 500) return response;
  const { message, detail: details = null, hint = null } = error ?? {};
  return Response.json({ code, details, hint, message }, { status });
}

const reservedParameters = ["select", "order", "limit", "offset", "apikey"];

/** Returns a function that quotes the arguments of GET calls. @supabase/lite would read "neq.x" as an operator. */
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
