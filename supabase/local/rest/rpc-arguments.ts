/** The arguments of functions that are called by a GET, read as PostgREST reads them: by what the function declares. */
import type { SqlSession } from "../database/database.ts";

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
