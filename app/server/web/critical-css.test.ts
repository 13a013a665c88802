import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { CachedResponse } from "./cached-response.ts";
import { checkStylesheet, finishPage } from "./critical-css.ts";

const css =
  "/*! licence */*,:before{--tw-leading:initial;--tw-blur:initial}" +
  ":root{--color-ink:#fff;--unused:1px}.a{color:red;line-height:var(--tw-leading)}.b{color:blue}" +
  "details:not([open]){x:y}@media print{.a{color:black}}";
const files = new Map<string, CachedResponse>([
  ["/assets/a.css", { headers: {}, etag: "", bodies: { identity: Buffer.from(css) } }],
  ["/assets/a.js", { headers: {}, etag: "", bodies: { identity: Buffer.alloc(4096), br: Buffer.alloc(2048) } }],
]);
const policy = "script-src 'self' 'nonce-N'; style-src 'self'";
const page = (body: string) =>
  `<html><head><link nonce="N" rel="stylesheet" href="/assets/a.css"/></head><body>${body}</body></html>`;
const sha = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const listInlineRules = (html: string) => /<style>(.*)<\/style>/.exec(html)?.[1] ?? "";

test("The Content-Security-Policy of a page contains the hashes of the site's own scripts, but no hash of an injected script.", async () => {
  const html = page(
    '<script nonce="N">ours()</script><script>theirs()</script><script nonce="N" src="/a.js"></script>',
  );
  const finished = await finishPage({ html, policy }, files, true);
  expect(finished.policy).toBe(`script-src 'self' ${sha("ours()")}; style-src 'self'`);
  expect(finished.html).not.toContain("nonce");
});

test("A page contains the CSS rules that it uses, and its stylesheet does not delay the first paint.", async () => {
  const html = page('<details class="a">class="b" .b</details>');
  const finished = await finishPage({ html, policy }, files, false);
  const inlined = listInlineRules(finished.html);
  expect(inlined).toContain(".a{");
  expect(inlined).toContain("details:not([open])");
  expect(inlined).not.toContain(".b{");
  expect(finished.policy).toContain(`style-src 'self' ${sha(inlined)}`);
  expect(finished.html).toMatch(/<link media="print"[^>]* href="\/assets\/a.css"/);
});

test("A page contains the CSS rules of a stylesheet that React Router marks as dynamic.", async () => {
  const html = page('<p class="a">x</p>').replace("a.css", "a.css#");
  expect(listInlineRules((await finishPage({ html, policy }, files, false)).html)).toContain(".a{");
});

test("A page contains every CSS colour property that its SVG files use, but no unused properties and no print rules.", async () => {
  const { html } = await finishPage({ html: page('<p class="a">x</p>'), policy }, files, false);
  expect(html).toContain("--color-ink");
  expect(html).toContain("--tw-leading:initial");
  expect(html).not.toMatch(/--unused|--tw-blur|@media print|licence/);
});

test.each([true, false])(
  "A standalone page has inline print rules and no stylesheet link, with the stylesheet in the browser's cache: %s.",
  async (hasStyles) => {
    const html = page('<p class="a">x</p>').replace("<html", '<html lang="en" data-standalone=""');
    const finished = await finishPage({ html, policy }, files, hasStyles);
    const inlined = listInlineRules(finished.html);
    expect(inlined).toContain("@media print{.a{color:black}}");
    expect(inlined).toContain(".a{color:red");
    expect(inlined).not.toMatch(/\.b\{|licence/);
    expect(finished.policy).toContain(sha(inlined));
    expect(finished.html).not.toContain("<link");
  },
);

test("A browser that has cached the stylesheet on another page gets a link to the stylesheet.", async () => {
  const { html } = await finishPage({ html: page('<p class="a">x</p>'), policy }, files, true);
  expect(html).toContain('<link rel="stylesheet" href="/assets/a.css"/>');
  expect(html).not.toContain("<style>");
});

test("The placeholder for the page's size contains the total bytes of the files that the page loads.", async () => {
  const body = '<link rel="modulepreload" href="/assets/a.js"/><span data-weight=""></span>';
  const { html } = await finishPage({ html: page(body), policy }, files, true);
  expect(html).toContain(`<span data-weight="${2048 + css.length}"></span>`);
});

test("The build fails if the stylesheet has an unexpected format, or a CSS rule that would be missing in pages.", () => {
  checkStylesheet(css);
  for (const changed of [
    css.replace("/*! licence */", "/*! a * in it */"),
    css.replace("/*! licence */", ""),
    css.replace("@media print{", "@media print {"),
    css.replace("--tw-blur:initial", "--tw-blur :initial"),
  ]) {
    expect(() => checkStylesheet(changed), changed).toThrow("format of the stylesheet has changed");
  }
  const rule = ":is(.rows>*):nth-child(2n){margin:1px}";
  expect(() => checkStylesheet(css + rule)).toThrow(rule.split("{")[0]);
  checkStylesheet(`${css}.rows>li:nth-child(2n){margin:1px}`);
});
