import { expect, test } from "vitest";
import { cite, DatedFigure } from "./dated-figure.ts";

const vat: DatedFigure = { date: "2025-10-15", source: "Value Added Tax Act", check_by: "2027-06-30" };
const levy: DatedFigure = {
  ...{ date: "2025-07-01", source: "Miscellaneous Fees and Levies Act", check_by: "2026-12-31" },
  note: "2% since 27 December 2024.",
};
const reminder = "Check this rate with us: we planned to check this rate by 31 December 2026, but we are late.";

test.each([
  ["2026-12-31", [levy], "Source, as of 1 July 2025: Miscellaneous Fees and Levies Act. 2% since 27 December 2024."],
  ["2026-11-26", [vat, { ...vat, date: "2025-08-01" }], "Source, as of 1 August 2025: Value Added Tax Act."],
  [
    "2027-01-01",
    [vat, levy],
    `Source, as of 1 July 2025: Value Added Tax Act; Miscellaneous Fees and Levies Act. ${reminder}`,
  ],
])(
  "On %s, a citation has the earliest date of its figures, and a reminder after their first check-by day.",
  (today, figures, text) => {
    expect(cite(figures, today)).toBe(text);
  },
);

test("The reminder after a check-by day names the given subject, such as this tariff.", () => {
  expect(cite([vat], "2027-07-01", "this tariff")).toContain("Check this tariff with us");
});

test.each(["date", "source", "check_by"])("A dated figure without the field %s is invalid.", (field) => {
  expect(DatedFigure.safeParse(levy).success).toBe(true);
  expect(DatedFigure.safeParse({ ...levy, [field]: undefined }).success).toBe(false);
  expect(DatedFigure.safeParse({ ...levy, [field]: "" }).success).toBe(false);
});
