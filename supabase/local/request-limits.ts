/** Excludes percent-encoding, empty segments and final slashes, with which a path could evade the checks below. */
const canonicalPathPattern = /^\/(auth|rest|storage)\/v1(\/[\w.~!$&'()*+,:@=-]+)+$/;

/** The routes of Supabase Auth that the site uses. Other routes of @supabase/lite, such as magic links, return 404. */
const authRoutes = [
  /^POST \/auth\/v1\/(signup|token|verify|resend|logout)$/,
  /^(GET|PUT) \/auth\/v1\/user$/,
  /^GET \/auth\/v1\/(settings|health|\.well-known\/jwks\.json)$/,
  /^\w+ \/auth\/v1\/factors(\/[\w-]+(\/(challenge|verify))?)?$/,
  /^POST \/auth\/v1\/admin\/(users|generate_link)$/,
  /^\w+ \/auth\/v1\/admin\/users\/[\w-]+(\/factors(\/[\w-]+)?)?$/,
];

export function isAllowedRoute(method: string, path: string): boolean {
  if (!canonicalPathPattern.test(path)) return false;
  return !path.startsWith("/auth/") || authRoutes.some((route) => route.test(`${method} ${path}`));
}

/** The maximum number of rows or file names in a request, because a request blocks the database for other requests. */
const maxItems = 1000;
const maxValues = 10_000;
/** The maximum body of a data API request. PostgreSQL compares a text of this size within 250 ms. */
const maxDataApiBytes = 2 * 1024 * 1024;
/** The maximum depth of embedded tables in a select, because each level multiplies the rows to read. */
const maxEmbeddingDepth = 2;
/** The maximum number of parentheses in a query parameter. Each pair encloses a table, a condition or a list. */
const maxParentheses = 12;

export async function requestLimitError(request: Request): Promise<Response | null> {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname.startsWith("/auth/")) return null;
  const isDataApi = pathname.startsWith("/rest/");
  for (const [name, value] of searchParams) {
    const { maxDepth, total } = countParentheses(value);
    if (total > maxParentheses || (name === "select" && maxDepth > maxEmbeddingDepth))
      return errorResponse(
        413,
        `The request has more than ${maxParentheses} pairs of brackets or more than ${maxEmbeddingDepth} levels of embedded tables. Split the request.`,
      );
  }
  const length = Number(request.headers.get("content-length"));
  if (isDataApi && length > maxDataApiBytes)
    return errorResponse(413, `The request has more than ${maxDataApiBytes} bytes. Split the request.`);
  // The sender chooses the content type, so only method and path show that a body is a list and not a file.
  const mayHaveList = isDataApi || request.method === "DELETE";
  if (!mayHaveList || length <= 2 * maxItems) return null;
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => undefined);
  // Rows in other formats, such as CSV, are rejected, because this function cannot count them.
  if (body === undefined) return errorResponse(415, "The body of a long request must be JSON.");
  const rows: unknown[] = Array.isArray(body) ? body : [body];
  const lists = [rows, ...Object.values(body ?? {})].filter((list) => Array.isArray(list));
  const values = rows.reduce(
    (sum: number, row) => sum + (typeof row === "object" ? Object.keys(row ?? {}).length : 1),
    0,
  );
  if (values <= maxValues && lists.every(({ length }) => length <= maxItems)) return null;
  return errorResponse(413, `A request can have at most ${maxItems} items. Split the request.`);
}

function errorResponse(status: number, message: string): Response {
  return Response.json({ message }, { status });
}

function countParentheses(value: string): { maxDepth: number; total: number } {
  let [open, maxDepth, total] = [0, 0, 0];
  for (const character of value.replace(/"(?:[^"\\]|\\.)*"/g, "")) {
    if (character === "(") {
      total += 1;
      maxDepth = Math.max(maxDepth, ++open);
    } else if (character === ")") open -= 1;
  }
  return { maxDepth, total };
}
