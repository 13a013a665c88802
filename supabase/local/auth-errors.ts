/** Errors of auth in the format that a client asks for by the version it sends, as GoTrue answers them. */

type Handler = (request: Request) => Promise<Response>;

const versionHeader = "X-Supabase-Api-Version";
/** From this version on an error is {code, message}; before, {code: status, error_code, msg}. */
const named = "2024-01-01";

/** Wraps the handler: answers of auth carry the version, and its errors the form of that version. */
export function withApiVersion(next: Handler): Handler {
  return async (request) => {
    const response = await next(request);
    const asked = request.headers.get(versionHeader) ?? "";
    const isAuth = new URL(request.url).pathname.startsWith("/auth/v1/");
    if (!isAuth || !/^\d{4}-\d\d-\d\d$/.test(asked) || asked < named) return response;
    const headers = new Headers(response.headers);
    headers.set(versionHeader, named);
    if (response.ok) return new Response(response.body, { status: response.status, headers });
    const text = await response.text();
    const { error_code, msg, ...rest } = jsonOf(text);
    headers.delete("content-length");
    const body = error_code ? JSON.stringify({ ...rest, code: error_code, message: msg }) : text;
    return new Response(body, { status: response.status, headers });
  };
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return value && typeof value === "object" ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
