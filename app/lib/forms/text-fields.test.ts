import { expect, test } from "vitest";
import { codeLine, normalizePassword, oneLine, severalLines } from "./text-fields.ts";

const name = oneLine("Enter it.").min(1, "Enter it.").max(20, "At most 20.");
const message = severalLines("Write it.").max(20, "At most 20.");
const code = codeLine("Enter it.").max(20, "At most 20.");
const getErrorMessage = (schema: typeof name, typed: unknown) =>
  schema.safeParse(typed).error?.issues[0]?.message ?? null;

const typedInvisibly = ["\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"];

test.each([
  ["the terminal command to delete a line", "\u001b", "Tea[2KTea", "Tea\u001b[2KTea"],
  ["a bell", "\u0007"],
  ["a zero byte", "\u0000"],
  ["the first C1 character", "\u0080"],
  ["the last C1 character", "\u009f"],
  ["a left-to-right mark", "\u200e"],
  ["an Arabic letter mark", "\u061c"],
  ["a space without width", "\u200b"],
  ["a joiner between Latin letters", "\u200d"],
  ["a byte order mark", "\ufeff"],
  ["a soft hyphen", "\u00ad"],
  ["an invisible tag", "\u{e0041}"],
  ...typedInvisibly.map((mark) => ["a direction override or isolate", mark]),
])("Every text field removes %s.", (_what, character, expected = "TeaTea", typed = `Tea${character}Tea`) => {
  for (const field of [name, message, code]) expect(field.parse(typed)).toBe(expected);
});

test.each(["\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029"])(
  "A one-line field changes %j into a space, and a multi-line field changes it into one line break.",
  (lineBreak) => {
    expect(name.parse(`Tea${lineBreak}Coffee`)).toBe("Tea Coffee");
    expect(message.parse(`Tea${lineBreak}Coffee`)).toBe("Tea\nCoffee");
  },
);

test("A multi-line field counts the CR LF that a browser sends for a line break as one character.", () => {
  expect(getErrorMessage(message, `${"1234\r\n".repeat(3)}12345`)).toBeNull();
  expect(getErrorMessage(message, `${"1234\r\n".repeat(3)}123456`)).toBe("At most 20.");
});

test("A multi-line field stores tabs and no-break spaces unchanged, and a one-line field changes both into spaces.", () => {
  expect(message.parse("Tea\tCoffee\u00a0bags")).toBe("Tea\tCoffee\u00a0bags");
  expect(name.parse("Tea\tCoffee\u00a0bags")).toBe("Tea Coffee bags");
});

test.each(["Wanjirũ O'Neill", "شركة الشحن", "ශ්‍රී ලංකා", "می‌خواهم", "👩‍🔧 Tea ❤️", "100% \\ #1"])(
  "Every text field accepts %s unchanged.",
  (typed) => {
    expect(name.parse(typed)).toBe(typed);
    expect(message.parse(typed)).toBe(typed);
  },
);

test("A text field stores a letter with an accent as one character (Unicode NFC).", () => {
  for (const field of [name, message]) expect(field.parse("Wanjirũ Müller".normalize("NFD"))).toBe("Wanjirũ Müller");
});

test.each([
  ["en dashes", "706\u201351093844", "706-51093844"],
  ["no-break hyphens", "706\u201151093844", "706-51093844"],
  ["Arabic digits", "٧٠٦-٥١٠٩٣٨٤٤", "706-51093844"],
  ["Hindi digits", "७०६-५१०९३८४४", "706-51093844"],
  ["characters of full width", "７０６－５１０９３８４４", "706-51093844"],
  ["no-break and thin spaces", "706\u00a05109\u20093844", "706 5109 3844"],
  ["joiners and variation selectors", "706\u200c-\ufe0e51093844", "706-51093844"],
  ["a curly apostrophe", "o\u2019neill", "o'neill"],
])("A code field changes %s into ASCII characters.", (_what, typed, expected) => {
  expect(code.parse(typed)).toBe(expected);
});

test("Text fields and passwords shorten a series of combining marks to 30 marks.", () => {
  const typed = `a${"\u0323\u0301".repeat(10_000)}b`;
  const shortened = `a${"\u0323\u0301".repeat(15)}b`.normalize("NFC");
  for (const field of [severalLines("Write it."), oneLine("Write it."), codeLine("Write it.")])
    expect(field.parse(typed)).toBe(shortened);
  expect(normalizePassword(typed)).toBe(shortened);
});

test("A one-line field removes spaces and line breaks at both ends of its text, and has its own error messages.", () => {
  expect(name.parse(" Tea\r\n")).toBe("Tea");
  expect(getErrorMessage(name, undefined)).toBe("Enter it.");
  expect(getErrorMessage(name, " \n ")).toBe("Enter it.");
  expect(getErrorMessage(name, "x".repeat(21))).toBe("At most 20.");
});

test.each([
  ...["\u200b", "\u00a0", "\u3164", "\u2800 \u2800", "\u061c", "\ufeff\u200e", "\ufe0f", "\u0301", "\u{e0041}"],
  "\u{e0100}",
])("A text field that contains only %j counts as empty.", (typed) => {
  expect(getErrorMessage(name, typed)).toBe("Enter it.");
  expect(message.parse(typed)).toBe("");
});
