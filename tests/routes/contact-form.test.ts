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
import { type FormValues, getTestApp, parsePage, startTestSite, type TestBrowser } from "../support/test-app.ts";

let visitor: TestBrowser;
const app = await getTestApp();
const site = await startTestSite();
beforeEach(() => {
  visitor = app.browser();
  app.proxy.calls.length = 0;
});
afterEach(() => {
  expect(app.proxy.calls, "the contact page calls no backend").toEqual([]);
});
afterAll(() => site.close());

const contact = {
  name: "Amina Wanjiru",
  email: "amina@client.example",
  subject: "Tea to Hamburg",
  message: "Two pallets.\r\n\r\nWhen can you collect?",
};
const inputs = ["name", "email", "subject"] as const;
const sendContact = async (typed: FormValues) =>
  parsePage(await visitor.submit(await visitor.open("/contact"), "Continue to email", typed));

describe("contact page", () => {
  test("The contact page has an empty form, both offices and the working hours", async () => {
    const page = await visitor.open("/contact");
    expect(page.status).toBe(200);
    expect(page.title).toMatch(/^Contact · /);
    expect([...inputs.map(page.value), getTextareaValue(page, "message")]).toEqual(["", "", "", ""]);
    expect(listRequiredFields(page)).toEqual([...inputs, "message"]);
    expect(page.toasts).toEqual([]);
    const offices = companyData.offices.flatMap(({ name, address, email }) => [name, address, email]);
    const hours = readContent<{ days: string; hours: string }[]>("hours").flatMap((line) => [line.days, line.hours]);
    for (const text of [...offices, ...hours]) expect(page.text).toContain(text);
  });

  test("The contact page starts with call, chat and email, then the offices with maps, the hours and the form", async () => {
    const page = await visitor.open("/contact");
    const call = toTelephoneUrl(headOffice.phone);
    expect(page.all("main a").map((link) => link.getAttribute("href"))).toEqual([
      ...[call, `https://wa.me/${companyData.chat_phone}`, `mailto:${headOffice.email}`],
      ...[call, `mailto:${headOffice.email}`, headOffice.map],
      ...[`mailto:${branchOffice.email}`, branchOffice.map],
    ]);
    const places = [/\sEAT/, /Call \+/, /Chat on WhatsApp/, /Email \S+@/, /Working hours/, /Write to us/].map((text) =>
      page.text.search(text),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  test("A link with a subject opens the contact page with the subject filled in, above the offices", async () => {
    const page = await visitor.open("/contact?about=Import+Services");
    expect(page.value("subject")).toBe("Import Services");
    expect(page.text).toMatch(/Chat on WhatsApp.*Write to us.*Working hours/s);
  });

  // A page with a query is rendered for each request. The page without a query comes from the page cache.
  test.each(["", "?about=Import+Services"])(
    "The page /contact%s shows whether the office is open, and expires at the next opening or closing time",
    async (search) => {
      vi.useFakeTimers({ toFake: ["Date"] });
      try {
        for (const [time, text, expires] of [
          ["06T16:59:59", "Open now, until 5:00 PM EAT", "Fri, 06 Nov 2026 14:00:00 GMT"],
          ["06T17:00:00", "Closed now, opens Saturday 9:00 AM EAT", "Fri, 06 Nov 2026 21:00:00 GMT"],
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

describe("contact form", () => {
  test.each([
    ["name", /^Enter your full name\.$/],
    ["email", /^Enter (?:your|an) email/],
    ["subject", /^Enter a subject\.$/],
    ["message", /^Write your message\.$/],
  ] as const)(
    "A contact form without %s gets an error at the field and preserves the other texts",
    async (missing, reason) => {
      for (const blank of ["", " \t\r\n "]) {
        const page = await sendContact({ ...contact, [missing]: blank });
        expectInvalidFields(page, [missing]);
        expect(page.problems[0]?.text).toMatch(reason);
        const complete = inputs.filter((name) => name !== missing);
        for (const name of complete) expect(page.value(name)).toBe(contact[name]);
        if (missing !== "message") expect(getTextareaValue(page, "message")).toBe(contact.message);
      }
    },
  );

  test("An empty contact form and a form without fields show errors at all four fields in order", async () => {
    for (const page of [await sendContact({}), await parsePage(await visitor.post("/contact", {}))])
      expectInvalidFields(page, [...inputs, "message"]);
  });

  test.each(["amina", "amina@", "@client.example", "amina @client.example", "amina@client", "a@b@c.example"])(
    "A contact form rejects the email address %j and preserves the typed text",
    async (email) => {
      const page = await sendContact({ ...contact, email });
      expectInvalidFields(page, ["email"]);
      expect(page.problems[0]?.text).toBe("Enter an email such as name@example.com.");
      expect(page.value("email")).toBe(email);
    },
  );

  const longEmail = `${"a".repeat(60)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(58)}.example.org`;
  test.each([
    ["name", "n".repeat(100)],
    ["email", longEmail.padStart(254, "x")],
    ["subject", "s".repeat(150)],
    ["message", "m".repeat(2000)],
  ] as const)(
    "A contact form accepts its %s at the maximum length and rejects one more character",
    async (name, longest) => {
      expect((await sendContact({ ...contact, [name]: longest })).status).toBe(200);
      const page = await sendContact({ ...contact, [name]: `x${longest}` });
      expectInvalidFields(page, [name]);
      expect(page.problems[0]?.text).toMatch(/at most [\d,]+ characters/);
      expect(name === "message" ? getTextareaValue(page, name) : page.value(name)).toBe(`x${longest.slice(0, -1)}`);
    },
  );

  test("A complete contact form gives an email draft and a toast, and the form is empty when opened again", async () => {
    const page = await sendContact(contact);
    const { subject, body } = expectEmailDraft(page);
    expect(subject).toBe(contact.subject);
    for (const answer of [contact.message, contact.name, contact.email]) expect(body).toContain(answer);
    expect(page.toasts).toEqual([{ title: "Opening Email Client...", description: "", variant: "default" }]);
    const again = await visitor.open("/contact");
    expect([again.toasts, ...inputs.map(again.value), getTextareaValue(again, "message")]).toEqual([
      [],
      "",
      "",
      "",
      "",
    ]);
  });

  test("A contact form shows its errors, or the draft, above the rest of the page", async () => {
    const invalid = await sendContact({ ...contact, subject: "" });
    expect(invalid.text).toMatch(/There is a problem.*Chat on WhatsApp/s);
    expect((await sendContact(contact)).text).toMatch(/Your email has not been sent yet.*Chat on WhatsApp/s);
  });

  test("Markup and address characters in a contact form stay text in the draft and in the page", async () => {
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
    expect([invalid.value("name"), getTextareaValue(invalid, "message")]).toEqual([typed.name, typed.message]);
    expect(invalid.html).not.toContain("<script>alert");
  });

  test("A subject of several lines becomes one line of the email draft, which cannot add a header", async () => {
    const { href, subject } = expectEmailDraft(
      await sendContact({ ...contact, subject: "Tea\r\nBcc: evil@evil.example" }),
    );
    expect(subject).toBe("Tea Bcc: evil@evil.example");
    expect(href.split("&body=")[0]).not.toMatch(/%0[0ad]/i);
  });

  test("A message of 1,918 characters in 101 lines is accepted, because a line break counts once", async () => {
    const message = Array(101).fill("x".repeat(18)).join("\r\n");
    expect([message.length, message.replaceAll("\r\n", "\n").length]).toEqual([2018, 1918]);
    expectEmailDraft(await sendContact({ ...contact, message }));
  });
});
