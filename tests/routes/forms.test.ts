import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { crc32 } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import {
  createPdf,
  type FormValues,
  getTestApp,
  getText,
  noStorePattern,
  origin,
  type ParsedPage,
  parsePage,
  startTestSite,
  type TestBrowser,
} from "../support/test-app.ts";

type CompanyData = { offices: { email: string; phone: string }[]; chat_phone: string };

const readContent = <T>(name: string) => parse(readFileSync(`content/data/${name}.yaml`, "utf8")) as T;
const companyData = readContent<CompanyData>("company");
const nairobi = companyData.offices[0] ?? { email: "", phone: "" };

let app: Awaited<ReturnType<typeof getTestApp>>;
let site: Awaited<ReturnType<typeof startTestSite>>;
let visitor: TestBrowser;
beforeAll(async () => {
  app = await getTestApp();
  site = await startTestSite();
});
beforeEach(() => {
  visitor = app.browser();
  // Of the file that this worker ran before.
  app.proxy.calls.length = 0;
});
afterEach(() => {
  // None of these forms may call the backend.
  expect(app.proxy.calls.splice(0)).toEqual([]);
});
afterAll(async () => {
  await site.close();
});

/** Opens a page, fills in the form with this button, presses it, and reads the answer. */
async function submitForm(at: string, button: string, typed: FormValues): Promise<ParsedPage> {
  return parsePage(await visitor.submit(await visitor.open(at), button, typed));
}

/** The text in a textarea. */
const getTextareaValue = (page: ParsedPage, name: string) => page.all(`main textarea[name=${name}]`)[0]?.text;
/** The option that is chosen. */
const getSelected = (page: ParsedPage, name: string) =>
  page.all(`main select[name=${name}] option`).find((option) => option.hasAttribute("selected"))?.text;

/** A mailto link as a mail application takes it apart. */
function readEmailDraft(page: ParsedPage) {
  const link = page.all("main a").find((each) => getText(each) === "Open in your mail application");
  const [, to = "", query = ""] = /^mailto:([^?]*)\?(.*)$/.exec(link?.getAttribute("href") ?? "") ?? [];
  const headers = query.split("&").map((header) => header.split("=").map(decodeURIComponent));
  return { to: decodeURIComponent(to), names: headers.map(([name]) => name), ...Object.fromEntries(headers) } as {
    to: string;
    names: string[];
    subject: string;
    body: string;
  };
}

/** Expects a page that says in title, summary and beside the field what is wrong, with links that lead there. */
function expectRejected(page: ParsedPage, fields: string[], status = 400) {
  expect(page.status).toBe(status);
  expect(page.headers.get("Cache-Control")).toMatch(noStorePattern);
  expect(page.title).toMatch(/^Error: /);
  const named = page.all("main [aria-invalid=true]");
  expect(named.map((field) => field.getAttribute("name"))).toEqual(fields);
  expect(page.problems.map(({ id }) => id)).toEqual(named.map(({ id }) => id));
  for (const [index, name] of fields.entries()) {
    expect(page.problems[index]?.text, name).not.toBe("");
    expect(page.saidOf(name), name).toContain(page.problems[index]?.text);
  }
  const order = page.all("h1, [aria-labelledby=error-summary]").map(({ tagName }) => tagName);
  expect(order, "the summary stands above the h1").toEqual(["SECTION", "H1"]);
}

