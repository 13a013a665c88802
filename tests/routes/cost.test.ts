import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { dayInEastAfrica } from "../../app/lib/dates.ts";
import { getHref } from "../support/page-parts.ts";
import { expectInvalidFields, getTextareaValue } from "../support/public-form.ts";
import { getText, type ParsedPage, startTestSite } from "../support/test-app.ts";

const path = "/resources/cost";
const quoteLink = "Get a quote for this import";

const site = await startTestSite();
const visitor = site.browser();
afterAll(() => site.close());

const thisYear = Number(dayInEastAfrica(new Date()).slice(0, 4));

const car = {
  ...{ what: "car", registered: `${thisYear - 3}-05`, excise: "25", currency: "USD", value: "8,000", freight: "1200" },
  ...{ insurance: "120.50", rate: "129.5", duty: "" },
};
const goods = {
  ...{ what: "container", currency: "KES", value: "2600000", freight: "360000", insurance: "40000", duty: "25" },
};
const textFields = ["value", "freight", "insurance", "rate", "duty", "registered"] as const;

const openEstimate = (fields: Record<string, string>) => visitor.open(`${path}?${new URLSearchParams(fields)}`);
const openQuote = async (fields: Record<string, string>) =>
  visitor.open(getHref(await openEstimate(fields), quoteLink) ?? "");

const listAmounts = (page: ParsedPage) =>
  page
    .all("main tbody tr")
    .map((row) => [getText(row.querySelector("th")), getText(row.querySelectorAll("td").at(-1))]);
const readRobots = (page: ParsedPage) => page.all("meta[name=robots]").map((meta) => meta.getAttribute("content"));
const getChoice = (page: ParsedPage, name: string) => {
  const option = page.all(`main select[name=${name}] option`).find((each) => each.hasAttribute("selected"));
  return option?.getAttribute("value") ?? option?.text;
};

test("Without a query, the cost page has an empty form, names the usual duty rates, and allows indexing by search engines.", async () => {
  const page = await visitor.open(path);
  expect([page.status, readRobots(page), page.problems]).toEqual([200, [], []]);
  const values = Object.fromEntries(textFields.map((name) => [name, page.value(name)]));
  expect(values).toEqual({ value: "", freight: "", insurance: "", rate: "", registered: "", duty: "" });
  expect(page.getDescriptions("duty").join(" ")).toContain("we use 25%, or 35% for a car.");
  const [form] = page.all("main form");
  expect([form?.getAttribute("method"), form?.getAttribute("action")]).toEqual(["get", `${path}#sum`]);
  expect(form?.hasAttribute("novalidate")).toBe(true);
  expect(getHref(page, "Exchange rates of the Kenya Revenue Authority (opens in a new tab)")).toBe(
    "https://www.kra.go.ke/",
  );
  expect(listAmounts(page).map(([, amount]) => amount)).toEqual(Array(8).fill("–"));
  expect(getHref(page, quoteLink)).toBeUndefined();
  expect((await visitor.open(`${path}?utm_source=x`)).status).toBe(200);
});

test("The cost estimate for a car shows each tax with its rate, date and source, and the form still shows the typed values.", async () => {
  const page = await openEstimate(car);
  expect([page.status, page.has("sum")]).toEqual([200, true]);
  expect(page.title).toMatch(/^What will your import cost\? · /);
  expect(listAmounts(page)).toEqual([
    ["CIF", "1,207,005"],
    ["Import duty", "422,452"],
    ["Excise duty", "407,364"],
    ["VAT", "325,891"],
    ["Import declaration fee", "30,175"],
    ["Railway development levy", "24,140"],
    ["Total taxes", "1,210,022"],
    ["Goods, freight, insurance and taxes", "2,417,027"],
  ]);
  const rows = page.all("main tbody tr").map(getText);
  for (const [index, percent] of ["35%", "25%", "16%", "2.5%", "2%"].entries()) {
    expect(rows[index + 1]).toContain(percent);
    expect(rows[index + 1]).toMatch(/Source, as of \d+ \w+ 20\d\d: .*(Act|Authority)/);
  }
  expect(rows[1]).toContain("Until mid-2025, the import duty for cars was 25%.");
  expect(rows[4]).toContain("Until 30 June 2023, the import declaration fee was 3.5%.");
  expect(page.text).toMatch(/estimate, not a quotation/);
  for (const name of textFields) expect(page.value(name)).toBe(car[name]);
  for (const name of ["what", "excise", "currency"] as const) expect(getChoice(page, name)).toBe(car[name]);
  const prohibitions = /under 8 years old.*left-hand drive.*KS 1515.*15% of CIF.*KES 181,051.*Estimate in KES/s;
  expect(page.text, "the prohibitions and the penalty before the amounts").toMatch(prohibitions);
  expect([readRobots(page), page.headers.has("ETag")]).toEqual([["noindex"], false]);
});

