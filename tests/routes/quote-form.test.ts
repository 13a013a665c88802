import { afterEach, beforeEach, expect, test } from "vitest";
import { getHref } from "../support/page-parts.ts";
import {
  expectEmailDraft,
  expectInvalidFields,
  getSelected,
  getTextareaValue,
  listRequiredFields,
  readContent,
} from "../support/public-form.ts";
import {
  type FormValues,
  getTestApp,
  getText,
  type ParsedPage,
  parsePage,
  type TestBrowser,
} from "../support/test-app.ts";

let visitor: TestBrowser;
const app = await getTestApp();
beforeEach(() => {
  visitor = app.browser();
  app.proxy.calls.length = 0;
});
afterEach(() => {
  expect(app.proxy.calls, "backend calls of the quote form").toEqual([]);
});

const path = "/actions/quote";
const inputs = ["name", "email", "phone"] as const;
const quote = {
  name: "Baraka Mwangi",
  email: "baraka@client.example",
  phone: "+254 711 222 333",
  service: "Sea & Air Freight",
  message: "Coffee machines,\r\nMilan to Kigali",
};
const sendQuote = async (typed: FormValues, at = path) =>
  parsePage(await visitor.submit(await visitor.open(at), "Continue to email", typed));
const getReturnPath = (page: ParsedPage) => getHref(page, "Back to the previous page");
const getFrom = (page: ParsedPage) => page.all("input[name=from]").map((input) => input.getAttribute("value"));

test("The quote form has its own page with the nine services, and search engines do not index this page.", async () => {
  const page = await visitor.open(path);
  expect([page.status, page.h1]).toEqual([200, "Get a Quote"]);
  expect(page.title).toMatch(/^Get a Quote · /);
  expect(page.all("meta[name=robots]").map((meta) => meta.getAttribute("content"))).toEqual(["noindex"]);
  expect(inputs.map(page.value)).toEqual(["", "", ""]);
  const [prompt, ...options] = page.all("main select[name=service] option");
  expect(prompt?.getAttribute("value")).toBe("");
  expect(options.map(getText)).toEqual(readContent<string[]>("quote-services"));
  expect(listRequiredFields(page)).toEqual([...inputs, "service"]);
});

test.each([...inputs, "service"] as const)(
  "A quote form without %s shows an error, and still has the other typed values.",
  async (missing) => {
    const page = await sendQuote({ ...quote, [missing]: " " });
    expectInvalidFields(page, [missing]);
    for (const name of inputs.filter((each) => each !== missing)) expect(page.value(name)).toBe(quote[name]);
    if (missing !== "service") expect(getSelected(page, "service")).toBe(quote.service);
    expect(getTextareaValue(page, "message")).toBe(quote.message);
  },
);

test.each(["Storage Facilities", "Sea & Air Freight\r\nBcc: evil@evil.example"])(
  "A quote form rejects the service %j, because the list of services does not contain it.",
  async (service) => {
    const page = await sendQuote({ ...quote, service });
    expectInvalidFields(page, ["service"]);
    expect(page.problems[0]?.text).toBe("Choose one of the services.");
  },
);

test.each([
  ["name", 100],
  ["phone", 32],
  ["message", 2000],
] as const)(
  "The field %s of the quote form accepts %i characters and rejects one more character.",
  async (name, limit) => {
    expect((await sendQuote({ ...quote, [name]: "7".repeat(limit) })).status).toBe(200);
    expectInvalidFields(await sendQuote({ ...quote, [name]: "7".repeat(limit + 1) }), [name]);
  },
);

test("A complete quote form creates an email draft with every value and a toast, and is empty when it is opened again.", async () => {
  const page = await sendQuote(quote);
  const { subject, body } = expectEmailDraft(page);
  for (const answer of [quote.service, quote.name]) expect(subject).toContain(answer);
  for (const answer of Object.values(quote)) expect(body).toContain(answer);
  expect(page.toasts).toEqual([
    {
      title: "Opening Email Client...",
      description: "Please complete sending the quote request from your email app.",
      variant: "default",
    },
  ]);
  const again = await visitor.open(path);
  expect([again.toasts, again.value("name"), getSelected(again, "service")]).toEqual([[], "", "Choose a service"]);
});

test("A quote form with an empty message, or without the field for the message, is accepted.", async () => {
  expectEmailDraft(await sendQuote({ ...quote, message: "" }));
  const { message: _, ...rest } = quote;
  expect(expectEmailDraft(await parsePage(await visitor.post(path, rest))).body).not.toContain("undefined");
});

test("After sending the quote form that is open over a page, a visitor can return to the page, even after an error.", async () => {
  const invalid = await sendQuote({ ...quote, phone: "" }, "/cookie-settings?quote");
  expectInvalidFields(invalid, ["phone"]);
  expect(getFrom(invalid)).toEqual(["/cookie-settings"]);
  const page = await parsePage(await visitor.submit(invalid, "Continue to email", quote));
  expectEmailDraft(page);
  expect(getReturnPath(page)).toBe("/cookie-settings");
});

test.each([
  ["/contact", "/contact"],
  ["//evil.example", "/"],
  ["", "/"],
])("A quote form that was opened at %j has a link back to %s.", async (from, target) => {
  expect(getReturnPath(await parsePage(await visitor.post(path, { ...quote, from })))).toBe(target);
  expect(getFrom(await parsePage(await visitor.post(path, { from })))).toEqual([target]);
});