/** Expects a page with a mail that is ready: link, text to copy, phone and chat. */
function expectEmailDraft(page: ParsedPage) {
  expect(page.status).toBe(200);
  expect(page.headers.get("Cache-Control")).toMatch(noStorePattern);
  expect(page.headers.getSetCookie()).toEqual([]);
  expect(page.title).not.toContain("Error");
  const mail = readEmailDraft(page);
  expect(mail.to).toBe(nairobi.email);
  expect(mail.names).toEqual(["subject", "body"]);
  expect(mail.body.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  const text = page.all("main textarea[readonly]")[0];
  expect(getText(page.all(`label[for=${text?.id}]`)[0])).toContain("Copy the text");
  for (const part of [mail.to, mail.subject, mail.body.replaceAll("\r\n", "\n")]) expect(text?.text).toContain(part);
  const links = page.all("main section a").map((link) => link.getAttribute("href"));
  expect(links).toContain(`tel:${nairobi.phone.replaceAll(" ", "")}`);
  expect(links).toContain(`https://wa.me/${companyData.chat_phone}`);
  const elsewhere = page
    .all("[href], [action]")
    .map((each) => each.getAttribute("href") ?? each.getAttribute("action"));
  expect(elsewhere.filter((url) => /client\.example/.test(url ?? "") && !url?.startsWith("mailto:"))).toEqual([]);
}

const invalidEmails = ["amina", "amina@", "@client.example", "amina @client.example", "amina@client", "a@b@c.example"];

describe("the contact form", () => {
  const contact = {
    name: "Amina Wanjiru",
    email: "amina@client.example",
    subject: "Tea to Hamburg",
    message: "Two pallets.\r\n\r\nWhen can you collect?",
  };
  const sendContact = (typed: FormValues) => submitForm("/contact", "Prepare the mail", typed);

  test("stands empty on its page, beside both offices and the working hours", async () => {
    const page = await visitor.open("/contact");
    expect(page.status).toBe(200);
    expect(page.title).toMatch(/^Contact · /);
    for (const name of ["name", "email", "subject"]) expect(page.value(name), name).toBe("");
    expect(getTextareaValue(page, "message")).toBe("");
    expect(page.toasts).toEqual([]);
    const { offices } = readContent<{ offices: { name: string; address: string; email: string }[] }>("company");
    for (const office of offices) {
      for (const words of [office.name, office.address, office.email]) expect(page.text).toContain(words);
    }
    for (const line of readContent<{ days: string; hours: string }[]>("hours")) {
      expect(page.text).toContain(line.days);
      expect(page.text).toContain(line.hours);
    }
  });

  test("comes after the ways to reach somebody at once: call, chat, mail; then the offices with their maps, and the hours", async () => {
    const page = await visitor.open("/contact");
    const links = page.all("main a").map((link) => link.getAttribute("href"));
    const { offices } = readContent<{ offices: { map: string; email: string }[] }>("company");
    const call = `tel:${nairobi.phone.replaceAll(" ", "")}`;
    const [head, branch] = offices.map(({ map, email }) => [`mailto:${email}`, map]);
    expect(links).toEqual([
      ...[call, `https://wa.me/${companyData.chat_phone}`, `mailto:${nairobi.email}`],
      ...[call, ...(head ?? []), ...(branch ?? [])],
    ]);
    const order = [
      `Call ${nairobi.phone}`,
      "Chat on WhatsApp",
      `Mail ${nairobi.email}`,
      "Working hours",
      "Write to us",
    ];
    const places = [page.text.search(/\sEAT/), ...order.map((said) => page.text.indexOf(said))];
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((one, other) => one - other));
  });

  test("comes before the offices for who brings a subject", async () => {
    const page = await visitor.open("/contact?about=Import+Services");
    expect(page.value("subject")).toBe("Import Services");
    expect(page.text).toMatch(/Chat on WhatsApp.*Write to us.*Working hours/s);
  });

  test("is refused, or ready, with the result before everything else", async () => {
    const refused = await sendContact({ ...contact, subject: "" });
    expect(refused.text).toMatch(/There is a problem.*Chat on WhatsApp/s);
    const ready = await sendContact(contact);
    expect(ready.text).toMatch(/Your mail is ready to send.*Chat on WhatsApp/s);
  });

  test.each([
    ["", "kept for everybody"],
    ["?about=Import+Services", "of one person"],
  ])("says whether somebody is there, and never what is over: /contact%s, %s", async (search) => {
    const told = async (time: string) => {
      vi.setSystemTime(new Date(`2026-11-${time}+03:00`));
      const page = await site.browser().open(`/contact${search}`);
      expect(page.headers.get("Cache-Control")).toBe("no-cache");
      return [/(Open|Closed) now, \w+ [^.]*? EAT/.exec(page.text)?.[0], page.headers.get("Expires")];
    };
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const open = ["Open now, until 5:00 PM EAT", "Fri, 06 Nov 2026 14:00:00 GMT"];
      const closed = ["Closed now, opens Saturday 9:00 AM EAT", "Fri, 06 Nov 2026 21:00:00 GMT"];
      const today = ["Closed now, opens today 9:00 AM EAT", "Sat, 07 Nov 2026 06:00:00 GMT"];
      expect(await told("06T16:30:00")).toEqual(open);
      expect(await told("06T16:59:59")).toEqual(open);
      expect(await told("06T17:00:00")).toEqual(closed);
      expect(await told("07T00:00:00")).toEqual(today);
      expect(await told("07T08:59:59")).toEqual(today);
      expect((await told("07T09:00:00"))[0]).toBe("Open now, until 1:00 PM EAT");
      expect((await told("07T13:00:00"))[0]).toBe("Closed now, opens Monday 8:00 AM EAT");
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ["name", "Enter your full name."],
    ["email", "Enter an e-mail address in the form name@example.com."],
    ["subject", "Enter a subject."],
    ["message", "Write your message."],
  ] as const)("without %s is refused, says so, and keeps the other answers", async (missing, problem) => {
    for (const nothing of ["", " \t\r\n "]) {
      const page = await sendContact({ ...contact, [missing]: nothing });
      expectRejected(page, [missing]);
      expect(page.problems[0]?.text).toMatch(missing === "email" ? /e-mail address/ : problem);
      const kept = { ...contact, [missing]: page.value(missing) };
      for (const name of ["name", "email", "subject"] as const) expect(page.value(name)).toBe(kept[name]);
      if (missing !== "message") expect(getTextareaValue(page, "message")).toBe(contact.message);
    }
  });

  test("without anything names all four fields in their order", async () => {
    expectRejected(await sendContact({}), ["name", "email", "subject", "message"]);
    expectRejected(await parsePage(await visitor.post("/contact", {})), ["name", "email", "subject", "message"]);
  });

  test.each(invalidEmails)("is refused with the e-mail address %j and keeps it", async (email) => {
    const page = await sendContact({ ...contact, email });
    expectRejected(page, ["email"]);
    expect(page.problems[0]?.text).toBe("Enter an e-mail address in the form name@example.com.");
    expect(page.value("email")).toBe(email);
  });

  const long = `${"a".repeat(60)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(58)}.example.org`;
  test.each([
    ["name", "n".repeat(100)],
    ["email", long.padStart(254, "x")],
    ["subject", "s".repeat(150)],
    ["message", "m".repeat(2000)],
  ] as const)("takes %s up to its limit and no letter more", async (name, longest) => {
    expect((await sendContact({ ...contact, [name]: longest })).status).toBe(200);
    const page = await sendContact({ ...contact, [name]: `x${longest}` });
    expectRejected(page, [name]);
    expect(page.problems[0]?.text).toMatch(/at most [\d,]+ characters/);
    expect(name === "message" ? getTextareaValue(page, name) : page.value(name)).toBe(`x${longest}`);
  });

  test("gives a mail that is ready, with its toast, and is empty when it is opened again", async () => {
    const page = await sendContact(contact);
    expectEmailDraft(page);
    expect(page.toasts).toEqual([{ title: "Opening Email Client...", description: "", variant: "default" }]);
    const { subject, body } = readEmailDraft(page);
    expect(subject).toBe(contact.subject);
    for (const answer of [contact.message, contact.name, contact.email]) expect(body).toContain(answer);

    const again = await visitor.open("/contact");
    expect(again.toasts).toEqual([]);
    for (const name of ["name", "email", "subject"]) expect(again.value(name), name).toBe("");
    expect(getTextareaValue(again, "message")).toBe("");
  });

  test("brings answers of any script over unharmed, and none of them becomes markup or a header", async () => {
    const typed = {
      name: `شركة <b>"O'Neill" & Sons</b> 🚢`,
      email: "amina+tea@client.example",
      subject: "100% ?&bcc=evil@evil.example",
      message: "</textarea><script>alert(1)</script>\r\n#1 +2 نيروبي",
    };
    const page = await sendContact(typed);
    expectEmailDraft(page);
    const { subject, body } = readEmailDraft(page);
    expect(subject).toBe("100% ?&bcc=evil@evil.example");
    for (const answer of [typed.message, typed.name, typed.email]) expect(body).toContain(answer);
    expect(page.html).not.toContain("<script>alert");

    const refused = await sendContact({ ...typed, email: "<script>alert(2)</script>" });
    expectRejected(refused, ["email"]);
    expect(refused.value("name")).toBe(typed.name);
    expect(getTextareaValue(refused, "message")).toBe(typed.message);
    expect(refused.html).not.toContain("<script>alert");
  });

  test("refuses a subject of several lines beside its field and keeps it", async () => {
    const subject = "Tea\r\nBcc: evil@evil.example";
    const typed = { name: "Amina", email: "amina@client.example", subject, message: "Hello" };
    const refused = await sendContact(typed);
    expectRejected(refused, ["subject"]);
    expect(refused.value("message") || getTextareaValue(refused, "message")).toBe("Hello");
    expect(refused.html).not.toContain("mailto:evil");
  });

  test("marks the fields that have to be filled in", async () => {
    const page = await visitor.open("/contact");
    const asked = page.all("main [aria-required=true]").map((field) => field.getAttribute("name"));
    expect(asked).toEqual(["name", "email", "subject", "message"]);
  });
});

