import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  branchOffice,
  companyData,
  expectEmailDraft,
  expectInvalidFields,
  getTextareaValue,
  headOffice,
  listRequiredFields,
  readContent,
  toTelephoneUrl,
} from "../support/public-form.ts";
import {
  type FormValues,
  getTestApp,
  type ParsedPage,
  parsePage,
  startTestSite,
  type TestBrowser,
} from "../support/test-app.ts";

let visitor: TestBrowser;
const app = await getTestApp();
const site = await startTestSite();
beforeEach(() => {
  visitor = app.browser();
  app.proxy.calls.length = 0;
});
afterEach(() => {
  expect(app.proxy.calls, "backend calls of the contact page").toEqual([]);
});
afterAll(() => site.close());

const contact = {
  name: "Amina Wanjiru",
  email: "amina@client.example",
  subject: "Tea to Hamburg",
  message: "Two pallets.\r\n\r\nWhen can you collect?",
};
const inputs = ["name", "email", "subject"] as const;
const getMessage = (page: ParsedPage) => getTextareaValue(page, "message");
const sendContact = async (typed: FormValues) =>
  parsePage(await visitor.submit(await visitor.open("/contact"), "Continue to email", typed));

describe("Contact page", () => {
  test("The contact page shows links for phone, chat and email, then the offices with maps, the hours and an empty form.", async () => {
    const page = await visitor.open("/contact");
    expect(page.title).toMatch(/^Contact · /);
    expect([...inputs.map(page.value), getMessage(page)]).toEqual(["", "", "", ""]);
    expect(listRequiredFields(page)).toEqual([...inputs, "message"]);
    const offices = companyData.offices.flatMap(({ name, address, email }) => [name, address, email]);
    const hours = readContent<{ days: string; hours: string }[]>("hours").flatMap((line) => [line.days, line.hours]);
    for (const text of [...offices, ...hours]) expect(page.text).toContain(text);
    const call = toTelephoneUrl(headOffice.phone);
    expect(page.all("main a").map((link) => link.getAttribute("href"))).toEqual([
      ...[call, `https://wa.me/${companyData.chat_phone}`, `mailto:${headOffice.email}`],
      ...[call, `mailto:${headOffice.email}`, headOffice.map],
      ...[`mailto:${branchOffice.email}`, branchOffice.map],
    ]);
    expect(page.text).toMatch(/\sEAT.*Call \+.*Chat on WhatsApp.*Email \S+@.*Working hours.*Write to us/s);
  });

  test("A link with a subject opens the contact page with this subject in the form and with the form above the offices.", async () => {
    const page = await visitor.open("/contact?about=Import+Services");
    expect(page.value("subject")).toBe("Import Services");
    expect(page.text).toMatch(/Chat on WhatsApp.*Write to us.*Working hours/s);
  });

  // A page with a query is rendered again for each request. The page without a query comes from the page cache.
  test.each(["", "?about=Import+Services"])(
    "The page /contact%s shows whether the offices are open, and the page cache renders it again when this changes.",
    async (search) => {
      vi.useFakeTimers({ toFake: ["Date"] });
      try {
        for (const [time, text, expires] of [
          ["06T16:59:59", "Open now, until 5:00 PM EAT", "Fri, 06 Nov 2026 14:00:00 GMT"],
          ["07T00:00:00", "Closed now, opens today 9:00 AM EAT", "Sat, 07 Nov 2026 06:00:00 GMT"],
          ["07T09:00:00", "Next: 12 December 2026 (Jamhuri Day). Source, as of 26", "Sat, 07 Nov 2026 10:00:00 GMT"],
        ] as const) {
          vi.setSystemTime(new Date(`2026-11-${time}+03:00`));
          const page = await site.browser().open(`/contact${search}`);
          expect(page.text).toContain(text);
          expect([page.headers.get("Cache-Control"), page.headers.get("Expires")]).toEqual(["no-cache", expires]);
        }
      } finally {
        vi.useRealTimers();
      }
    },
  );
});

describe("Contact form", () => {
  test("A contact form with empty, blank or missing fields shows errors at all four fields in order.", async () => {
    const messages = [
      "Enter your full name.",
      expect.stringMatching(/^Enter (your|an) email/),
      "Enter a subject.",
      "Write your message.",
    ];
    const blank = Object.fromEntries([...inputs, "message"].map((name) => [name, " \t\r\n "]));
    const withoutFields = await parsePage(await visitor.post("/contact", {}));
    for (const page of [await sendContact({}), await sendContact(blank), withoutFields]) {
      expectInvalidFields(page, [...inputs, "message"]);
      expect(page.problems.map(({ text }) => text)).toEqual(messages);
    }
  });

  test("A contact form accepts each text with its maximum length, and rejects one more character.", async () => {
    const email = `${"a".repeat(61)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(58)}.example.org`;
    const longest = { name: "n".repeat(100), email, subject: "s".repeat(150), message: "m".repeat(2000) };
    expect((await sendContact(longest)).status).toBe(200);
    const tooLong = Object.fromEntries(Object.entries(longest).map(([name, text]) => [name, `x${text}`]));
    const page = await sendContact(tooLong);
    expectInvalidFields(page, [...inputs, "message"]);
    for (const { text } of page.problems) expect(text).toMatch(/at most [\d,]+ characters/);
    for (const name of inputs) expect(page.value(name)).toBe(tooLong[name]?.slice(0, -1));
    expect(getMessage(page)).toBe(tooLong.message?.slice(0, -1));
  });

  test("A complete contact form creates an email draft and a toast, and the form is empty when it is opened again.", async () => {
    const page = await sendContact(contact);
    const { subject, body } = expectEmailDraft(page);
    expect(page.text).toMatch(/Your email has not been sent yet.*Chat on WhatsApp/s);
    expect(subject).toBe(contact.subject);
    for (const answer of [contact.message, contact.name, contact.email]) expect(body).toContain(answer);
    expect(page.toasts).toEqual([{ title: "Opening Email Client...", description: "", variant: "default" }]);
    const again = await visitor.open("/contact");
    expect(again.toasts).toEqual([]);
    expect([...inputs.map(again.value), getMessage(again)]).toEqual(["", "", "", ""]);
  });

  test("HTML and URL characters in a contact form are plain text in the email draft and on the page.", async () => {
    const typed = {
      name: `شركة <b>"O'Neill" & Sons</b> 🚢`,
      email: "amina+tea@client.example",
      subject: "100% ?&bcc=evil@evil.example",
      message: "</textarea><script>alert(1)</script>\r\n#1 +2 نيروبي",
    };
    const page = await sendContact(typed);
    const { subject, body } = expectEmailDraft(page);
    expect(subject).toBe(typed.subject);
    for (const answer of [typed.message, typed.name, typed.email]) expect(body).toContain(answer);
    expect(page.html).not.toContain("<script>alert");
    const invalid = await sendContact({ ...typed, email: "<script>alert(2)</script>" });
    expectInvalidFields(invalid, ["email"]);
    expect(invalid.problems[0]?.text).toBe("Enter an email address such as name@example.com.");
    expect(invalid.text).toMatch(/There is a problem.*Chat on WhatsApp/s);
    expect(inputs.map(invalid.value)).toEqual([typed.name, "<script>alert(2)</script>", typed.subject]);
    expect(getMessage(invalid)).toBe(typed.message);
    expect(invalid.html).not.toContain("<script>alert");
  });
});
