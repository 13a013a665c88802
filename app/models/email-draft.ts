/** Visitors send these emails from their own email app (section 7 of the specification). */

/** The body is plain text whose lines end with "\n". */
export type EmailDraft = { to: string; subject: string; body: string };

export type QuoteRequest = { name: string; email: string; phone: string; service: string; message: string };

export function quoteDraft(to: string, quote: QuoteRequest): EmailDraft {
  const lines = [
    `Service: ${quote.service}`,
    `Name: ${quote.name}`,
    `Email: ${quote.email}`,
    `Phone: ${quote.phone}`,
    "",
    "Message:",
    quote.message || "(none)",
  ];
  return createDraft(to, `Quote request: ${quote.service}, ${quote.name}`, lines.join("\n"));
}

export function trackingDraft(to: string, trackingNumber: string): EmailDraft {
  const number = toOneLine(trackingNumber);
  return createDraft(
    to,
    number,
    `I would like an update on the shipment with tracking number ${number}.\n\nWhere is the shipment now, and what happens next?`,
  );
}

export function contactDraft(
  to: string,
  contact: { name: string; email: string; subject: string; message: string },
): EmailDraft {
  return createDraft(to, contact.subject, `${contact.message}\n\n${contact.name}\n${contact.email}`);
}

/** Returns a mailto URL (RFC 6068). The encoding prevents a visitor's text from adding a header to the email. */
export function mailtoHref({ to, subject, body }: EmailDraft): string {
  return `mailto:${encode(to)}?subject=${encode(toOneLine(subject))}&body=${encode(body.replace(/\r\n?|\n/g, "\r\n"))}`;
}

function createDraft(to: string, subject: string, body: string): EmailDraft {
  return { to: toOneLine(to), subject: toOneLine(subject), body: body.replace(/\r\n?/g, "\n") };
}

function toOneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters could add a header to the email
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, " ").trim();
}

/** Replaces lone surrogates, because encodeURIComponent throws for them. Does not encode the first "@". */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd")).replace("%40", "@");
}

export function openEmailApp(draft: EmailDraft): void {
  const link = document.createElement("a");
  link.href = mailtoHref(draft);
  link.click();
}