describe("the quote form", () => {
  const services = readContent<string[]>("quote-services");
  const quote = {
    name: "Baraka Mwangi",
    email: "baraka@client.example",
    phone: "+254 711 222 333",
    service: "Sea & Air Freight",
    message: "Coffee machines,\r\nMilan to Kigali",
  };
  const sendQuote = (typed: FormValues, at = "/actions/quote") => submitForm(at, "Prepare the mail", typed);

  test("stands on a page of its own that search engines leave out, with the nine services to choose from", async () => {
    const page = await visitor.open("/actions/quote");
    expect(page.status).toBe(200);
    expect(page.title).toMatch(/^Get a Quote · /);
    expect(page.h1).toBe("Get a Quote");
    expect(page.all("meta[name=robots]").map((meta) => meta.getAttribute("content"))).toEqual(["noindex"]);
    for (const name of ["name", "email", "phone"]) expect(page.value(name), name).toBe("");
    const [prompt, ...options] = page.all("main select[name=service] option");
    expect(prompt?.getAttribute("value")).toBe("");
    expect(options.map(getText)).toEqual(services);
    const asked = page.all("main [aria-required=true]").map((field) => field.getAttribute("name"));
    expect(asked).toEqual(["name", "email", "phone", "service"]);
  });

  test.each(["name", "email", "phone", "service"] as const)(
    "without %s is refused and keeps the other answers",
    async (missing) => {
      const page = await sendQuote({ ...quote, [missing]: " " });
      expectRejected(page, [missing]);
      const kept = { ...quote, [missing]: page.value(missing) };
      for (const name of ["name", "email", "phone"] as const) expect(page.value(name)).toBe(kept[name]);
      if (missing !== "service") expect(getSelected(page, "service")).toBe(quote.service);
      expect(getTextareaValue(page, "message")).toBe(quote.message);
    },
  );

  test("without anything names the four fields it needs", async () => {
    expectRejected(await sendQuote({}), ["name", "email", "phone", "service"]);
    expectRejected(await parsePage(await visitor.post("/actions/quote", {})), ["name", "email", "phone", "service"]);
  });

  test.each(invalidEmails)("is refused with the e-mail address %j", async (email) => {
    expectRejected(await sendQuote({ ...quote, email }), ["email"]);
  });

  test.each(["Storage Facilities", "sea & air freight", "Sea & Air Freight\r\nBcc: evil@evil.example", "<b>", "0"])(
    "is refused with the service %j, which is none of the nine",
    async (service) => {
      const page = await sendQuote({ ...quote, service });
      expectRejected(page, ["service"]);
      expect(page.problems[0]?.text).toBe("Choose one of the services.");
      expect(page.value("name")).toBe(quote.name);
    },
  );

  test.each([
    ["name", 100],
    ["phone", 32],
    ["message", 2000],
  ] as const)("takes %s up to %i characters and no more", async (name, limit) => {
    expect((await sendQuote({ ...quote, [name]: "7".repeat(limit) })).status).toBe(200);
    expectRejected(await sendQuote({ ...quote, [name]: "7".repeat(limit + 1) }), [name]);
  });

  test.each(services)("for %s gives a mail that names the service and the requester", async (service) => {
    const page = await sendQuote({ ...quote, service });
    expectEmailDraft(page);
    const { subject, body } = readEmailDraft(page);
    expect(subject).toContain(service);
    expect(subject).toContain(quote.name);
    for (const answer of [service, quote.name, quote.email, quote.phone, quote.message]) expect(body).toContain(answer);
  });

  test("says that the mail application opens, and is empty when it is opened again", async () => {
    expect((await sendQuote(quote)).toasts).toEqual([
      {
        title: "Opening Email Client...",
        description: "Please complete sending the quote request from your email app.",
        variant: "default",
      },
    ]);
    const again = await visitor.open("/actions/quote");
    expect(again.toasts).toEqual([]);
    expect(again.value("name")).toBe("");
    expect(getSelected(again, "service") ?? "").not.toBe(quote.service);
  });

  test("needs no message", async () => {
    expectEmailDraft(await sendQuote({ ...quote, message: "" }));
    const { message: _, ...rest } = quote;
    const page = await parsePage(await visitor.post("/actions/quote", rest));
    expectEmailDraft(page);
    expect(readEmailDraft(page).body).not.toContain("undefined");
  });

  test("can be sent from the panel over any page, and leads back to that page, after a refusal too", async () => {
    const refused = await sendQuote({ ...quote, phone: "" }, "/contact?quote".replace("contact", "cookie-settings"));
    expectRejected(refused, ["phone"]);
    const page = await parsePage(
      await visitor.submit(refused, "Prepare the mail", { ...quote, from: "/cookie-settings" }),
    );
    expectEmailDraft(page);
    expect(backOf(page)).toBe("/cookie-settings");
    expect(refused.all("input[name=from]").map((input) => input.getAttribute("value"))).toEqual(["/cookie-settings"]);
  });

  test.each(["/", "/services", "/resources/blog/importing-a-car-to-kenya"])(
    "leads back to %s when it was opened there",
    async (from) => {
      expect(backOf(await parsePage(await visitor.post("/actions/quote", { ...quote, from })))).toBe(from);
    },
  );

  test.each([
    "//evil.example",
    "///evil.example",
    "https://evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/%2F/evil.example/../..//",
    "/.//evil.example",
    " /services",
    "evil",
    "",
  ])("leads to the home page when it says it came from %j", async (from) => {
    const ready = await parsePage(await visitor.post("/actions/quote", { ...quote, from }));
    expectEmailDraft(ready);
    expect(backOf(ready)).toBe("/");
    const refused = await parsePage(await visitor.post("/actions/quote", { from }));
    expectRejected(refused, ["name", "email", "phone", "service"]);
    expect(refused.all("input[name=from]").map((input) => input.getAttribute("value"))).toEqual(["/"]);
  });

  /** Where the way back leads. */
  const backOf = (page: ParsedPage) =>
    page
      .all("main a")
      .find((link) => getText(link) === "Back to where you were")
      ?.getAttribute("href");
});

