import { AuthApiError, AuthRetryableFetchError } from "@supabase/supabase-js";
import { expect, test } from "vitest";
import { somethingWentWrong } from "./toast.ts";
import { toUserError, userErrorFromThrown, userErrorResponse } from "./user-error.server.ts";

const unavailableError = { reason: expect.stringContaining("Try again in a minute"), status: 503 };
const databaseMessage = 'null value in column "status" of relation "shipments" at 10.0.0.5:5432';

test.each([
  ["invalid_credentials", 400, 400, "The email or password is wrong."],
  ["weak_password", 422, 400, "This password is too short or too easy to guess. Choose another password."],
  ["email_address_invalid", 400, 400, "We cannot send email to this address. Check the address."],
  ["otp_expired", 403, 400, "This link has been used or has expired."],
  ["over_request_rate_limit", 429, 429, "Too many attempts. Wait a few minutes, then try again."],
  ["over_email_send_rate_limit", 429, 429, "We have just sent you an email. Wait one minute, then try again."],
])("The error %s of Supabase Auth is replaced by the site's own message.", (code, sent, status, reason) => {
  expect(toUserError(new AuthApiError(databaseMessage, sent, code))).toEqual({ reason, status });
});

test.each([403, 404, 409])(
  "The user sees the message of a database error with the code PT%i, and the response has this status.",
  (status) => {
    const reason = "This shipment is closed.";
    expect(toUserError({ message: reason, code: `PT${status}`, status })).toEqual({ reason, status });
  },
);

test("A UserError that is read back from its response is unchanged.", async () => {
  for (const status of [400, 409, 429, 503]) {
    const body = await userErrorResponse({ reason: "Try later.", status }).json();
    expect(toUserError({ ...body, status })).toEqual({ reason: "Try later.", status });
  }
});

test.each([undefined, "unknown"])(
  "The user sees the unchanged message of a sign-up hook error with the code %s.",
  (code) => {
    const reason = "This Client ID is not known or has been used.";
    expect(toUserError(new AuthApiError(reason, 400, code))).toEqual({ reason, status: 400 });
  },
);

test.each([
  { message: databaseMessage, code: "42501", status: 403 },
  { message: databaseMessage, status: 403 },
  { message: databaseMessage, name: "StorageApiError", statusCode: "403" },
])("The database error %j about a missing permission becomes status 403 with a message for the user.", (error) => {
  expect(toUserError(error)).toEqual({
    reason: "You are not allowed to make this change. If you need this change, call us.",
    status: 403,
  });
});

test.each([
  ["23514", 400],
  ["23514", 500],
  ["22001", 400],
  ["22P02", 400],
])(
  "The database error %s (status %i) about a violated constraint becomes status 400 with a message for the user.",
  (code, status) => {
    expect(toUserError({ message: databaseMessage, code, status })).toEqual({
      reason: "We could not save the form. Check your entries, then try again.",
      status: 400,
    });
  },
);

test.each([
  { message: databaseMessage },
  { message: databaseMessage, status: 500 },
  { message: databaseMessage, status: 503, code: "PGRST000" },
  { message: databaseMessage, name: "StorageApiError", statusCode: "500" },
  { message: databaseMessage, name: "TimeoutError", status: 200 },
  { message: "TypeError: fetch failed", code: "", status: 0 },
  new AuthRetryableFetchError(databaseMessage, 0),
])("The backend error %j becomes status 503 with a message for the user.", (error) => {
  expect(toUserError(error)).toEqual(unavailableError);
});

test.each([
  { message: databaseMessage, code: "23505", status: 409 },
  { message: databaseMessage, code: "PGRST116", status: 406 },
  { message: databaseMessage, code: "PT500", status: 400 },
  { message: databaseMessage, code: "PT4099", status: 400 },
  { message: databaseMessage, code: 400, status: 400 },
  { message: databaseMessage, name: "StorageApiError", status: 400, statusCode: "413" },
  new AuthApiError(databaseMessage, 400, "validation_failed"),
])("The user does not see the message of the unexpected error %j.", (error) => {
  expect(toUserError(error)).toEqual({ reason: somethingWentWrong, status: 502 });
});

test.each([
  new TypeError("fetch failed"),
  new DOMException("The backend did not respond in time.", "TimeoutError"),
  new SyntaxError("Unexpected token < in JSON"),
  databaseMessage,
  null,
  { status: 400 },
])("The thrown value %s is treated as an unavailable backend.", (thrown) => {
  expect(userErrorFromThrown(thrown)).toEqual(unavailableError);
});

test("No UserError contains an internal message of the backend.", () => {
  for (const code of ["23502", "42501", "XX000", "unexpected_failure", ""]) {
    for (const status of [0, 400, 401, 403, 404, 409, 422, 500, 503]) {
      for (const name of ["PostgrestError", "StorageApiError", "AuthUnknownError", "Error"]) {
        expect(toUserError({ message: databaseMessage, code, status, name }).reason).not.toContain("10.0.0.5");
      }
    }
  }
});
