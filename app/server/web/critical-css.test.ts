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

test("scripts of ours are named by hash, and an injected one is not", async () => {
  const html = page(
    '<script nonce="N">ours()</script><script>theirs()</script><script nonce="N" src="/a.js"></script>',
  );
  const finished = await finishPage({ html, policy }, files, true);
  expect(finished.policy).toBe(`script-src 'self' ${sha("ours()")}; style-src 'self'`);
  expect(finished.html).not.toContain("nonce");
});

test("the rules a page uses are in it, and its stylesheet holds nothing up", async () => {
  const finished = await finishPage({ html: page('<details class="a">x</details>'), policy }, files, false);
  const inlined = /<style>(.*)<\/style>/.exec(finished.html)?.[1] ?? "";
  expect(inlined).toContain(".a{");
  expect(inlined).toContain("details:not([open])");
  expect(inlined).not.toContain(".b{");
  expect(finished.policy).toContain(`style-src 'self' ${sha(inlined)}`);
  expect(finished.html).toMatch(/<link media="print"[^>]* href="\/assets\/a.css"/);
});

test("a stylesheet that the framework marks as a dynamic one is in the page too", async () => {
  const html = page('<p class="a">x</p>').replace("a.css", "a.css#");
  expect((await finishPage({ html, policy }, files, false)).html).toMatch(/<style>[^<]*\.a\{/);
});

test("what no rule uses on a screen is left out, except colours, which the drawings use", async () => {
  const { html } = await finishPage({ html: page('<p class="a">x</p>'), policy }, files, false);
  expect(html).toContain("--color-ink");
  expect(html).toContain("--tw-leading:initial");
  expect(html).not.toMatch(/--unused|--tw-blur|@media print|licence/);
});

test.each([true, false])(
  "a page that stands alone has the rules of paper too, and no stylesheet (its browser has one: %s)",
  async (hasStyles) => {
    const alone = page('<p class="a">x</p>').replace("<html", '<html lang="en" data-standalone=""');
    const finished = await finishPage({ html: alone, policy }, files, hasStyles);
    const inlined = /<style>(.*)<\/style>/.exec(finished.html)?.[1] ?? "";
    expect(inlined).toContain("@media print{.a{color:black}}");
    expect(inlined).toContain(".a{color:red");
    expect(inlined).not.toMatch(/\.b\{|licence/);
    expect(finished.policy).toContain(sha(inlined));
    expect(finished.html).not.toContain("<link");
    const other = await finishPage({ html: page('<p class="a">x</p>'), policy }, files, false);
    expect(other.html).not.toContain("@media print");
  },
);

test("a browser that comes from another page of ours gets the stylesheet it has", async () => {
  const { html } = await finishPage({ html: page('<p class="a">x</p>'), policy }, files, true);
  expect(html).toContain('<link rel="stylesheet" href="/assets/a.css"/>');
  expect(html).not.toContain("<style>");
});

test("the footer's place for the page's weight names the bytes of what the page loads", async () => {
  const body = '<link rel="modulepreload" href="/assets/a.js"/><span data-weight=""></span>';
  const { html } = await finishPage({ html: page(body), policy }, files, true);
  expect(html).toContain(`<span data-weight="${2048 + css.length}"></span>`);
});

test("class names in the text of a page add no rules to it", async () => {
  const once = await finishPage({ html: page('<p class="a">b .b class="b"</p>'), policy }, files, false);
  expect(once.html).not.toContain(".b{");
});

test("a build whose stylesheet is written in another way than these rules expect stops", () => {
  checkStylesheet(css);
  for (const other of [
    css.replace("/*! licence */", "/*! a * in it */"),
    css.replace("/*! licence */", ""),
    css.replace("@media print{", "@media print {"),
    css.replace("--tw-blur:initial", "--tw-blur :initial"),
  ]) {
    expect(() => checkStylesheet(other), other).toThrow("another form");
  }
});

test("a build with a rule that pages would go without stops", () => {
  const rule = ":is(.rows>*):nth-child(2n){margin:1px}";
  expect(() => checkStylesheet(css + rule)).toThrow(rule.split("{")[0]);
  checkStylesheet(`${css}.rows>li:nth-child(2n){margin:1px}`);
});
