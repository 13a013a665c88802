import { expect, test } from "vitest";
import { PhoneFields, PhoneRecord, parsePhone } from "./phone.server.ts";
import { getPhoneCountry, PHONE_COUNTRIES } from "./phone.ts";

const parse = (phone: string, country?: string) => {
  const fields = PhoneFields.safeParse({ phone, country });
  if (!fields.success) return fields.error.issues[0]?.message;
  const parsed = parsePhone(fields.data);
  return "reason" in parsed ? parsed.reason : parsed.phone;
};

const spellings: [country: string, stored: string, typed: string[]][] = [
  [
    "KE",
    "+254722123456",
    [
      ...["0722123456", "0722 123456", "0722-123-456", "0722.123.456", "(0)722 123456", "(0722) 123 456", "722123456"],
      ...["+254722123456", "+254 722 123 456", "+254 (0) 722 123456", "+2540722123456", "(+254) 722-123456"],
      ...["00254722123456", "000254 722 123456", "254722123456", "254 0722 123456", "+00254722123456", "+0722123456"],
      ...["0722\u2011123\u2013456", "0722\u2212123\u30fc456", "0722\u00a0123\u202f456", "\u202a+254 722 123456\u202c"],
      ...["0722\u200b123456\ufeff", "\u2066\u200e0722123456\u2069", "\uff0b\uff12\uff15\uff14722123456"],
      ...[
        "٠٧٢٢١٢٣٤٥٦",
        "۰۷۲۲ ۱۲۳ ۴۵۶",
        "०७२२१२३४५६",
        "tel:+254722123456",
        "Tel. 0722 123456",
        "0722/123456",
        "0722·123·456",
      ],
    ],
  ],
  ["KE", "+254110123456", ["0110 123456", "+254 110 123456"]],
  ["KE", "+254202345678", ["020 2345678", "(020) 234-5678", "+254 20 2345678"]],
  ["UG", "+256772123456", ["0772 123456", "0772-123-456", "772 123 456", "256772123456", "+256 (0)772 123456"]],
  ["TZ", "+255754123456", ["0754 123 456", "754123456", "255 754 123 456", "00255754123456"]],
  ["RW", "+250788123456", ["0788 123 456", "788.123.456", "+250 788 123 456", "250788123456"]],
  ["BI", "+25779123456", ["79 12 34 56", "79123456", "079 12 34 56", "+257 79 12 34 56", "+257 (0) 79 123 456"]],
  ["SS", "+211912345678", ["0912 345 678", "912345678", "+211 912 345 678", "00 211 912 345 678"]],
  ["CD", "+243812345678", ["0812 345 678", "812345678", "+243 81 234 5678", "243812345678"]],
  // The number has a country code, so the chosen country does not matter.
  ["KE", "+256772123456", ["+256 772 123456", "256772123456", "00256 0772 123456"]],
  ["BI", "+254722123456", ["+254 722 123456", "254722123456"]],
  ["other", "+447911123456", ["+44 7911 123456", "+44 (0)7911 123456", "0044 7911 123456"]],
  ["other", "+254722123456", ["254 722 123456"]],
  ["KE", "+971501234567", ["+971 50 123 4567"]],
];

test.each(spellings)("In the country %s, every spelling of a number is read as %s.", (country, stored, typed) => {
  expect(typed.map((phone) => [phone, parse(phone, country)])).toEqual(typed.map((phone) => [phone, stored]));
});

test("A number without a country code is a number of the chosen country, and of Kenya if no country is chosen.", () => {
  const numbers = ["KE", "UG", "TZ", "RW", undefined].map((country) => parse("0722 123456", country));
  expect(numbers).toEqual(["+254722123456", "+256722123456", "+255722123456", "+250722123456", "+254722123456"]);
});

test("A rejected number has an error with an example of its country.", () => {
  for (const { code, name, example } of PHONE_COUNTRIES) {
    const error = `This is not a telephone number of ${name}. Enter a number such as ${example}, or choose another country.`;
    for (const phone of ["07", "0722 12345678", "abc", "0722 12345x", "*144#"]) expect(parse(phone, code)).toBe(error);
    expect(parse(example, code)).toMatch(/^\+\d+$/);
  }
  const kenyan = "This is not a telephone number of Kenya. Enter a number such as +254 722 123456.";
  for (const phone of ["+254 722 12345", "00254 722 1234567", "+254 922 123456"])
    expect(parse(phone, "UG")).toBe(kenyan);
  expect(parse("0722 123456", "SS")).toMatch(/^This is not a telephone number of South Sudan\./);
  expect(parse("0722 123456", "other")).toBe("Begin the number with + and the country code, such as +44 20 7946 0018.");
  for (const phone of ["+44 20", "+999 1234567", "+1 202 555 01234"])
    expect(parse(phone)).toBe("This is not a telephone number. Enter a number such as +44 20 7946 0018.");
  for (const phone of ["0722 123456 / 0733 123456", "0722123456 or 0733123456", "0722 123456 0733 123456"])
    expect(parse(phone)).toBe("Enter only one telephone number.");
  expect(parse("0".repeat(33))).toBe("Use at most 32 characters for the telephone number.");
  expect(parse("0722 123456", "XX")).toBe("Choose the country.");
});

test("A field with only spaces or invisible characters is empty.", () => {
  for (const phone of ["", "  ", "\u200b\u202e"]) expect(parse(phone, "UG")).toBeNull();
});

test("Pages show a number in international form with spaces, and select the number's country.", () => {
  const shown = ["+254722123456", "+25779123456", "+447911123456"].map((phone) => PhoneRecord.parse(phone));
  expect(shown).toEqual(["+254 722 123456", "+257 79 12 34 56", "+44 7911 123456"]);
  expect([...shown, null].map(getPhoneCountry)).toEqual(["KE", "BI", "other", "KE"]);
  expect(PhoneRecord.parse(null)).toBeNull();
});
