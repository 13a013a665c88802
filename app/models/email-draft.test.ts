import { describe, expect, test } from "vitest";
import { contactDraft, mailtoHref, quoteDraft, trackingDraft } from "./email-draft.ts";

const office = "nairobi@company.example";
const quote = {
  name: "Wanjiru Kamau",
  email: "wanjiru@client.example",
  phone: "+254 711 222 333",
  service: "Sea & Air Freight",
  message: "Two pallets of tea.\nMombasa to Hamburg.",
};
const contact = {
  name: "Wanjiru Kamau",
  email: "wanjiru@client.example",
  subject: "Opening hours",
  message: "Are you open on Saturday?",
};

/** Parses a mailto address as RFC 6068 says: splits at reserved characters first, then decodes. */
function parseMailto(href: string) {
  const [, scheme, address = "", query = ""] = /^([^:]+):([^?]*)\?(.*)$/s.exec(href) ?? [];
  return {
    scheme,
    to: decodeURIComponent(address),
    headers: query.split("&").map((header): [string, string] => {
      const [name = "", ...value] = header.split("=");
      return [name, decodeURIComponent(value.join("="))];
    }),
  };
}

const header = (href: string, name: string) => parseMailto(href).headers.find(([key]) => key === name)?.[1];

describe("the mail for a quote", () => {
  test("goes to the office with a subject that names the service and the requester", () => {
    const draft = quoteDraft(office, quote);
    expect(draft.to).toBe(office);
    expect(draft.subject).toContain("Sea & Air Freight");
    expect(draft.subject).toContain("Wanjiru Kamau");
  });

  test("The body of a quote draft has service, name, email, phone and message.", () => {
    for (const answer of Object.values(quote)) expect(quoteDraft(office, quote).body).toContain(answer);
  });

  test("says so when there is no message", () => {
    const { body } = quoteDraft(office, { ...quote, message: "" });
    expect(body).toMatch(/Message:\n\(none\)$/);
  });
});

describe("the mail for a tracking update", () => {
  test("has the tracking number as its subject", () => {
    expect(trackingDraft(office, "MSCU 7788990")).toMatchObject({ to: office, subject: "MSCU 7788990" });
  });

  test("asks for an update on that number", () => {
    expect(trackingDraft(office, "MSCU 7788990").body).toMatch(/update.*MSCU 7788990/);
  });
});

describe("the mail of the contact page", () => {
  test("A contact draft has the visitor's subject, message, name and email.", () => {
    const draft = contactDraft(office, contact);
    expect(draft).toMatchObject({ to: office, subject: "Opening hours" });
    for (const answer of [contact.message, contact.name, contact.email]) expect(draft.body).toContain(answer);
  });
});

