import { expect, test } from "vitest";
import { clientIdRequired } from "../models/client-id.server.ts";
import { confirmationToken, LoginFields, SignUpFields } from "./authentication.ts";

const form = {
  clientId: "7K3Q-X9MD-2HTV-W5BC",
  fullName: "Achieng Otieno",
  email: "achieng@client.example",
  password: "harbour at dusk",
};
/** Returns a valid email address of `length` characters. `length` must be at least 200. */
const createEmailAddress = (length: number) =>
  `${"a".repeat(60)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(length - 191)}.example`;

test("The sign-up form removes spaces around every value except the password.", () => {
  const typed = Object.fromEntries(Object.entries(form).map(([name, value]) => [name, `  ${value} `]));
  expect(SignUpFields.parse(typed)).toEqual({ ...form, password: "  harbour at dusk " });
});

test.each([
  ["clientId", "x".repeat(64)],
  ["fullName", "x".repeat(100)],
  ["email", createEmailAddress(254)],
  ["password", "123456"],
  ["password", "x".repeat(72)],
  ["password", "é".repeat(36)],
])("The sign-up field %s accepts the value %j.", (name, value) => {
  expect(SignUpFields.safeParse({ ...form, [name]: value }).success).toBe(true);
});

test.each([undefined, "", "   "])(
  "The sign-up form rejects the Client ID %j with the error text that the specification prescribes.",
  (clientId) => {
    expect(listErrors(SignUpFields.safeParse({ ...form, clientId }))).toEqual([["clientId", clientIdRequired]]);
  },
);

test.each([
  ["clientId", "x".repeat(65)],
  ["fullName", ""],
  ["fullName", "  "],
  ["fullName", undefined],
  ["fullName", "x".repeat(101)],
  ["email", ""],
  ["email", undefined],
  ["email", "achieng"],
  ["email", "achieng@"],
  ["email", "a@b.example\r\nBcc: c@d.example"],
  ["email", createEmailAddress(255)],
  ["password", ""],
  ["password", undefined],
  ["password", "12345"],
  ["password", "x".repeat(73)],
  ["password", "é".repeat(37)],
])("The sign-up field %s rejects the value %j with an error of one sentence.", (name, value) => {
  const errors = listErrors(SignUpFields.safeParse({ ...form, [name]: value }));
  expect(errors).toEqual([[name, expect.stringMatching(/^[A-Z].+\.$/)]]);
});

test("The login form checks only the maximum length of a password.", () => {
  expect(LoginFields.safeParse({ email: form.email, password: "12345" }).success).toBe(true);
  expect(LoginFields.safeParse({ email: form.email, password: "x".repeat(73) }).success).toBe(false);
});

test("A confirmation token has 16 to 256 letters, digits, underscores, hyphens or points.", () => {
  const isValid = (token: string) => confirmationToken.safeParse(token).success;
  const valid = ["a".repeat(64), "0123456789abcdef", "pkce_0123456789abcdef"];
  expect(valid.filter(isValid)).toEqual(valid);
  const invalid = ["", "short", "a".repeat(257), "0123456789abcde/", "0123456789abcdef ", "0123456789abcdef\n"];
  expect([...invalid, "<script>alert(1)</script>"].filter(isValid)).toEqual([]);
});

function listErrors(result: ReturnType<typeof SignUpFields.safeParse>): [string, string][] {
  return result.error?.issues.map(({ path, message }) => [path.join("."), message]) ?? [];
}
