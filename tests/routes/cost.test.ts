import { afterAll, beforeAll, expect, test } from "vitest";
import { dayInEastAfrica } from "../../app/lib/dates.ts";
import { getText, noStorePattern, type ParsedPage, startTestSite, type TestBrowser } from "../support/test-app.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let visitor: TestBrowser;
beforeAll(async () => {
  site = await startTestSite();
  visitor = site.browser();
});
afterAll(async () => {
  await site.close();
});

/** The month so many months before this one in East Africa, YYYY-MM. */
function monthBefore(months: number): string {
  const [year = 0, month = 0] = dayInEastAfrica(new Date()).split("-").map(Number);
  return new Date(Date.UTC(year, month - 1 - months)).toISOString().slice(0, 7);
}

const carQuery = {
  ...{ what: "car", registered: monthBefore(40), excise: "25", currency: "USD", value: "8,000", freight: "1200" },
  ...{ insurance: "120.50", rate: "129.5", duty: "25" },
};
const goodsQuery = {
  what: "container",
  currency: "KES",
  value: "2600000",
  freight: "360000",
  insurance: "40000",
  duty: "25",
};
const openEstimate = (form: Record<string, string>) => visitor.open(`/resources/cost?${new URLSearchParams(form)}`);

/** The lines of the sum: name and amount. */
const listAmounts = (page: ParsedPage) =>
  page
    .all("main tbody tr")
    .map((row) => [getText(row.querySelector("th")), getText(row.querySelectorAll("td").at(-1))] as const);
const readRobots = (page: ParsedPage) => page.all("meta[name=robots]").map((meta) => meta.getAttribute("content"));
const getHref = (page: ParsedPage, name: string) =>
  page
    .all("main a")
    .find((link) => getText(link) === name)
    ?.getAttribute("href");
const getSelected = (page: ParsedPage, name: string) => {
  const option = page.all(`main select[name=${name}] option`).find((each) => each.hasAttribute("selected"));
  return option?.getAttribute("value") ?? option?.text;
};

test("without a query the form stands empty but for the duty, and search engines may have the page", async () => {
  const page = await visitor.open("/resources/cost");
  expect(page.status).toBe(200);
  expect(readRobots(page)).toEqual([]);
  expect(page.problems).toEqual([]);
  for (const name of ["value", "freight", "insurance", "rate", "registered"]) expect(page.value(name), name).toBe("");
  expect(page.value("duty")).toBe("25");
  const form = page.all("main form")[0];
  expect([form?.getAttribute("method"), form?.getAttribute("action")]).toEqual(["get", "/resources/cost#sum"]);
  expect(form?.hasAttribute("novalidate")).toBe(true);
  expect(listAmounts(page).map(([, amount]) => amount)).toEqual(Array(8).fill("–"));
  expect(getHref(page, "Get a quote for this")).toBeUndefined();
  expect((await visitor.open("/resources/cost?utm_source=x")).status).toBe(200);
});

test("a car is answered with each line of its sum, its rate, month and source, and can be sent on", async () => {
  const page = await openEstimate(carQuery);
  expect(page.status).toBe(200);
  expect(page.title).toMatch(/^What will it cost\? · /);
  expect(listAmounts(page)).toEqual([
    ["CIF", "1,207,005"],
    ["Import duty", "301,751"],
    ["Excise duty", "377,189"],
    ["VAT", "301,751"],
    ["Import declaration fee", "42,245"],
    ["Railway development levy", "24,140"],
    ["Total taxes", "1,047,076"],
    ["Total with cargo", "2,254,081"],
  ]);
  const lines = page.all("main tbody tr").map(getText);
  for (const [index, percent] of [
    [1, "25%"],
    [2, "25%"],
    [3, "16%"],
    [4, "3.5%"],
    [5, "2%"],
  ] as const) {
    expect(lines[index]).toContain(percent);
    expect(lines[index]).toMatch(/October 2025\. .*(Act|Tariff)/);
  }
  expect(lines[4]).toContain("Check the current rate before paying; rates change with each Finance Act.");
  expect(page.text).toMatch(/estimate, not a quotation/);
  expect(page.has("sum")).toBe(true);
  for (const name of ["value", "freight", "insurance", "rate", "duty", "registered"] as const)
    expect(page.value(name)).toBe(carQuery[name]);
  for (const name of ["what", "excise", "currency"] as const) expect(getSelected(page, name)).toBe(carQuery[name]);
});

