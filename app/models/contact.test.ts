import { expect, test } from "vitest";
import { emailAddress } from "./contact.ts";

test.each([
  ["info@müller-sample.example", "info@xn--mller-sample-dlb.example"],
  ["info@müller-sample.example".normalize("NFD"), "info@xn--mller-sample-dlb.example"],
  ["user@example.xn--p1ai", "user@example.xn--p1ai"],
  ["user@пример.рф", "user@xn--e1afmkfd.xn--p1ai"],
  ["sales&marketing@example.test", "sales&marketing@example.test"],
  ["o\u2019neill@example.test", "o'neill@example.test"],
  ["name@example.test\u200b", "name@example.test"],
  ["\u202aname@example\u2011port.test\u202c", "name@example-port.test"],
  ["name＠example.test", "name@example.test"],
  [" Name@Example.test ", "Name@example.test"],
])("The email address %j is read as %s.", (typed, expected) => {
  expect(emailAddress.parse(typed)).toBe(expected);
});

test.each([
  ...["name", "name@", "@example.test", "name@example", "name@127.0.0.1", "name@0x7f.1", "<name@example.test>"],
  ...["name@example.test, other@example.test", "na me@example.test", "name@client example.test", "name@example..test"],
  ...["name@-example.test", "name@example.test/path", "name@example.test:25", "name@user@example.test"],
  ...["name\nBcc: other@example.test", "имя@example.test"],
])("The email address %j is rejected.", (typed) => {
  expect(emailAddress.safeParse(typed).error?.issues[0]?.message).toBe(
    "Enter an email address such as name@example.com.",
  );
});
