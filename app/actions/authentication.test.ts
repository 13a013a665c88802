import { expect, test } from "vitest";
import { clientIdRequired } from "../models/client-id.ts";
import { confirmationToken, LoginFields, SignUpFields } from "./authentication.ts";

const form = {
  clientId: "7K3Q-X9MD-2HTV-W5BC",
  fullName: "Achieng Otieno",
  email: "achieng@client.example",
  password: "harbour at dusk",
};
/** Returns an email address of this length, at least 200 characters. */
const createEmailAddress = (length: number) =>
  `${"a".repeat(60)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(length - 191)}.example`;

test("A complete sign-up is accepted: spaces around its fields are removed, and the password stays unchanged.", () => {
  const typed = {
    clientId: ` ${form.clientId} `,
    fullName: " Achieng ",
    email: " a@b.example ",
    password: "  spaces  ",
  };
  expect(SignUpFields.parse(typed)).toEqual({
    clientId: form.clientId,
    fullName: "Achieng",
    email: "a@b.example",
    password: "  spaces  ",
  });
});

test.each([
  ["clientId", "x".repeat(64)],
  ["fullName", "x".repeat(100)],
  ["email", createEmailAddress(254)],
  ["password", "123456"],
  ["password", "x".repeat(72)],
  ["password", "é".repeat(36)],
])("%s may be %j", (name, value) => {
  expect(SignUpFields.safeParse({ ...form, [name]: value }).success).toBe(true);
});

test.each([
  ["clientId", undefined],
  ["clientId", ""],
  ["clientId", "   "],
])("without a client ID (%s is %j) the words are those of the specification", (name, value) => {
  expect(listErrors(SignUpFields.safeParse({ ...form, [name]: value }))).toEqual([["clientId", clientIdRequired]]);
});

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
])("%s cannot be %j, and one sentence next to it gives the reason", (name, value) => {
  const errors = listErrors(SignUpFields.safeParse({ ...form, [name]: value }));
  expect(errors).toEqual([[name, expect.stringMatching(/^[A-Z].+\.$/)]]);
});

test("logging in asks for no rule of today's passwords but their longest length", () => {
  expect(LoginFields.safeParse({ email: form.email, password: "12345" }).success).toBe(true);
  expect(LoginFields.safeParse({ email: form.email, password: "x".repeat(73) }).success).toBe(false);
});

test.each(["a".repeat(64), "0123456789abcdef", "pkce_0123456789abcdef"])("%j may be the token of a link", (token) => {
  expect(confirmationToken.safeParse(token).success).toBe(true);
});

test.each([
  "",
  "short",
  "a".repeat(257),
  "0123456789abcde/",
  "0123456789abcdef ",
  "0123456789abcdef\n",
  "<script>alert(1)</script>",
])("%j is no token of a link", (token) => {
  expect(confirmationToken.safeParse(token).success).toBe(false);
});

/** Returns the invalid fields with their messages. */
function listErrors(result: ReturnType<typeof SignUpFields.safeParse>): [string, string][] {
  return result.error?.issues.map(({ path, message }) => [path.join("."), message]) ?? [];
}
