/** Without escapes, empty segments and a final slash, these rules and the library read the same path. */
const canonicalPathPattern = /^\/(auth|rest|storage)\/v1(\/[\w.~!$&'()*+,:@=-]+)+$/;

/** Magic links, invitations, other providers and email changes are not part of the product. */
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

/** One request blocks the database for all others, so its rows and names are limited. */
const maxItems = 1000;
const maxValues = 10_000;
/** PostgreSQL compares a text of this size within 250 ms. */
const maxDataApiBytes = 2 * 1024 * 1024;
/** Each level of embedded tables multiplies the work. */
const maxEmbeddingDepth = 2;
/** Each pair is a table, a condition or a list. */
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
        `More than ${maxParentheses} brackets, or tables ${maxEmbeddingDepth} deep: ask in several requests.`,
      );
  }
  const length = Number(request.headers.get("content-length"));
  if (isDataApi && length > maxDataApiBytes)
    return errorResponse(413, `More than ${maxDataApiBytes} bytes: send them in several requests.`);
  // The content type is the sender's choice. An upload to storage is not a list.
  const mayHaveList = isDataApi || request.method === "DELETE";
  if (!mayHaveList || length <= 2 * maxItems) return null;
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => undefined);
  // Rows in another format, such as CSV, cannot be counted here.
  if (body === undefined) return errorResponse(415, "A long request has to be JSON.");
  const rows: unknown[] = Array.isArray(body) ? body : [body];
  const lists = [rows, ...Object.values(body ?? {})].filter((list) => Array.isArray(list));
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

/** Ignores parentheses in quoted names. */
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