describe("Turn of the year in East Africa Time", () => {
  beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterAll(() => void vi.useRealTimers());

  test("From the start of the new year in East Africa Time, a car that is now too old is rejected and gets no quote.", async () => {
    vi.setSystemTime("2026-12-31T21:00:00Z");
    const rejected = await openEstimate({ ...car, registered: "2019-12" });
    expect([rejected.status, getHref(rejected, quoteLink)]).toEqual([200, undefined]);
    const rejection = "rejects this car, because it was first registered before 2020.";
    expect(rejected.text).toMatch(new RegExp(`${rejection}.*Estimate in KES`, "s"));
    const accepted = await openEstimate({ ...car, registered: "2020-01" });
    expect(accepted.text).not.toContain("rejects this car, because");
    expect(accepted.text).toContain("(KEBS) rejects this car if it arrives after 31 December 2027.");
    expect(getHref(accepted, quoteLink)).toBeDefined();
  });

  test.each([
    [`${path}?quote`, "rejects cars first registered before YEAR"],
    ["/resources/faq?quote", "first registered in YEAR or later"],
  ])(
    "At midnight, the cached page %s shows the new oldest allowed year. After the check-by day, the page shows a warning.",
    async (page, words) => {
      const openAt = async (now: string) => {
        vi.setSystemTime(now);
        return visitor.open(page);
      };
      const before = await openAt("2026-12-31T20:59:00Z");
      expect(before.text).toContain(words.replace("YEAR", "2019"));
      expect(before.text).not.toContain("we planned to check this rate");
      expect(before.headers.get("Expires")).toBe("Thu, 31 Dec 2026 21:00:00 GMT");
      const after = await openAt("2026-12-31T21:00:00Z");
      expect(after.text).toContain(words.replace("YEAR", "2020"));
      expect((await openAt("2099-01-01T00:00:00Z")).text).toContain("we planned to check this rate by");
    },
  );
});

test.each([
  ["car", /Certificate of roadworthiness/, /Air waybill/],
  ["air", /Air waybill/, /Bill of lading/],
  ["loose", /Bill of lading/, /roadworthiness/],
])(
  "The cost estimate for the import %s lists the needed documents, sorted by due date.",
  async (what, included, excluded) => {
    const { text } = await openEstimate({ ...goods, what, registered: car.registered, excise: "20" });
    expect(text).toMatch(/Before you pay the seller.*Before the cargo arrives/);
    expect(text).toMatch(included);
    expect(text).not.toMatch(excluded);
    expect(text.includes("left-hand drive")).toBe(what === "car");
  },
);

test("A cost form with errors marks each wrong field, shows all typed values again, and shows no amounts.", async () => {
  const typed = {
    ...car,
    ...{ value: "eight thousand", freight: "-5", insurance: "", rate: "1e99", registered: "2020-13" },
  };
  const page = await openEstimate(typed);
  expectInvalidFields(page, ["registered", "value", "freight", "insurance", "rate"]);
  expect(page.title).toMatch(/^Error: What will your import cost\?/);
  for (const name of textFields) expect(page.value(name)).toBe(typed[name]);
  expect(getChoice(page, "what")).toBe("car");
  expect(listAmounts(page).map(([, amount]) => amount)).toEqual(Array(8).fill("–"));
  expect(page.has("sum")).toBe(false);
});

test("A visitor can write the month of registration in several ways, and the field shows an invalid month again.", async () => {
  const year = thisYear - 3;
  const spellings = [`${year}-5`, `05/${year}`, `5.${year}`, `${year}05`, `05${year}`, ` May ${year} `, `${year}, may`];
  spellings.push(`05\u2013${year}`, `٠٥/${year}`);
  for (const registered of spellings) {
    const page = await openEstimate({ ...car, registered });
    expect(page.text).toContain(`first registered May ${year}`);
    expect(page.value("registered")).toBe(`${year}-05`);
  }
  for (const registered of [`13/${year}`, `${year}-00`, `Mayor ${year}`, `${year}`, "5", "05/21", `ma ${year}`]) {
    const page = await openEstimate({ ...car, registered });
    expect(page.getDescriptions("registered").join(" ")).toContain("such as 04/2021");
    expect(page.value("registered")).toBe(registered);
  }
});

test("The cost page rejects a query that lacks fields of the form.", async () => {
  for (const query of ["?what=", "?value=<script>alert(1)</script>", "?what=car&what=air", "?rate=%00"]) {
    const page = await visitor.open(path + query);
    expect([query, page.status, page.problems.length > 3]).toEqual([query, 400, true]);
    expect(page.html).not.toContain("<script>alert");
  }
});

test("A URL with foreign text cannot insert this text into the quote form.", async () => {
  const page = await visitor.open("/quote?service=Pay&message=Send+money&what=car");
  expect(page.status).toBe(200);
  expect(page.all("option[selected]").map(getText)).not.toContain("Pay");
  expect(getTextareaValue(page, "message")).toBe("");
});

test("A message that the visitor cleared is still empty after an error of the quote form, and the form links to the estimate.", async () => {
  const { action, fields } = (await openQuote(car)).form("Continue to email");
  expect(action).toBe("/actions/quote");
  expect(fields.from).toMatch(/^\/resources\/cost\?.*what=car/);
  const response = await visitor.post(action, { ...(fields as Record<string, string>), message: "" });
  const html = await response.text();
  expect([response.status, html.includes("Price: USD"), html.includes("what=car")]).toEqual([400, false, true]);
});

test.each([
  ["/", "What will your import cost?"],
  ["/services", "What will your import cost?"],
  ["/resources/faq", "Estimate your duty and taxes"],
])("The page %s links to the page of the cost calculator.", async (page, text) => {
  expect(getHref(await visitor.open(page), text)).toBe(path);
});