test("beside the careers form stands what working here is like, marked once as a sample", async () => {
  const page = await visitor.open("/careers");
  const { working_here, note } = readContent<{ working_here: { title: string; text: string }[]; note: string }>(
    "careers",
  );
  expect(page.all("main aside li h3").map(getText)).toEqual(working_here.map(({ title }) => title));
  for (const { text } of working_here) expect(page.text).toContain(text.trim());
  expect(page.text.split(note)).toHaveLength(2);
});

describe("the careers form", () => {
  const marker = "a-sentence-that-only-this-application-has";
  const person = { name: "Neema Uwase", email: "neema@client.example", letter: `I read papers closely: ${marker}.` };
  const cv = (name: string, ...parts: (string | Uint8Array<ArrayBuffer>)[]) => new File(parts, name);
  const apply = (typed: FormValues) => submitForm("/careers", "Submit Application", typed);
  const png = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, ...Array(40).fill(1)]);
  const ole = new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ...Array(2048).fill(0)]);

  /** A file's bytes; none of one that another test took away meanwhile. */
  function bytesOf(file: string): Buffer {
    try {
      return readFileSync(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
      throw error;
    }
  }

  /** The files in the data directory that contain this text; the database is on a server, outside it. */
  function filesWith(text: string): string[] {
    const folder = process.env.DATA_DIR ?? "";
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => bytesOf(file).includes(text));
  }

  test("stands on its page, says what it takes and that it is a preview", async () => {
    const page = await visitor.open("/careers");
    expect(page.title).toMatch(/^Careers · /);
    const field = page.all("main input[name=cv]")[0];
    expect(field?.getAttribute("accept")).toBe(".pdf,.doc,.docx");
    expect(page.saidOf("cv").join()).toMatch(/\.pdf, \.doc or \.docx/);
    expect(page.text).toContain("sends and stores nothing. Mail your application to nairobi@mizigo.example.");
    expect(page.all("main a[href='mailto:nairobi@mizigo.example']")).toHaveLength(1);
  });

  // ARIA knows no "required" for file fields; the CV's error says it.
  test("marks the text fields that have to be filled in", async () => {
    const page = await visitor.open("/careers");
    const asked = page.all("main [aria-required=true]").map((field) => field.getAttribute("name"));
    expect(asked).toEqual(["name", "email"]);
  });

  test("without anything names the three fields it needs", async () => {
    expectRejected(await apply({}), ["name", "email", "cv"]);
    expectRejected(await parsePage(await visitor.post("/careers", {})), ["name", "email", "cv"]);
  });

  test.each(["name", "email"] as const)("without %s is refused and keeps the other answers", async (missing) => {
    const page = await apply({ ...person, [missing]: "", cv: createPdf() });
    expectRejected(page, [missing]);
    for (const name of ["name", "email"] as const) {
      expect(page.value(name)).toBe(name === missing ? "" : person[name]);
    }
    expect(getTextareaValue(page, "letter")).toBe(person.letter);
  });

  test.each(invalidEmails)("is refused with the e-mail address %j", async (email) => {
    expectRejected(await apply({ ...person, email, cv: createPdf() }), ["email"]);
  });

  const kinds = "Choose a CV that is a .pdf, .doc or .docx file.";
  const other = (ending: string) =>
    `The content of this file is not what its ending ${ending} says. Choose another one.`;
  test.each<{ what: string; file: File | string; problem: string }>([
    { what: "a program", file: cv("cv.exe", "MZ", "x".repeat(99)), problem: kinds },
    { what: "a program that says it is a PDF first", file: cv("cv.pdf.exe", "%PDF-1.4"), problem: kinds },
    { what: "a PDF without an ending", file: cv("cv", "%PDF-1.4"), problem: kinds },
    { what: "a photo, which is no CV", file: cv("cv.png", png), problem: kinds },
    { what: "a text, which is no CV", file: cv("cv.txt", "I am a clerk"), problem: kinds },
    { what: "a picture that says it is a PDF", file: cv("cv.pdf", png), problem: other(".pdf") },
    { what: "a page that says it is a PDF", file: cv("cv.pdf", "<script>alert(1)</script>"), problem: other(".pdf") },
    { what: "a PDF that says it is a .docx", file: cv("cv.docx", "%PDF-1.4\n"), problem: other(".docx") },
    { what: "a PDF that says it is a .doc", file: cv("cv.doc", "%PDF-1.4\n"), problem: other(".doc") },
    { what: "0 bytes", file: cv("cv.pdf"), problem: "This file is empty. Choose another one." },
    { what: "a text in place of the file", file: "cv.pdf", problem: "Choose your CV." },
  ])("is refused with $what, says why beside the file, and keeps the answers", async ({ file, problem }) => {
    const page = await apply({ ...person, cv: file });
    expectRejected(page, ["cv"]);
    expect(page.problems.map(({ text }) => text)).toEqual([problem]);
    expect([page.value("name"), page.value("email")]).toEqual([person.name, person.email]);
    expect(getTextareaValue(page, "letter")).toBe(person.letter);

    const again = await visitor.submit(page, "Submit Application", { ...person, cv: createPdf() });
    expect(again.status).toBe(303);
  });

  test("is refused without a file, as a browser sends a field in which none was chosen", async () => {
    const text = Object.entries(person).map(([name, value]) => `name="${name}"\r\n\r\n${value}`);
    const none = 'name="cv"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n';
    const parts = [...text, none].map((part) => `--part\r\nContent-Disposition: form-data; ${part}\r\n`);
    const headers = { "Content-Type": "multipart/form-data; boundary=part", Origin: origin };
    const body = `${parts.join("")}--part--\r\n`;
    const request = new Request(new URL("/careers", origin), { method: "POST", headers, body });
    const page = await parsePage(await visitor.send(request));
    expectRejected(page, ["cv"]);
    expect(page.problems.map(({ text }) => text)).toEqual(["Choose your CV."]);
    expect([page.value("name"), page.value("email")]).toEqual([person.name, person.email]);
  });

  test.each([
    ["one byte over 10 MiB", 10 * 1024 * 1024 + 1],
    ["of 11 MiB", 11 * 1024 * 1024],
  ])("answers a CV %s with 413 and says so beside the file", async (_what, size) => {
    const page = await apply({ ...person, cv: createPdf("cv.pdf", size) });
    expectRejected(page, ["cv"], 413);
    expect(page.problems.map(({ text }) => text)).toEqual([expect.stringContaining("over 10 MB")]);
  });

  test("keeps the answers beside a CV that is too large", async () => {
    const page = await apply({ ...person, cv: createPdf("cv.pdf", 11 * 1024 * 1024) });
    expect([page.value("name"), page.value("email")]).toEqual([person.name, person.email]);
  });

  test("takes a cover letter of 2,000 characters and no more", async () => {
    const longest = { ...person, letter: "l".repeat(2000), cv: createPdf() };
    expect((await visitor.submit(await visitor.open("/careers"), "Submit Application", longest)).status).toBe(303);
    expectRejected(await apply({ ...longest, letter: "l".repeat(2001) }), ["letter"]);
  });

  test("takes one file and no second", async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries(person)) form.append(name, value);
    form.append("cv", createPdf("first.pdf"));
    form.append("cv", createPdf("second.pdf"));
    expect((await visitor.post("/careers", form)).status).toBe(400);
  });

  test.each<[string, File]>([
    ["a PDF", createPdf("cv.pdf")],
    ["a PDF of exactly 10 MiB", createPdf("cv.pdf", 10 * 1024 * 1024)],
    ["a PDF with an ending in capitals", createPdf("Neema's CV, final (2).PDF")],
    ["a .docx, which is a zip", cv("السيرة الذاتية.docx", createDocx())],
    ["a .doc with an OLE header", cv("cv.doc", ole)],
  ])("thanks for %s, once, and is empty again", async (_what, file) => {
    const form = await visitor.open("/careers");
    const response = await visitor.submit(form, "Submit Application", { ...person, cv: file });
    expect(response.status).toBe(303);
    expect(response.headers.get("Location")).toBe("/careers");
    const page = await visitor.follow(response);
    expect(page.status).toBe(200);
    expect(page.toasts).toEqual([
      {
        title: expect.stringMatching(/thank you/i),
        description: expect.stringMatching(/not sent .* Mail it to nairobi@mizigo\.example\.$/),
        variant: "default",
      },
    ]);
    for (const name of ["name", "email"]) expect(page.value(name), name).toBe("");
    expect(getTextareaValue(page, "letter")).toBe("");
    expect((await visitor.open("/careers")).toasts).toEqual([]);
  });

  test("needs no cover letter", async () => {
    const form = await visitor.open("/careers");
    const { name, email } = person;
    expect((await visitor.submit(form, "Submit Application", { name, email, cv: createPdf() })).status).toBe(303);
  });

  test("stores nothing: no call to the backend, and not a word of it anywhere", async () => {
    const client = app.browser();
    await client.signUpAndLogIn("Somebody");
    const shipment = await client.open(await client.createShipment("Tea"));
    const kept = cv("list.pdf", "%PDF-1.4\n", "A document that is kept");
    expect((await client.submit(shipment, "Upload the Packing List", { file: kept })).status).toBe(303);
    app.proxy.calls.splice(0);
    expect(filesWith("A document that is kept"), "what is kept can be found").not.toEqual([]);

    const file = cv("cv.pdf", "%PDF-1.4\n", marker);
    for (const browser of [visitor, client]) {
      const form = await browser.open("/careers");
      expect((await browser.submit(form, "Submit Application", { ...person, cv: file })).status).toBe(303);
      expect((await browser.submit(form, "Submit Application", { ...person, email: "x", cv: file })).status).toBe(400);
    }
    expect(app.proxy.calls).toEqual([]);
    for (const text of [marker, person.email]) expect(filesWith(text)).toEqual([]);
  });
});

