import { describe, expect, test } from "vitest";
import { contactDraft, type EmailDraft, mailtoHref, quoteDraft, trackingDraft } from "./email-draft.ts";

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

/** Parses a mailto address as email apps do (RFC 6068): splits it at reserved characters, then decodes each part. */
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

test("The email draft of a quote request has the service and the visitor's name in its subject, and every field in its body.", () => {
  const draft = quoteDraft(office, quote);
  expect(draft).toMatchObject({ to: office, subject: "Quote request: Sea & Air Freight, Wanjiru Kamau" });
  for (const value of Object.values(quote)) expect(draft.body).toContain(value);
  expect(quoteDraft(office, { ...quote, message: "" }).body).toMatch(/Message:\n\(none\)$/);
});

test("The email draft of a tracking update has the tracking number in its subject and in its body.", () => {
  const draft = trackingDraft(office, "MSCU 7788990");
  expect(draft).toMatchObject({ to: office, subject: "MSCU 7788990" });
  expect(draft.body).toMatch(/update.*MSCU 7788990/);
});

test("The email draft of the contact page has the visitor's subject, message, name and address.", () => {
  const draft = contactDraft(office, contact);
  expect(draft).toMatchObject({ to: office, subject: "Opening hours" });
  for (const value of [contact.message, contact.name, contact.email]) expect(draft.body).toContain(value);
});

describe("Mailto address", () => {
  test.each([
    ["Arabic", "شحنة من مومباسا إلى نيروبي"],
    ["emoji of several parts", "🚢📦 👩🏾‍✈️ 🇰🇪"],
    ["percent signs", "100% %41 %0D%0ABcc: x %"],
    ["ampersands", "Smith & Sons &amp; &bcc=x@evil.example"],
    ["question marks", "Where? ?subject=other"],
    ["hashes", "Order #12 #fragment"],
    ["plus signs", "+254 1+1"],
    ["quotation marks and brackets", `"it's" <b> (c) [d] {e} \\ / | ^ ~`],
  ])("A mailto address contains %s unchanged in its subject and body.", (_what, text) => {
    const href = mailtoHref(contactDraft(office, { ...contact, subject: text, message: text }));
    expect(parseMailto(href)).toMatchObject({
      scheme: "mailto",
      to: office,
      headers: [
        ["subject", text],
        ["body", expect.any(String)],
      ],
    });
    expect(header(href, "body")).toBe(`${text}\r\n\r\n${contact.name}\r\n${contact.email}`);
  });

  test("A mailto address is plain ASCII, with a plus sign as %2B and a space as %20.", () => {
    const href = mailtoHref(
      contactDraft(office, { ...contact, subject: "+254 é 🚢", message: 'a "b" <c> \u2028 é 🚢' }),
    );
    expect(href).toMatch(/^mailto:[\w.!~*'()%@-]+\?subject=[\w.!~*'()%@-]+&body=[\w.!~*'()%@-]+$/);
    expect(href).toContain("subject=%2B254%20");
  });

  test.each([
    ["a lone high surrogate", "tea \ud83d", "tea \ufffd"],
    ["a lone low surrogate", "\udea2 tea", "\ufffd tea"],
    ["two surrogates in the wrong order", "\udea2\ud83d", "\ufffd\ufffd"],
  ])("A mailto address contains the replacement character U+FFFD in place of %s.", (_what, broken, repaired) => {
    const href = mailtoHref(contactDraft(office, { ...contact, subject: broken, message: broken }));
    expect(header(href, "subject")).toBe(repaired);
    expect(header(href, "body")).toMatch(repaired);
  });

  test.each([
    ["\\n", "\n"],
    ["\\r\\n", "\r\n"],
    ["\\r", "\r"],
  ])(
    "The body of a mailto address contains %%0D%%0A for each line break that a visitor sends as %s.",
    (_what, lineBreak) => {
      const message = ["One", "Two", "", "Three"].join(lineBreak);
      const { body } = contactDraft(office, { ...contact, message });
      expect(body).toMatch(/^One\nTwo\n\nThree\n/);
      for (const text of [body, message]) {
        const href = mailtoHref({ to: office, subject: "x", body: text });
        expect(href).toContain("body=One%0D%0ATwo%0D%0A%0D%0AThree");
        expect(href.replaceAll("%0D%0A", "")).not.toMatch(/%0[AD]/);
      }
    },
  );
});

test.each([
  ["CR LF", "\r\n"],
  ["CR", "\r"],
  ["several line breaks", "\r\n\r\n\n"],
  ["U+2028", "\u2028"],
  ["U+0085", "\u0085"],
  ["a vertical tab", "\v"],
  ["a zero byte", "\0"],
])("A visitor cannot add a header to an email draft by typing %s into a field.", (_what, breaker) => {
  const attack = `Tea${breaker}Bcc: evil@evil.example${breaker}&bcc=evil@evil.example?cc=evil@evil.example`;
  const oneLine = "Tea Bcc: evil@evil.example &bcc=evil@evil.example?cc=evil@evil.example";
  const drafts: [EmailDraft, string][] = [
    [quoteDraft(office, { ...quote, name: attack }), `Quote request: Sea & Air Freight, ${oneLine}`],
    [quoteDraft(office, { ...quote, service: attack }), `Quote request: ${oneLine}, Wanjiru Kamau`],
    [trackingDraft(office, attack), oneLine],
    [contactDraft(office, { ...contact, subject: attack }), oneLine],
    [{ to: office, subject: attack, body: "x" }, oneLine],
    [quoteDraft(`${office}${breaker}`, quote), "Quote request: Sea & Air Freight, Wanjiru Kamau"],
  ];
  expect(trackingDraft(office, attack).body.split("\n")[0]).toContain(oneLine);
  for (const [draft, subject] of drafts) {
    const href = mailtoHref(draft);
    const parsed = parseMailto(href);
    expect(parsed.to).toBe(office);
    expect(parsed.headers.map(([name]) => name)).toEqual(["subject", "body"]);
    expect(header(href, "subject")).toBe(subject);
    expect(href).not.toMatch(/[\s\u0085]/);
  }
});