test("an answer is kept from search engines, from caches, and from other people's memory", async () => {
  const page = await openEstimate(carQuery);
  expect(readRobots(page)).toEqual(["noindex"]);
  expect(page.headers.has("ETag")).toBe(false);
  expect(readRobots(await openEstimate({ what: "" }))).toEqual(["noindex"]);
});

test("what is refused and what is dear is said before the sum", async () => {
  const page = await openEstimate(carQuery);
  const order = ["8 years old or more", "left-hand drive", "KS 1515", "15% of CIF", "KES 181,051", "Estimate in KES"];
  const places = order.map((said) => page.text.indexOf(said));
  expect(places).toEqual([...places].sort((one, other) => one - other));
  expect(Math.min(...places)).toBeGreaterThan(0);
  expect(page.text).not.toContain("This car is refused");
});

test("a car is refused from the month in which it turns eight, first of all and without a quote", async () => {
  const old = await openEstimate({ ...carQuery, registered: monthBefore(96) });
  expect(old.status).toBe(200);
  expect(old.text).toContain("This car is refused: 8 years or more have passed since its first registration.");
  expect(old.text.indexOf("This car is refused")).toBeLessThan(old.text.indexOf("Estimate in KES"));
  expect(getHref(old, "Get a quote for this")).toBeUndefined();
  const younger = await openEstimate({ ...carQuery, registered: monthBefore(95) });
  expect(younger.text).not.toContain("This car is refused");
  expect(getHref(younger, "Get a quote for this")).toBeDefined();
});

test("in shillings no rate is needed, and goods other than cars have neither age nor excise duty", async () => {
  const page = await openEstimate({ ...goodsQuery, excise: "35", registered: "1999-01" });
  expect(page.status).toBe(200);
  expect(Object.fromEntries(listAmounts(page))).toMatchObject({
    ...{ CIF: "3,000,000", "Import duty": "750,000", "Excise duty": "0", VAT: "600,000" },
    ...{ "Total taxes": "1,515,000", "Total with cargo": "4,515,000" },
  });
  expect(page.text).not.toContain("left-hand drive");
});

test("each kind of import gets its own documents", async () => {
  const papers = async (what: string) =>
    (await openEstimate({ ...goodsQuery, what, registered: carQuery.registered, excise: "20" })).text;
  const [byCar, byAir, bySea] = await Promise.all([papers("car"), papers("air"), papers("loose")]);
  expect(byCar).toContain("Certificate of roadworthiness");
  expect(byAir).toContain("Air waybill");
  expect(byAir).not.toContain("Bill of lading");
  expect(bySea).toContain("Bill of lading");
  expect(bySea).not.toContain("roadworthiness");
  for (const text of [byCar, byAir, bySea]) expect(text).toMatch(/Before you pay the seller.*Before it arrives/);
});

test("wrong and missing answers are told beside their fields, and what was typed stays", async () => {
  const typed = {
    ...carQuery,
    value: "eight thousand",
    freight: "-5",
    insurance: "",
    rate: "1e99",
    registered: "2020-13",
  };
  const page = await openEstimate(typed);
  expect(page.status).toBe(400);
  expect(page.headers.get("Cache-Control")).toMatch(noStorePattern);
  expect(page.title).toMatch(/^Error: What will it cost\?/);
  const wrong = page.all("main [aria-invalid=true]");
  const names = ["registered", "value", "freight", "insurance", "rate"];
  expect(wrong.map((field) => field.getAttribute("name"))).toEqual(names);
  expect(page.problems.map(({ id }) => id)).toEqual(wrong.map(({ id }) => id));
  for (const [index, name] of names.entries()) expect(page.saidOf(name)).toContain(page.problems[index]?.text);
  for (const name of ["value", "freight", "rate", "duty", "registered"] as const)
    expect(page.value(name)).toBe(typed[name]);
  expect(getSelected(page, "what")).toBe("car");
  expect(listAmounts(page).map(([, amount]) => amount)).toEqual(Array(8).fill("–"));
  expect(page.has("sum")).toBe(false);
});