/** A text document as word processors write it, uncompressed. */
function createDocx(): Uint8Array<ArrayBuffer> {
  const main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
  const relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
  return createZip({
    "[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="${main}"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${relation}" Target="word/document.xml"/></Relationships>`,
    "word/document.xml": `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>CV</w:t></w:r></w:p></w:body></w:document>`,
  });
}

/** A zip archive of texts: local headers with the contents, the central directory, and its end. */
function createZip(files: Record<string, string>): Uint8Array<ArrayBuffer> {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(content.length, 14);
    shared.writeUInt32LE(content.length, 18);
    shared.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), shared, Buffer.from(name), content]);
    entries.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), shared, place, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return new Uint8Array(Buffer.concat([...locals, directory, Buffer.from("PK\x05\x06"), end]));
}

describe("the cookie settings", () => {
  type Settings = { performance: boolean; functional: boolean; marketing: boolean };
  const optional = ["performance", "functional", "marketing"] as const;

  /** The state of the four boxes. */
  const boxes = (page: ParsedPage) =>
    Object.fromEntries(
      page.all("main input[type=checkbox]").map((box) => [box.getAttribute("name"), box.hasAttribute("checked")]),
    );
  /** Presses a button of the form as a browser does: only boxes that are ticked are sent. */
  function save(settings: Partial<Settings>, button?: Record<string, string>) {
    const ticked = optional.filter((name) => settings[name]).map((name) => [name, "on"]);
    return visitor.post("/cookie-settings", { ...Object.fromEntries(ticked), ...button });
  }
  const defaults = { necessary: true, performance: true, functional: true, marketing: false };
  const cookieOf = (response: Response) =>
    response.headers.getSetCookie().find((line) => line.startsWith("cookieSettings=")) ?? "";

  test("are performance and functional on, marketing off, as long as nothing is stored", async () => {
    const response = await visitor.get("/cookie-settings");
    expect(response.headers.getSetCookie()).toEqual([]);
    const page = await parsePage(response);
    expect(page.title).toMatch(/^Cookie Settings · /);
    expect(boxes(page)).toEqual(defaults);
  });

  test("name beside them what the site keeps in a browser", async () => {
    const page = await visitor.open("/cookie-settings");
    const named = page.all("section li .font-mono").map(getText);
    const browser = app.browser();
    await browser.post("/actions/theme", { theme: "light" });
    await browser.post("/actions/lite", { lite: "on" });
    await browser.post("/cookie-settings", {});
    expect([...browser.cookies.keys()].sort()).toEqual(["cookieSettings", "flash", "lite", "theme"]);
    expect(named).toEqual(expect.arrayContaining([...browser.cookies.keys(), "session", "known"]));
  });

  test("have a label for each box, and the necessary ones cannot be switched off", async () => {
    const page = await visitor.open("/cookie-settings");
    for (const box of page.all("main input[type=checkbox]")) {
      expect(getText(page.all(`label[for=${box.id}]`)[0]), box.id).not.toBe("");
      expect(page.saidOf(box.getAttribute("name") ?? "")[0], box.id).not.toBe("");
      expect(box.hasAttribute("disabled"), box.id).toBe(box.id === "necessary");
    }
    const saved = await visitor.follow(await save({}));
    expect(boxes(saved).necessary).toBe(true);
  });

  test("send what is ticked with 'Save My Preferences', and everything with 'Accept All Cookies'", async () => {
    const page = await visitor.open("/cookie-settings");
    const [form] = page.all("main form");
    expect(form?.getAttribute("method")).toBe("post");
    expect(new URL(form?.getAttribute("action") ?? "", "http://site/cookie-settings").pathname).toBe(
      "/cookie-settings",
    );
    expect(page.all("main form button").map((button) => [getText(button), button.getAttribute("value")])).toEqual([
      ["Save My Preferences", "chosen"],
      ["Accept All Cookies", "all"],
    ]);
    expect(page.all("main form button")[1]?.getAttribute("name")).toBe("accept");
  });

  const all = [false, true].flatMap((performance) =>
    [false, true].flatMap((functional) =>
      [false, true].map((marketing): Settings => ({ performance, functional, marketing })),
    ),
  );
  test.each(all)(
    "are kept and override the defaults: performance $performance, functional $functional, marketing $marketing",
    async (settings) => {
      const response = await save(settings);
      expect(response.headers.get("Location")).toBe("/cookie-settings");
      const page = await visitor.follow(response);
      expect(page.toasts).toEqual([
        {
          title: "Preferences Saved!",
          description: "Your cookie settings have been updated.",
          variant: "default",
        },
      ]);
      expect(boxes(page)).toEqual({ necessary: true, ...settings });
      const later = await visitor.open("/cookie-settings");
      expect(later.toasts).toEqual([]);
      expect(boxes(later)).toEqual({ necessary: true, ...settings });
    },
  );

  test("are all on after 'Accept All Cookies', whatever was ticked, and can be switched off again", async () => {
    const page = await visitor.follow(await save({ marketing: true }, { accept: "all" }));
    expect(page.toasts).toEqual([
      { title: "All Cookies Accepted!", description: "You've enabled all optional cookies.", variant: "default" },
    ]);
    expect(boxes(page)).toEqual({ necessary: true, performance: true, functional: true, marketing: true });
    expect(boxes(await visitor.follow(await save({})))).toEqual({
      necessary: true,
      performance: false,
      functional: false,
      marketing: false,
    });
  });

  test("stay a year in a cookie of this site that no script reads", async () => {
    const response = await save({ performance: true });
    expect(response.status).toBe(303);
    const [, ...attributes] = cookieOf(response).split(/;\s*/);
    expect(attributes.map((each) => each.toLowerCase())).toEqual(
      expect.arrayContaining(["max-age=31536000", "path=/", "httponly", "samesite=lax"]),
    );
    expect(attributes.join()).not.toMatch(/domain/i);
  });

  test("are set by an answer that nobody keeps", async () => {
    expect((await save({})).headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  });

  test("are confirmed by a page that nobody keeps, since it takes the toast's cookie away", async () => {
    await save({});
    const next = await visitor.get("/cookie-settings");
    expect(next.headers.getSetCookie()).toEqual([expect.stringMatching(/^flash=;.*Max-Age=0/i)]);
    expect(next.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  });

  const base64 = (value: unknown) => encodeURIComponent(Buffer.from(JSON.stringify(value)).toString("base64"));
  test.each<{ what: string; value: string }>([
    { what: "nothing", value: "" },
    { what: "garbage", value: "%%%garbage" },
    { what: "broken percent signs", value: "%E0%A4%A" },
    { what: "base64 of no JSON", value: "Z2FyYmFnZQ==" },
    { what: "JSON that is not encoded", value: '{"performance":false}' },
    { what: "null", value: base64(null) },
    { what: "a list", value: base64([false, false, true]) },
    { what: "words in place of yes and no", value: base64({ performance: "no", functional: 0, marketing: "yes" }) },
    { what: "one of three settings", value: base64({ marketing: true }) },
    { what: "100,000 letters", value: "a".repeat(100_000) },
  ])("are the defaults when their cookie is damaged: $what", async ({ value }) => {
    visitor.cookies.set("cookieSettings", value);
    const page = await visitor.open("/cookie-settings");
    expect(page.status).toBe(200);
    expect(boxes(page)).toEqual(defaults);
    expect(boxes(await visitor.follow(await save({ marketing: true })))).toMatchObject({ marketing: true });
  });
});

describe("the theme", () => {
  const themeOf = (page: ParsedPage) => page.all("html")[0]?.getAttribute("class");
  const choose = (theme: string, to = "/contact") => visitor.post("/actions/theme", { theme, to });

  test("is dark at first, light after its form, and dark again after the other", async () => {
    const first = await visitor.open("/contact");
    expect(themeOf(first)).toBe("dark");
    const light = await visitor.follow(await visitor.submit(first, "Use the light theme"));
    expect(light.h1).toBe("Contact");
    expect(themeOf(light)).toBe("light");
    expect(() => light.form("Use the light theme")).toThrow("No button");
    expect(themeOf(await visitor.follow(await visitor.submit(light, "Use the dark theme")))).toBe("dark");
  });

  test.each(["/", "/contact", "/careers", "/login", "/actions/quote", "/?quote", "/no-such-page", "/cookie-settings"])(
    "stays light on %s, and its form comes back to it",
    async (page) => {
      await choose("light");
      const light = await visitor.open(page);
      expect(themeOf(light)).toBe("light");
      const back = await visitor.submit(light, "Use the dark theme");
      expect(back.headers.get("Location")?.replace(/=$/, "")).toBe(page);
    },
  );

  test("stays light on pages that refuse a form and on the page of a ready mail", async () => {
    await choose("light");
    expect(themeOf(await parsePage(await visitor.post("/contact", {})))).toBe("light");
    const contact = { name: "A", email: "a@client.example", subject: "S", message: "M" };
    expect(themeOf(await parsePage(await visitor.post("/contact", contact)))).toBe("light");
  });

  test("ends with the browser session: its cookie has no age and no date", async () => {
    const response = await choose("light");
    expect(response.status).toBe(303);
    const [line = "", ...others] = response.headers.getSetCookie();
    expect(others).toEqual([]);
    expect(line).toMatch(/^theme=/);
    expect(line).toMatch(/; *HttpOnly/i);
    expect(line).toMatch(/; *SameSite=Lax/i);
    expect(line).toMatch(/; *Path=\/(;|$)/i);
    expect(line).not.toMatch(/max-age|expires|domain/i);
  });

  test("is set by an answer that nobody keeps", async () => {
    expect((await choose("light")).headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
  });

  test.each(["purple", "", "LIGHT", "light dark", "<script>", "__proto__"])(
    "is dark when %j is chosen",
    async (theme) => {
      const response = await choose(theme);
      expect(response.status).toBe(303);
      expect(themeOf(await visitor.follow(response))).toBe("dark");
    },
  );

  test("is dark when nothing is chosen", async () => {
    expect(themeOf(await visitor.follow(await visitor.post("/actions/theme", {})))).toBe("dark");
  });

  test.each([
    "/",
    "/careers",
    "/?quote",
    "/resources/blog/importing-a-car-to-kenya",
    "/resources/blog?category=Risk+Management",
    "/resources/blog?category=Risk%20Management&page=2",
    "/portal?page=2",
  ])("comes back to %s", async (to) => {
    expect((await choose("light", to)).headers.get("Location")).toBe(to);
  });

  test.each([
    "//evil.example",
    "https://evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "/\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/contact\r\nSet-Cookie: session=x",
    "/contact?next=https://evil.example\r\n",
    "contact",
    "",
  ])("leads to the home page, not to %j", async (to) => {
    const response = await choose("light", to);
    expect(response.status).toBe(303);
    expect(response.headers.get("Location")).toBe("/");
    expect(response.headers.getSetCookie()).toHaveLength(1);
  });

  test("by a GET changes nothing", async () => {
    const response = await visitor.get("/actions/theme?theme=light");
    expect(response.headers.get("Location")).toBe("/");
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(themeOf(await visitor.open("/"))).toBe("dark");
  });
});

describe.each(["/contact", "/actions/quote", "/careers", "/cookie-settings", "/actions/theme"])(
  "a post to %s that no page of ours sends",
  (at) => {
    const fields = { name: "Amina", email: "amina@client.example", theme: "light" };

    test("gets 413 when its text is over 64 KiB", async () => {
      const response = await visitor.post(at, { ...fields, message: "m".repeat(70_000) });
      expect(response.status).toBe(413);
      expect(response.headers.getSetCookie()).toEqual([]);
    });

    test("gets 413 when it brings 11 MiB", async () => {
      const form = new FormData();
      form.append("name", fields.name);
      form.append("file", createPdf("large.pdf", 11 * 1024 * 1024));
      const response = await visitor.post(at, form);
      expect(response.status).toBe(413);
      expect(response.headers.getSetCookie()).toEqual([]);
    });

    test("gets 415 when it is no form, and 400 when it is damaged", async () => {
      const post = (type: string, body: string) =>
        visitor.send(
          new Request(new URL(at, origin), {
            method: "POST",
            headers: { "Content-Type": type },
            body,
          }),
        );
      expect((await post("application/json", "{}")).status).toBe(415);
      expect((await post("text/plain", "theme=light")).status).toBe(415);
      expect((await post("multipart/form-data", "theme=light")).status).toBe(400);
      expect((await post("multipart/form-data; boundary=x", "--x\r\nhalf")).status).toBe(400);
    });

    test.each([
      ["__intent__", "garbage"],
      ["__intent__", '{"type":"insert","payload":{"name":"name"}}'],
      ["__intent__", '{"type":"reset","payload":{}}'],
      ["__state__", "garbage"],
      ["__proto__.polluted", "yes"],
      ["constructor.prototype.polluted", "yes"],
      ["name[0]", "yes"],
      ["name.first", "yes"],
      ["name[1000000]", "yes"],
      ["[[[", "yes"],
    ])("is answered in a few words when a field is called %s (%s)", async (name, value) => {
      const response = await visitor.post(at, { ...fields, [name]: value });
      expect(response.status).toBeLessThan(500);
      expect((await response.text()).length).toBeLessThan(100_000);
      expect(Object.keys({}), "Object.prototype").toEqual([]);
      expect("polluted" in {}).toBe(false);
    });

    test("is answered when a field is sent twice", async () => {
      const twice = new URLSearchParams([...Object.entries(fields), ...Object.entries(fields)]);
      expect((await visitor.post(at, twice)).status).toBeLessThan(500);
    });

    test.each<[string, Record<string, string>]>([
      ["another site's origin", { Origin: "https://evil.example" }],
      ["an origin that is hidden", { Origin: "null" }],
      ["another site's page, by the browser's word", { Origin: origin, "Sec-Fetch-Site": "cross-site" }],
      ["another name of our domain, by the browser's word", { Origin: origin, "Sec-Fetch-Site": "same-site" }],
      ["our host on another port", { Origin: "http://127.0.0.1:1" }],
    ])("gets 403 and changes nothing with %s", async (_what, headers) => {
      const response = await site.browser().post(at, { ...fields, accept: "all" }, headers);
      expect(response.status).toBe(403);
      expect(response.headers.getSetCookie()).toEqual([]);
      expect(await response.text()).not.toContain(fields.email);
    });

    test("is taken under each name of the own machine, so that forms work at localhost too", async () => {
      for (const name of ["localhost", "127.0.0.1"]) {
        const response = await site.browser().post(at, fields, { Origin: `http://${name}:3000` });
        expect([200, 303, 400], name).toContain(response.status);
        if (response.status === 400) expect(await response.text(), name).toContain("There is a problem");
      }
    });
  },
);
