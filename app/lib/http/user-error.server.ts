import { data } from "react-router";
import { somethingWentWrong } from "./toast.ts";

export type UserError = { reason: string; status: number };

/** Returns an object, because lib/browser/connection.ts treats an error in plain text as an error of a proxy. */
export function userErrorData({ reason, status }: UserError) {
  return data({ reason }, { status });
}

export function areaNotFound(area: "portal" | "desk") {
  const homePages = {
    portal: { to: "/portal", name: "Go to My Shipments" },
    desk: { to: "/desk", name: "Go to the Today page" },
  };
  return data(homePages[area], { status: 404 });
}

const unavailableError: UserError = {
  reason: "Our system is not responding. Nothing was changed. Try again in a minute.",
  status: 503,
};

export const setupReplacedText = "You started to set up 2FA in another window. Start the setup again.";

const authErrors: Readonly<Record<string, [reason: string, status: number]>> = {
  invalid_credentials: ["The email or password is wrong.", 400],
  // A login to a closed account gets the message for a wrong password, so that nobody can detect closed accounts.
  user_banned: ["The email or password is wrong.", 400],
  weak_password: ["This password is too short or too easy to guess. Choose another password.", 400],
  email_address_invalid: ["We cannot send email to this address. Check the address.", 400],
  otp_expired: ["This link has been used or has expired.", 400],
  mfa_factor_not_found: ["This authenticator app was removed in another window. Reload the page, then try again.", 409],
  mfa_factor_name_conflict: [setupReplacedText, 409],
  too_many_enrolled_mfa_factors: ["You have the maximum number of authenticator apps. Remove one app first.", 400],
  over_request_rate_limit: ["Too many attempts. Wait a few minutes, then try again.", 429],
  over_email_send_rate_limit: ["We have just sent you an email. Wait one minute, then try again.", 429],
};

type SupabaseError = { message: string; name?: string; code?: string | number; status?: number; statusCode?: string };

/** Users see only messages of the site's own database functions (SQLSTATE PTnnn) and hooks, not of other software. */
export function toUserError(error: SupabaseError): UserError {
  const code = String(error.code ?? "");
  // Supabase Storage responds with status 400 and puts the real status into `statusCode`.
  const status = Number(error.statusCode ?? error.status ?? 0);
  const authError = authErrors[code];
  if (authError) return { reason: authError[0], status: authError[1] };
  const ownError = /^PT(4\d\d|503)$/.exec(error.statusCode ?? code);
  if (ownError) return { reason: error.message, status: Number(ownError[1]) };
  if (code === "22021" || code === "22P05")
    return { reason: "The text contains invisible characters. Delete the text and type it again.", status: 400 };
  // A check constraint or a column type of the database has rejected a value that the form accepted.
  if (code === "23514" || /^22[0-9A-Z]{3}$/.test(code))
    return { reason: "We could not save the form. Check your entries, then try again.", status: 400 };
  // An error of the `before_user_created` hook has the code "unknown" or no code.
  if (error.name === "AuthApiError" && error.status === 400 && (code === "unknown" || code === ""))
    return { reason: error.message, status: 400 };
  if (code === "42501" || status === 403)
    return { reason: "You are not allowed to make this change. If you need this change, call us.", status: 403 };
  // Status 429 of the backend means overload. Limits on a user's attempts are in rate-limiter.server.ts.
  if (status === 0 || status === 429 || status >= 500 || error.name === "TimeoutError") return unavailableError;
  return { reason: somethingWentWrong, status: 502 };
}

export function userErrorFromThrown(error: unknown): UserError {
  return error instanceof Error ? toUserError({ message: error.message, name: error.name }) : unavailableError;
}

export function userErrorResponse({ reason, status }: UserError): Response {
  const code = `PT${status}`;
  return Response.json({ message: reason, code, error_code: code, statusCode: code }, { status });
}