test("the month of a car is read as people write it, and said as a month", async () => {
  const year = new Date().getFullYear() - 3;
  const written = [`${year}-5`, `05/${year}`, `5.${year}`, `${year}05`, `05${year}`, ` May ${year} `, `${year}, may`];
  for (const registered of written) {
    const page = await openEstimate({ ...carQuery, registered });
    expect(page.text, registered).toContain(`first registered May ${year}`);
    expect(page.value("registered"), registered).toBe(`${year}-05`);
  }
  for (const registered of [`13/${year}`, `${year}-00`, `Mayor ${year}`, `${year}`, "5", "05/21", `ma ${year}`]) {
    const page = await openEstimate({ ...carQuery, registered });
    expect(page.saidOf("registered").join(" "), registered).toContain("such as 2021-04");
    expect(page.value("registered"), registered).toBe(registered);
  }
});

test.each(["?what=", "?value=<script>alert(1)</script>", "?what=car&what=air", "?rate=%00", "?what=constructor"])(
  "the odd query %s is answered as a form that is not complete",
  async (query) => {
    const page = await visitor.open(`/resources/cost${query}`);
    expect(page.status).toBe(400);
    expect(page.problems.length).toBeGreaterThan(3);
    expect(page.html).not.toContain("<script>alert");
  },
);

test("a quote is asked for with the answers filled in, which an address alone cannot write", async () => {
  const page = await visitor.open(getHref(await openEstimate(carQuery), "Get a quote for this") ?? "");
  expect(page.status).toBe(200);
  expect(page.h1).toBe("Get a Quote");
  expect(page.all("option[selected]").map(getText)).toEqual(["Imports"]);
  const message = page.all("main textarea[name=message]")[0]?.text ?? "";
  for (const said of ["Price: USD 8,000", "Freight: USD 1,200", "Excise duty: 25%", "taxes KES 1,047,076"])
    expect(message).toContain(said);
  expect(page.value("name")).toBe("");

  const forged = await visitor.open("/quote?service=Pay&message=Send+money&what=car");
  expect(forged.status).toBe(200);
  expect(forged.all("option[selected]").map(getText)).not.toContain("Pay");
  expect(forged.all("main textarea[name=message]")[0]?.text).toBe("");
});

test("a message that was emptied stays empty when the request for a quote is refused, which leads back to the estimate", async () => {
  const page = await visitor.open(getHref(await openEstimate(carQuery), "Get a quote for this") ?? "");
  const { action, fields } = page.form("Prepare the mail");
  expect(action).toBe("/actions/quote");
  expect(fields.from).toMatch(/^\/resources\/cost\?.*what=car/);
  const answer = await visitor.post(action, { ...(fields as Record<string, string>), message: "" });
  expect(answer.status).toBe(400);
  const text = await answer.text();
  expect(text).not.toContain("Price: USD");
  expect(text).toContain("what=car");
});

test.each([
  "/",
  "/services",
  "/resources/faq",
  ...["importing-a-car-to-kenya", "hs-codes-explained", "port-clearance-mistakes", "lcl-vs-fcl"].map(
    (slug) => `/resources/blog/${slug}`,
  ),
  "/resources/blog/aeo-benefits-for-importers",
])("%s leads to it", async (path) => {
  expect(getHref(await visitor.open(path), "What will it cost?")).toBe("/resources/cost");
});
