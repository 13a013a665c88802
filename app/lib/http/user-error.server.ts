/** What the backend's errors mean for the person in front of the screen. */
import { data } from "react-router";
import { somethingWentWrong } from "./toast.ts";

/** Why something was not done: words a client understands, and the status of the answer. */
export type UserError = { reason: string; status: number };

/** What a loader throws for the error page. The words are in an object: a proxy that answers in our place sends text. */
export function userErrorData({ reason, status }: UserError) {
  return data({ reason }, { status });
}

/**
 * What is thrown where the pages of a person who is signed in have none at this address: the error page leads back to the
 * first of theirs. For everybody else a 404 leads to the home page.
 */
export function areaNotFound(area: "portal" | "desk") {
  return data(areaHomePages[area], { status: 404 });
}

const areaHomePages = { portal: { to: "/portal", name: "My Shipments" }, desk: { to: "/desk", name: "Today" } };

const unavailableError: UserError = {
  reason: "Our records do not answer at the moment. Nothing was changed. Try again in a minute.",
  status: 503,
};

/** Errors of auth, by GoTrue's code; the others keep their own words only when those are the company's. */
const authErrors: Readonly<Record<string, UserError>> = {
  invalid_credentials: { reason: "The e-mail address or the password is not right.", status: 400 },
  // Auth says so before it looks at the password: whose account is closed is told by phone.
  user_banned: { reason: "The e-mail address or the password is not right.", status: 400 },
  weak_password: { reason: "Choose another password: this one is too short or too easy to guess.", status: 400 },
  email_address_invalid: { reason: "This e-mail address cannot receive mail. Check it.", status: 400 },
  otp_expired: { reason: "This link has been used or is too old.", status: 400 },
  mfa_factor_not_found: {
    reason: "This authenticator is not known any more: another window removed it or began a new one. Start again.",
    status: 409,
  },
  mfa_factor_name_conflict: { reason: "Another window began a set-up at the same moment. Start again.", status: 409 },
  too_many_enrolled_mfa_factors: {
    reason: "You have as many authenticators as there can be. Remove one.",
    status: 400,
  },
  over_request_rate_limit: { reason: "Too many attempts. Wait some minutes and try again.", status: 429 },
  over_email_send_rate_limit: { reason: "A message is on its way already. Wait a minute and try again.", status: 429 },
};

type SupabaseError = { message: string; name?: string; code?: string | number; status?: number; statusCode?: string };

/**
 * The refusal behind an error of supabase-js: auth, data or storage, or a call that did not come back.
 * Messages that our own migrations raise (SQLSTATE PTnnn) and hooks give pass through; no other text does.
 */
export function toUserError(error: SupabaseError): UserError {
  const code = String(error.code ?? "");
  // Storage answers 400 with the real status beside it.
  const status = Number(error.statusCode ?? error.status ?? 0);
  const known = authErrors[code];
  if (known) return known;
  const ours = /^PT(4\d\d|503)$/.exec(error.statusCode ?? code);
  if (ours) return { reason: error.message, status: Number(ours[1]) };
  // A character that the database cannot keep, such as a zero byte.
  if (code === "22021" || code === "22P05") return { reason: "This text has characters we cannot keep.", status: 400 };
  // A rule of the tables that a form let through: too long, out of range, not of its kind.
  if (code === "23514" || /^22[0-9A-Z]{3}$/.test(code)) {
    return { reason: "Our records do not take this as it is. Check what you typed.", status: 400 };
  }
  if (isHookError(error, code)) return { reason: error.message, status: 400 };
  if (code === "42501" || status === 403) return { reason: "This is not yours to change.", status: 403 };
  // A 429 of the backend is its overload, not a fault of the person who asks.
  if (status === 0 || status === 429 || status >= 500 || error.name === "TimeoutError") return unavailableError;
  return { reason: somethingWentWrong, status: 502 };
}

/** A refusal by the `before_user_created` hook carries no code of GoTrue's ("unknown" or none) and our sentence. */
function isHookError(error: SupabaseError, code: string): boolean {
  return error.name === "AuthApiError" && error.status === 400 && (code === "unknown" || code === "");
}

/** The refusal for anything thrown by a call: a lost connection, a deadline, an answer that is no JSON. */
export function userErrorFromThrown(error: unknown): UserError {
  return error instanceof Error ? toUserError({ message: error.message, name: error.name }) : unavailableError;
}

/** A refusal as a response in place of the backend's, in the error formats of auth, data and storage. */
export function userErrorResponse({ reason, status }: UserError): Response {
  const code = `PT${status}`;
  return Response.json({ message: reason, code, error_code: code, statusCode: code }, { status });
}
