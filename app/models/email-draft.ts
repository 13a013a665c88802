/** Mails that a visitor sends from their own mail application: quote, tracking and contact (section 7). */

/** Plain text; lines end with "\n". */
export type EmailDraft = { to: string; subject: string; body: string };

export type QuoteRequest = { name: string; email: string; phone: string; service: string; message: string };

/** The mail that asks for a quote. The subject names the service and the requester. */
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

/** The mail that asks where a consignment is. Its subject is the tracking number. */
export function trackingDraft(to: string, trackingNumber: string): EmailDraft {
  const number = toOneLine(trackingNumber);
  return createDraft(
    to,
    number,
    `I would like an update on the shipment with tracking number ${number}.\n\nWhere is it now, and what happens next?`,
  );
}

/** The mail of the contact page. */
export function contactDraft(
  to: string,
  contact: { name: string; email: string; subject: string; message: string },
): EmailDraft {
  return createDraft(to, contact.subject, `${contact.message}\n\n${contact.name}\n${contact.email}`);
}

/**
 * The `mailto:` address that opens the draft, as RFC 6068 has it: UTF-8, percent-encoded, lines ending with CRLF.
 * Nothing a visitor typed can end a header or add one: the subject has no line breaks, and `&`, `?` and `%` are encoded.
 */
export function mailtoHref({ to, subject, body }: EmailDraft): string {
  return `mailto:${encode(to)}?subject=${encode(toOneLine(subject))}&body=${encode(body.replace(/\r\n?|\n/g, "\r\n"))}`;
}

function createDraft(to: string, subject: string, body: string): EmailDraft {
  return { to: toOneLine(to), subject: toOneLine(subject), body: body.replace(/\r\n?/g, "\n") };
}

/** Control characters and line separators become blanks. */
function toOneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into a header
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, " ").trim();
}

/** encodeURIComponent that does not throw on a lone surrogate; the at sign of an address stays readable. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd")).replace("%40", "@");
}

/** Opens the mail application with a draft, as a press on its link does. */
export function openEmailApp(draft: EmailDraft): void {
  const link = document.createElement("a");
  link.href = mailtoHref(draft);
  link.click();
}