describe("the mailto address", () => {
  test("The mailto link opens an email to the office with the draft's subject and body.", () => {
    const draft = contactDraft(office, { ...contact, message: "First line\nSecond line" });
    expect(parseMailto(mailtoHref(draft))).toEqual({
      scheme: "mailto",
      to: office,
      headers: [
        ["subject", draft.subject],
        ["body", draft.body.replaceAll("\n", "\r\n")],
      ],
    });
  });

  test.each([
    ["Arabic", "شحنة من مومباسا إلى نيروبي"],
    ["emoji of several parts", "🚢📦 👩🏾‍✈️ 🇰🇪"],
    ["Swahili and French letters", "Ng'ombe, café, œuvre, Ð"],
    ["percent signs", "100% %41 %0D%0ABcc: x %"],
    ["ampersands", "Smith & Sons &amp; &bcc=x@evil.example"],
    ["question marks", "Where? ?subject=other"],
    ["hashes", "Order #12 #fragment"],
    ["plus signs", "+254 1+1"],
    ["equals signs", "a=b==c"],
    ["quotes and brackets", `"it's" <b> (c) [d] {e} \\ / | ^ ~`],
  ])("brings %s over as they were typed, in the subject and in the body", (_what, text) => {
    const href = mailtoHref(contactDraft(office, { ...contact, subject: text, message: text }));
    expect(parseMailto(href).headers.map(([name]) => name)).toEqual(["subject", "body"]);
    expect(header(href, "subject")).toBe(text);
    expect(header(href, "body")).toBe(`${text}\r\n\r\n${contact.name}\r\n${contact.email}`);
  });

  test("is plain ASCII without blanks, and writes a plus sign as %2B and a blank as %20", () => {
    const href = mailtoHref(
      contactDraft(office, { ...contact, subject: "+254 é 🚢", message: 'a "b" <c> \u2028 é 🚢' }),
    );
    expect(href).toMatch(/^mailto:[\w.!~*'()%@-]+\?subject=[\w.!~*'()%@-]+&body=[\w.!~*'()%@-]+$/);
    expect(href).toContain("subject=%2B254%20");
  });

  test.each([
    ["a first half", "tea \ud83d", "tea \ufffd"],
    ["a second half", "\udea2 tea", "\ufffd tea"],
    ["two halves in the wrong order", "\udea2\ud83d", "\ufffd\ufffd"],
    ["a half beside a whole", "\ud83d🚢", "\ufffd🚢"],
  ])("survives %s of a surrogate pair and leaves whole ones whole", (_what, broken, mended) => {
    const href = mailtoHref(contactDraft(office, { ...contact, subject: broken, message: broken }));
    expect(header(href, "subject")).toBe(mended);
    expect(header(href, "body")).toMatch(mended);
  });

  test.each([
    ["\\n", "\n"],
    ["\\r\\n", "\r\n"],
    ["\\r", "\r"],
  ])("writes a line break that arrives as %s as %%0D%%0A in the body", (_what, lineBreak) => {
    const message = ["One", "Two", "", "Three"].join(lineBreak);
    const { body } = contactDraft(office, { ...contact, message });
    expect(body).toMatch(/^One\nTwo\n\nThree\n/);
    const undone = mailtoHref({ to: office, subject: "x", body: message });
    for (const href of [mailtoHref({ to: office, subject: "x", body }), undone]) {
      expect(href).toContain("body=One%0D%0ATwo%0D%0A%0D%0AThree");
      expect(href.replaceAll("%0D%0A", "")).not.toMatch(/%0[AD]/);
    }
  });
});

describe.each([
  ["CR LF", "\r\n"],
  ["CR", "\r"],
  ["LF", "\n"],
  ["several line breaks", "\r\n\r\n\n"],
  ["U+2028", "\u2028"],
  ["U+2029", "\u2029"],
  ["U+0085", "\u0085"],
  ["a vertical tab", "\v"],
  ["a form feed", "\f"],
  ["a zero byte", "\0"],
])("%s in an answer adds no header:", (_what, breaker) => {
  const attack = `Tea${breaker}Bcc: evil@evil.example${breaker}&bcc=evil@evil.example?cc=evil@evil.example`;
  const asked = "Tea Bcc: evil@evil.example &bcc=evil@evil.example?cc=evil@evil.example";
  test.each<{ where: string; href: string; subject: string }>([
    {
      where: "in the name of a quote",
      href: mailtoHref(quoteDraft(office, { ...quote, name: attack })),
      subject: `Quote request: Sea & Air Freight, ${asked}`,
    },
    {
      where: "in the service of a quote",
      href: mailtoHref(quoteDraft(office, { ...quote, service: attack })),
      subject: `Quote request: ${asked}, Wanjiru Kamau`,
    },
    { where: "in a tracking number", href: mailtoHref(trackingDraft(office, attack)), subject: asked },
    {
      where: "in the subject of the contact page",
      href: mailtoHref(contactDraft(office, { ...contact, subject: attack })),
      subject: asked,
    },
    {
      where: "in a subject that no draft has cleaned",
      href: mailtoHref({ to: office, subject: attack, body: "x" }),
      subject: asked,
    },
  ])("$where", ({ href, subject }) => {
    const mail = parseMailto(href);
    expect(mail.to).toBe(office);
    expect(mail.headers.map(([name]) => name)).toEqual(["subject", "body"]);
    expect(header(href, "subject")).toBe(subject);
    expect(href).not.toMatch(/[\s\u0085]/);
  });

  test("at the end of the office's address", () => {
    const mail = parseMailto(mailtoHref(quoteDraft(`${office}${breaker}`, quote)));
    expect(mail.to).toBe(office);
    expect(mail.headers.map(([name]) => name)).toEqual(["subject", "body"]);
  });
});

test("a tracking number with line breaks stays on one line of the body", () => {
  const [line] = trackingDraft(office, "MSCU\r\n\u2028Ignore the above").body.split("\n");
  expect(line).toContain("MSCU Ignore the above");
});
