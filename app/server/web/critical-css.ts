/**
 * Finishes a page's HTML after the framework has rendered it: puts the CSS it needs into it, replaces the nonce by
 * hashes, so that it can be cached, and notes what its files weigh.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { PurgeCSS } from "purgecss";
import type { CachedResponse } from "./cached-response.ts";

/** A finished page: its HTML and the content security policy for it. */
export type FinishedPage = { html: string; policy: string };

/** The CSS for each set of element, attribute and class names; there are few sets, as components make them. */
const cachedRules = new LRUCache<string, string>({ max: 300 });

/**
 * Finishes the HTML of a page that was rendered with a nonce in its policy. The scripts with the nonce are named by
 * hash instead, so that the bytes may be kept and yet no injected script runs. Without `hasStyles` the rules that the
 * page uses are put into it, and the stylesheet no longer blocks rendering; a browser that comes from another page of
 * the site has the stylesheet already.
 */
export async function finishPage(
  rendered: { html: string; policy: string },
  files: ReadonlyMap<string, CachedResponse>,
  hasStyles: boolean,
): Promise<FinishedPage> {
  let { html, policy } = rendered;
  const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
  if (nonce) {
    const hashes = getInlineScripts(html, nonce).map(hashSource);
    html = html.replaceAll(` nonce="${nonce}"`, "");
    policy = policy.replace(`'nonce-${nonce}'`, [...new Set(hashes)].join(" "));
  }
  html = html.replaceAll('<link rel="modulepreload"', '<link rel="modulepreload" fetchpriority="low"');
  // A page that stands alone leads to no other: the stylesheet would be bytes for nothing.
  const isAlone = /<html[^>]* data-standalone/.test(html);
  if (hasStyles && !isAlone) return { html: addFileWeights(html, files), policy };

  const sheets = [...html.matchAll(/<link[^>]* rel="stylesheet"[^>]*>|<link rel="stylesheet"[^>]*>/g)].map(
    ([tag]) => tag,
  );
  const css = await selectRules(html, sheets.map((tag) => readStylesheet(tag, files)).join(""), isAlone);
  const [first] = sheets;
  if (!first || !css) return { html: addFileWeights(html, files), policy };
  html = html.replace(first, () => `<style>${css}</style>${first}`);
  for (const tag of sheets)
    html = html.replace(tag, () => (isAlone ? "" : tag.replace("<link", '<link media="print"')));
  return {
    html: addFileWeights(html, files),
    policy: policy.replace("style-src 'self'", `style-src 'self' ${hashSource(css)}`),
  };
}

/** The contents of the inline scripts that have the nonce. */
function getInlineScripts(html: string, nonce: string): string[] {
  return html
    .split(`<script nonce="${nonce}"`)
    .slice(1)
    .map((rest) => /^([^>]*)>([\s\S]*?)<\/script>/.exec(rest))
    .flatMap((found) => (found?.[1]?.includes(" src=") ? [] : [found?.[2] ?? ""]));
}

function hashSource(content: string): string {
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}

/** The CSS behind a link; the framework ends the address with a bare `#` if a dynamic import brings the sheet too. */
function readStylesheet(tag: string, files: ReadonlyMap<string, CachedResponse>): string {
  return files.get(/ href="([^"#]+)#?"/.exec(tag)?.[1] ?? "")?.bodies.identity?.toString("utf8") ?? "";
}

/**
 * The rules of a stylesheet that a page may use, whatever its elements do later without script; with those of paper for a
 * page that has no other stylesheet.
 */
async function selectRules(html: string, css: string, isAlone: boolean): Promise<string> {
  const names = collectNames(html);
  const key = names.join(" ");
  const known = cachedRules.get(key);
  if (known !== undefined) return known;
  const [purged] = await new PurgeCSS().purge({
    content: [{ raw: key, extension: "names" }],
    css: [{ raw: css }],
    defaultExtractor: (content) => content.split(" "),
    keyframes: true,
    variables: true,
    // The drawings in public/art use the colour variables too.
    safelist: { variables: [/^--(color|art)-/] },
  });
  const all = purged?.css ?? css;
  const used = removeUnusedVariables(isAlone ? all : removePrintRules(all));
  cachedRules.set(key, used);
  return used;
}

/** Names of elements, attributes and classes, sorted: what a selector can ask for. */
function collectNames(html: string): string[] {
  const names = new Set<string>();
  for (const [, element = "", attributes = ""] of html.matchAll(/<([a-z][a-z0-9-]*)((?:\s+[^\s=>]+(?:="[^"]*")?)*)/g)) {
    names.add(element);
    for (const [, name = "", value = ""] of attributes.matchAll(/([^\s=>]+)(?:="([^"]*)")?/g)) {
      names.add(name);
      if (name === "class") for (const one of splitClassNames(value)) names.add(one);
      else if (["type", "role", "data-toast", "aria-current", "aria-invalid"].includes(name)) names.add(value);
    }
  }
  return [...names].sort();
}

/** The names of every class attribute that was read; there are few, as components write them. */
const cachedClassNames = new LRUCache<string, string[]>({ max: 2000 });

function splitClassNames(value: string): string[] {
  const known = cachedClassNames.get(value);
  if (known) return known;
  const names = unescapeHtml(value).split(/\s+/);
  cachedClassNames.set(value, names);
  return names;
}

function unescapeHtml(value: string): string {
  return value.replaceAll("&amp;", "&").replaceAll("&gt;", ">").replaceAll("&#x27;", "'").replaceAll("&quot;", '"');
}

const removePrintRules = (css: string) => css.replace(/@media print\{(?:[^{}]+\{[^{}]*\})*\}/g, "");

/** Removes the licence, and the initial values of Tailwind's variables that no remaining rule uses. */
function removeUnusedVariables(css: string): string {
  const isRead = (name: string) => css.includes(`var(${name}`);
  return css
    .replace(/^\/\*![^*]*\*\/\s*/, "")
    .replace(/(--tw-[\w-]+):[^;{}]*(;|(?=\}))/g, (declaration, name: string) => (isRead(name) ? declaration : ""));
}

/**
 * Throws when withoutUnread() and withoutPaper() would no longer recognize what they remove from this stylesheet of the
 * build, because Tailwind or its minifier writes it in another way; and for a selector that PurgeCSS removes although
 * elements match it, as it takes the argument of a :nth-child() after :is() for a name.
 */
export function checkStylesheet(css: string): void {
  const [lost] = /:is\([^{},]*\):nth-[^{}]*/.exec(css) ?? [];
  if (lost) throw new Error(`A page would have no rules for ${lost}: write its variant as [&>li:nth-child(…)]`);
  const left = removeUnusedVariables(removePrintRules(css.replaceAll("var(", "(")));
  for (const part of [/\/\*!/, /@media print\s*\{/, /--tw-[\w-]+\s*:/]) {
    if (part.test(css) && !part.test(left)) continue;
    throw new Error(`The stylesheet has another form now: look at ${part} in app/server/web/critical-css.ts`);
  }
}

/** Notes in the footer how many bytes the page's script and pictures have; its own are known when it is compressed. */
function addFileWeights(html: string, files: ReadonlyMap<string, CachedResponse>): string {
  const addresses = new Set([...html.matchAll(/"(\/(?:assets|art)\/[^"#]+)/g)].map(([, address = ""]) => address));
  const bytes = [...addresses].reduce((sum, address) => {
    const bodies = files.get(address)?.bodies;
    return sum + ((bodies?.br ?? bodies?.identity)?.length ?? 0);
  }, 0);
  return html.replace(' data-weight=""></', ` data-weight="${bytes}"></`);
}
