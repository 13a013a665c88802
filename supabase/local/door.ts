/** Which addresses the embedded backend answers: those that the product uses, each written in one way. */

/**
 * No escapes, empty segments, or slash at the end: the rules here and the library behind them must read the same path.
 */
const plain = /^\/(auth|rest|storage)\/v1(\/[\w.~!$&'()*+,:@=-]+)+$/;

/**
 * The product does not use magic links, invitations, other providers or changes of address by mail. A link to recover an
 * account is made for the company alone.
 */
const auth = [
  /^POST \/auth\/v1\/(signup|token|verify|resend|logout)$/,
  /^(GET|PUT) \/auth\/v1\/user$/,
  /^GET \/auth\/v1\/(settings|health|\.well-known\/jwks\.json)$/,
  /^\w+ \/auth\/v1\/factors(\/[\w-]+(\/(challenge|verify))?)?$/,
  /^POST \/auth\/v1\/admin\/(users|generate_link)$/,
  /^\w+ \/auth\/v1\/admin\/users\/[\w-]+(\/factors(\/[\w-]+)?)?$/,
];

/** Whether the backend answers this request. `path` has no query. */
export function isOpen(method: string, path: string): boolean {
  if (!plain.test(path)) return false;
  return !path.startsWith("/auth/") || auth.some((route) => route.test(`${method} ${path}`));
}
