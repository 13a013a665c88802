/** Which requests the embedded backend answers: those that the product uses, each address written in one way. */

/**
 * No escapes, empty segments, or slash at the end: the rules here and the library behind them must read the same path.
 */
const canonicalPathPattern = /^\/(auth|rest|storage)\/v1(\/[\w.~!$&'()*+,:@=-]+)+$/;

/**
 * The product does not use magic links, invitations, other providers or changes of address by mail. A link to recover an
 * account is made for the company alone.
 */
const authRoutes = [
  /^POST \/auth\/v1\/(signup|token|verify|resend|logout)$/,
  /^(GET|PUT) \/auth\/v1\/user$/,
  /^GET \/auth\/v1\/(settings|health|\.well-known\/jwks\.json)$/,
  /^\w+ \/auth\/v1\/factors(\/[\w-]+(\/(challenge|verify))?)?$/,
  /^POST \/auth\/v1\/admin\/(users|generate_link)$/,
  /^\w+ \/auth\/v1\/admin\/users\/[\w-]+(\/factors(\/[\w-]+)?)?$/,
];

/** Whether the backend answers this request. `path` has no query. */
export function isAllowedRoute(method: string, path: string): boolean {
  if (!canonicalPathPattern.test(path)) return false;
  return !path.startsWith("/auth/") || authRoutes.some((route) => route.test(`${method} ${path}`));
}

/** How many rows or names one request may bring: all of them are one turn at the database, for which everybody else waits. */
const maxItems = 1000;
/** How many values its rows may have in all. */
const maxValues = 10_000;
/** How many bytes a request to the data API may have: a text of so many is compared within a quarter second. */
const maxDataApiBytes = 2 * 1024 * 1024;
/** How deep tables may be embedded in another: each level is the work of the one above, once more. */
const maxEmbeddingDepth = 2;
/** How many brackets a parameter may have: each is a table, a condition or a list. */
const maxParentheses = 12;

/** The refusal of a request that asks for more, or null. PostgREST and the real store, whose work is their own, take it. */
export async function requestLimitError(request: Request): Promise<Response | null> {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname.startsWith("/auth/")) return null;
  const isData = pathname.startsWith("/rest/");
  for (const [name, value] of searchParams) {
    const { deepest, all } = countParentheses(value);
    if (all > maxParentheses || (name === "select" && deepest > maxEmbeddingDepth))
      return errorResponse(
        413,
        `More than ${maxParentheses} brackets, or tables ${maxEmbeddingDepth} deep: ask in several requests.`,
      );
  }
  const length = Number(request.headers.get("content-length"));
  if (isData && length > maxDataApiBytes)
    return errorResponse(413, `More than ${maxDataApiBytes} bytes: send them in several requests.`);
  // Whatever type it says it has; a file on its way to the store is no list.
  const mayList = isData || request.method === "DELETE";
  if (!mayList || length <= 2 * maxItems) return null;
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => undefined);
  // Rows of another form, such as CSV, would have to be counted in another way: the product sends none.
  if (body === undefined) return errorResponse(415, "A long request has to be JSON.");
  const rows: unknown[] = Array.isArray(body) ? body : [body];
  const lists = [rows, ...Object.values(body ?? {})].filter((one) => Array.isArray(one));
  const values = rows.reduce(
    (sum: number, row) => sum + (typeof row === "object" ? Object.keys(row ?? {}).length : 1),
    0,
  );
  if (values <= maxValues && lists.every(({ length }) => length <= maxItems)) return null;
  return errorResponse(413, `More than ${maxItems} at once: send them in several requests.`);
}

function errorResponse(status: number, message: string): Response {
  return Response.json({ message }, { status });
}

/** The brackets of a parameter: the most that are open at once, and all that open. In a quoted name is none that counts. */
function countParentheses(value: string): { deepest: number; all: number } {
  let [open, deepest, all] = [0, 0, 0];
  for (const sign of value.replace(/"(?:[^"\\]|\\.)*"/g, "")) {
    if (sign === "(") {
      all += 1;
      deepest = Math.max(deepest, ++open);
    } else if (sign === ")") open -= 1;
  }
  return { deepest, all };
}
