/** What GoTrue says of a body that it cannot read, and errors of auth in the format of the version that a client sends. */
import { authError } from "./errors.ts";

type Handler = (request: Request) => Promise<Response>;

/** The calls whose bodies GoTrue reads into one of its structures, where a value of another type is an error. */
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

/** Wraps the handler: it meets only bodies that are objects with values of the right types, or none; null counts as empty. */
export function withBodyValidation(next: Handler): Handler {
  return async (request) => {
    if (!validatedRoutes.test(`${request.method} ${new URL(request.url).pathname}`)) return next(request);
    const text = await request.clone().text();
    const wrong = findBodyError(text);
    if (wrong) return authError(400, "bad_json", `Could not parse request body as JSON: ${wrong}`);
    if (text.trim() !== "null") return next(request);
    const headers = new Headers(request.headers);
    headers.set("content-length", "2");
    return next(new Request(request, { body: "{}", headers }));
  };
}

/** What is wrong in the JSON of a body, or null. */
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
  const wrong = values.find(
    ([name, value]) =>
      (stringFields.includes(name) && typeof value !== "string") ||
      (objectFields.includes(name) && (typeof value !== "object" || Array.isArray(value))),
  );
  return wrong ? `${wrong[0]} has a value of another type` : null;
}

/** Passes a value of a body on; throws for a text that PostgreSQL cannot store: one with a NUL, or with half a character. */
function rejectUnstorableText(_name: string, value: unknown): unknown {
  if (typeof value === "string" && /\0|\p{Surrogate}/u.test(value)) throw new SyntaxError("invalid text");
  return value;
}

const apiVersionHeader = "X-Supabase-Api-Version";
/** From this version on an error is {code, message}; before, {code: status, error_code, msg}. */
const errorFormatVersion = "2024-01-01";

/** Wraps the handler: answers of auth carry the version, and its errors the form of that version. */
export function withApiVersion(next: Handler): Handler {
  return async (request) => {
    const response = await next(request);
    const asked = request.headers.get(apiVersionHeader) ?? "";
    const isAuth = new URL(request.url).pathname.startsWith("/auth/v1/");
    if (!isAuth || !/^\d{4}-\d\d-\d\d$/.test(asked) || asked < errorFormatVersion) return response;
    const headers = new Headers(response.headers);
    headers.set(apiVersionHeader, errorFormatVersion);
    if (response.ok) return new Response(response.body, { status: response.status, headers });
    const text = await response.text();
    const { error_code, msg, ...rest } = parseJsonObject(text);
    headers.delete("content-length");
    const body = error_code ? JSON.stringify({ ...rest, code: error_code, message: msg }) : text;
    return new Response(body, { status: response.status, headers });
  };
}

function parseJsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return value && typeof value === "object" ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
