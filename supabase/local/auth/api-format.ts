import { authError } from "./errors.ts";
import { type Handler, readJsonBody } from "./sessions.ts";

/** The routes on which Supabase Auth rejects a body if a field has the wrong type. */
const validatedRoutes = /^(POST \/auth\/v1\/(signup|token|verify|resend)|PUT \/auth\/v1\/user)$/;
const stringFields = [
  "email",
  "phone",
  "password",
  "current_password",
  "nonce",
  "refresh_token",
  "type",
  "token",
  "token_hash",
];
const objectFields = ["data"];

/** Responds to invalid bodies with the error of Supabase Auth. Treats the body `null` as an empty object. */
export function withBodyValidation(next: Handler): Handler {
  return async (request) => {
    if (!validatedRoutes.test(`${request.method} ${new URL(request.url).pathname}`)) return next(request);
    const text = await request.clone().text();
    const error = findBodyError(text);
    if (error) return authError(400, "bad_json", `Could not parse request body as JSON: ${error}`);
    if (text.trim() !== "null") return next(request);
    const headers = new Headers(request.headers);
    headers.set("content-length", "2");
    return next(new Request(request, { body: "{}", headers }));
  };
}

function findBodyError(text: string): string | null {
  let body: unknown;
  try {
    body = JSON.parse(text, rejectUnstorableText);
  } catch {
    return "invalid syntax";
  }
  if (body === null) return null;
  if (typeof body !== "object" || Array.isArray(body)) return "not an object";
  const values = Object.entries(body).filter(([, value]) => value !== null);
  const invalidField = values.find(
    ([name, value]) =>
      (stringFields.includes(name) && typeof value !== "string") ||
      (objectFields.includes(name) && (typeof value !== "object" || Array.isArray(value))),
  );
  return invalidField ? `${invalidField[0]} has a value of the wrong type` : null;
}

/** A reviver of JSON.parse. Throws for text that PostgreSQL cannot store: NUL, or half a surrogate pair. */
function rejectUnstorableText(_name: string, value: unknown): unknown {
  if (typeof value === "string" && /\0|\p{Surrogate}/u.test(value)) throw new SyntaxError("invalid text");
  return value;
}

const apiVersionHeader = "X-Supabase-Api-Version";
/** From this API version on, an error is {code, message}. Before, an error was {code: status, error_code, msg}. */
const errorFormatVersion = "2024-01-01";

export function withApiVersion(next: Handler): Handler {
  return async (request) => {
    const response = await next(request);
    const requestedVersion = request.headers.get(apiVersionHeader) ?? "";
    const isAuth = new URL(request.url).pathname.startsWith("/auth/v1/");
    if (!isAuth || !/^\d{4}-\d\d-\d\d$/.test(requestedVersion) || requestedVersion < errorFormatVersion)
      return response;
    const headers = new Headers(response.headers);
    headers.set(apiVersionHeader, errorFormatVersion);
    if (response.ok) return new Response(response.body, { status: response.status, headers });
    const { error_code, msg, ...rest } = await readJsonBody<{ error_code: string; msg: string }>(response.clone());
    headers.delete("content-length");
    const body = error_code ? JSON.stringify({ ...rest, code: error_code, message: msg }) : response.body;
    return new Response(body, { status: response.status, headers });
  };
}
