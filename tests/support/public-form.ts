/** Helper functions for tests of the public forms, their errors and their email drafts. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { parse } from "yaml";
import { getHref } from "./page-parts.ts";
import { getText, noStorePattern, type ParsedPage } from "./test-app.ts";

export const readContent = <T>(name: string) => parse(readFileSync(`content/data/${name}.yaml`, "utf8")) as T;

type CompanyData = {
  founded: number;
  taglines: string[];
  offices: { name: string; address: string; map: string; phone: string; email: string }[];
  chat_phone: string;
  social: { name: string; url: string }[];
};
export const companyData = readContent<CompanyData>("company");
export const [headOffice, branchOffice] = companyData.offices as [CompanyData["offices"][0], CompanyData["offices"][0]];

export const toTelephoneUrl = (phone: string) => `tel:${phone.replaceAll(" ", "")}`;

export const getTextareaValue = (page: ParsedPage, name: string) => page.all(`main textarea[name=${name}]`)[0]?.text;

export const getSelected = (page: ParsedPage, name: string) =>
  page.all(`main select[name=${name}] option`).find((option) => option.hasAttribute("selected"))?.text;

export const listRequiredFields = (page: ParsedPage) =>
  page.all("main [aria-required=true]").map((field) => field.getAttribute("name"));

/**
 * Checks for errors at exactly these fields: in the title, in the summary above the heading, and next to each field.
 */
export function expectInvalidFields(page: ParsedPage, fields: string[], status = 400): void {
  expect(page.status).toBe(status);
  expect(page.headers.get("Cache-Control")).toMatch(noStorePattern);
  expect(page.title).toMatch(/^Error: /);
  const invalid = page.all("main [aria-invalid=true]");
  expect(invalid.map((field) => field.getAttribute("name"))).toEqual(fields);
  expect(page.problems.map(({ id }) => id)).toEqual(invalid.map(({ id }) => id));
  for (const [index, name] of fields.entries()) {
    expect(page.problems[index]?.text, name).not.toBe("");
    expect(page.getDescriptions(name), name).toContain(page.problems[index]?.text);
  }
  const order = page.all("h1, [aria-labelledby=error-summary]").map(({ tagName }) => tagName);
  expect(order, "the position of the error summary above the h1").toEqual(["SECTION", "H1"]);
}

/** Returns the address, subject and body of a page's mailto link, parsed as in an email app (RFC 6068). */
function readEmailDraft(page: ParsedPage) {
  const href = getHref(page, "Open your email app") ?? "";
  const [, to = "", query = ""] = /^mailto:([^?]*)\?(.*)$/.exec(href) ?? [];
  const headers = query.split("&").map((header) => header.split("=").map(decodeURIComponent));
  const names = headers.map(([name]) => name);
  const { subject = "", body = "" } = Object.fromEntries(headers) as Record<string, string>;
  return { href, to: decodeURIComponent(to), names, subject, body };
}

/** Checks for a page with an email draft to the head office: link, text to copy, phone and chat. Returns the draft. */
export function expectEmailDraft(page: ParsedPage) {
  expect([page.status, page.headers.getSetCookie(), page.problems]).toEqual([200, [], []]);
  expect(page.headers.get("Cache-Control")).toMatch(noStorePattern);
  expect(page.title).not.toContain("Error");
  const draft = readEmailDraft(page);
  expect([draft.to, draft.names]).toEqual([headOffice.email, ["subject", "body"]]);
  const [text] = page.all("main textarea[readonly]");
  expect(getText(page.all(`label[for=${text?.id}]`)[0])).toContain("Copy this text");
  for (const part of [draft.to, draft.subject, draft.body.replaceAll("\r\n", "\n")]) expect(text?.text).toContain(part);
  const links = page.all("main section a").map((link) => link.getAttribute("href"));
  expect(links).toContain(toTelephoneUrl(headOffice.phone));
  expect(links).toContain(`https://wa.me/${companyData.chat_phone}`);
  return draft;
}
