import { AuthApiError, AuthRetryableFetchError } from "@supabase/supabase-js";
import { expect, test } from "vitest";
import { somethingWentWrong } from "./flash.ts";
import { refusalAsAnswer, refusalOf, refusalOfThrown } from "./refusal.server.ts";

const unavailable = { reason: expect.stringContaining("Try again in a minute"), status: 503 };
const internal = 'null value in column "status" of relation "shipments" at 10.0.0.5:5432';

test.each([
  ["invalid_credentials", 400, 400, "The e-mail address or the password is not right."],
  ["weak_password", 422, 400, "Choose another password: this one is too short or too easy to guess."],
  ["email_address_invalid", 400, 400, "This e-mail address cannot receive mail. Check it."],
  ["otp_expired", 403, 400, "This link has been used or is too old."],
  ["over_request_rate_limit", 429, 429, "Too many attempts. Wait some minutes and try again."],
  ["over_email_send_rate_limit", 429, 429, "A message is on its way already. Wait a minute and try again."],
])("auth's %s is told in the company's words", (code, sent, status, reason) => {
  expect(refusalOf(new AuthApiError(internal, sent, code))).toEqual({ reason, status });
});

test.each([
  ["PT404", 404],
  ["PT409", 409],
  ["PT403", 403],
])("what our migrations raise with %s passes through with status %i", (code, status) => {
  expect(refusalOf({ message: "This shipment is closed.", code, status })).toEqual({
    reason: "This shipment is closed.",
    status,
  });
});

test("a refusal sent in place of an answer is read back unchanged", async () => {
  for (const status of [400, 409, 429, 503]) {
    const body = await refusalAsAnswer({ reason: "Try later.", status }).json();
    expect(refusalOf({ ...body, status })).toEqual({ reason: "Try later.", status });
  }
});

test.each([undefined, "unknown"])("the sign-up hook's words pass through, with the code %s", (code) => {
  const words = "This Client ID is not known or has been used.";
  expect(refusalOf(new AuthApiError(words, 400, code))).toEqual({ reason: words, status: 400 });
});

test.each([
  { message: internal, code: "42501", status: 403 },
  { message: internal, code: "42501", status: 401 },
  { message: internal, status: 403 },
  { message: internal, name: "StorageApiError", status: 400, statusCode: "403" },
  { message: internal, name: "StorageApiError", statusCode: "403" },
])("a missing permission is 403, and the words say so: %j", (error) => {
  expect(refusalOf(error)).toEqual({ reason: "This is not yours to change.", status: 403 });
});

test.each([
  ["23514", 400],
  ["23514", 500],
  ["22001", 400],
  ["22003", 400],
  ["22P02", 400],
])("what the tables do not take (%s, answered with %i) is 400 and asks to check what was typed", (code, status) => {
  expect(refusalOf({ message: internal, code, status })).toEqual({
    reason: "Our records do not take this as it is. Check what you typed.",
    status: 400,
  });
});

test.each([
  { message: internal },
  { message: internal, status: 0 },
  { message: internal, status: 500 },
  { message: internal, status: 502 },
  { message: internal, status: 503, code: "PGRST000" },
  { message: internal, name: "StorageApiError", statusCode: "500" },
  { message: internal, name: "TimeoutError", status: 200 },
  { message: "TypeError: fetch failed", code: "", status: 0 },
  new AuthRetryableFetchError(internal, 0),
  new AuthRetryableFetchError(internal, 503),
])("a backend that does not answer is 503 and says to try again: %j", (error) => {
  expect(refusalOf(error)).toEqual(unavailable);
});

test.each([
  { message: internal, code: "23502", status: 400 },
  { message: internal, code: "23505", status: 409 },
  { message: internal, code: "PGRST116", status: 406 },
  { message: internal, code: "PT500", status: 400 },
  { message: internal, code: "PT4099", status: 400 },
  { message: internal, code: 400, status: 400 },
  { message: internal, name: "StorageApiError", status: 400, statusCode: "413" },
  new AuthApiError(internal, 400, "validation_failed"),
  new AuthApiError(internal, 422, "unexpected"),
])("the message of an unexpected error is not shown: %j", (error) => {
  expect(refusalOf(error)).toEqual({ reason: somethingWentWrong, status: 502 });
});

test.each([
  new TypeError("fetch failed"),
  new DOMException("The backend did not answer in time.", "TimeoutError"),
  new DOMException("This operation was aborted", "AbortError"),
  new SyntaxError("Unexpected token < in JSON"),
  internal,
  undefined,
  null,
  { status: 400 },
])("anything thrown counts as a backend that does not answer: %s", (thrown) => {
  expect(refusalOfThrown(thrown)).toEqual(unavailable);
});

test("no refusal repeats an internal message of the backend", () => {
  for (const code of ["23502", "42501", "XX000", "unexpected_failure", ""]) {
    for (const status of [0, 400, 401, 403, 404, 409, 422, 500, 503]) {
      for (const name of ["PostgrestError", "StorageApiError", "AuthUnknownError", "Error"]) {
        expect(refusalOf({ message: internal, code, status, name }).reason).not.toContain("10.0.0.5");
      }
    }
  }
});
