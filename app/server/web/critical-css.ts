import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { PurgeCSS } from "purgecss";
import type { CachedResponse } from "./cached-response.ts";

export type FinishedPage = { html: string; policy: string };

type SelectedRules = { css: string; hash: string };

const cachedRules = new LRUCache<string, SelectedRules>({ max: 300 });

/** Replaces the nonce with hashes, so that the page can be cached. If `hasStyles` is false, inlines the page's CSS. */
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
  // A standalone page links to no other page, so the page does not need the whole stylesheet.
  const isStandalone = /<html[^>]* data-standalone/.test(html);
  if (hasStyles && !isStandalone) return { html: addFileWeights(html, files), policy };

  const sheets = [...html.matchAll(/<link[^>]* rel="stylesheet"[^>]*>|<link rel="stylesheet"[^>]*>/g)].map(
    ([tag]) => tag,
  );
  const { css, hash } = await selectRules(html, sheets.map((tag) => readStylesheet(tag, files)).join(""), isStandalone);
  const [firstSheet] = sheets;
  if (!firstSheet || !css) return { html: addFileWeights(html, files), policy };
  html = html.replace(firstSheet, () => `<style>${css}</style>${firstSheet}`);
  for (const tag of sheets)
    html = html.replace(tag, () => (isStandalone ? "" : tag.replace("<link", '<link media="print"')));
  return {
    html: addFileWeights(html, files),
    policy: policy.replace("style-src 'self'", `style-src 'self' ${hash}`),
  };
}

function getInlineScripts(html: string, nonce: string): string[] {
  return html
    .split(`<script nonce="${nonce}"`)
    .slice(1)
    .map((rest) => /^([^>]*)>([\s\S]*?)<\/script>/.exec(rest))
    .flatMap((match) => (match?.[1]?.includes(" src=") ? [] : [match?.[2] ?? ""]));
}

function hashSource(content: string): string {
  return `'sha256-${createHash("sha256").update(content).digest("base64")}'`;
}

/** React Router adds an empty `#` to the URL of a stylesheet that a dynamic import loads too. */
function readStylesheet(tag: string, files: ReadonlyMap<string, CachedResponse>): string {
  return files.get(/ href="([^"#]+)#?"/.exec(tag)?.[1] ?? "")?.bodies.identity?.toString("utf8") ?? "";
}

/** Returns the CSS rules that the page may need, with print rules only for a standalone page. */
async function selectRules(html: string, css: string, isStandalone: boolean): Promise<SelectedRules> {
  const names = collectNames(html);
  const key = names.join(" ");
  const cached = cachedRules.get(key);
  if (cached) return cached;
  const [purged] = await new PurgeCSS().purge({
    content: [{ raw: key, extension: "names" }],
    css: [{ raw: css }],
    defaultExtractor: (content) => content.split(" "),
    keyframes: true,
    variables: true,
    // The drawings in public/art also use the colour variables.
    safelist: { variables: [/^--(color|art)-/] },
  });
  const all = purged?.css ?? css;
  const used = removeUnusedVariables(isStandalone ? all : removePrintRules(all));
  const rules = { css: used, hash: hashSource(used) };
  cachedRules.set(key, rules);
  return rules;
}

function collectNames(html: string): string[] {
  const names = new Set<string>();
  for (const tag of new Set(html.match(/<[a-z][a-z0-9-]*(?:\s+[^\s=>]+(?:="[^"]*")?)*/g)))
    for (const name of getTagNames(tag)) names.add(name);
  return [...names].sort();
}

/** Caches the names of classes and attributes by tag, because the pages of a route share most of their tags. */
const cachedTagNames = new LRUCache<string, string[]>({ max: 5000 });
const maxCachedTag = 1000;

function getTagNames(tag: string): string[] {
  const cachedNames = cachedTagNames.get(tag);
  if (cachedNames) return cachedNames;
  // The cache gets a copy, because V8 stores a part of a string as a reference to the whole string.
  const ownTag = Buffer.from(tag).toString();
  const [element = ""] = /^<[a-z0-9-]+/.exec(ownTag) ?? [];
  const names = [element.slice(1)];
  for (const [, name = "", value = ""] of ownTag.slice(element.length).matchAll(/([^\s=>]+)(?:="([^"]*)")?/g)) {
    names.push(name);
    if (name === "class") names.push(...unescapeHtml(value).split(/\s+/));
    else if (["type", "role", "data-toast", "aria-current", "aria-invalid"].includes(name)) names.push(value);
  }
  if (ownTag.length <= maxCachedTag) cachedTagNames.set(ownTag, names);
  return names;
}

function unescapeHtml(value: string): string {
  return value.replaceAll("&amp;", "&").replaceAll("&gt;", ">").replaceAll("&#x27;", "'").replaceAll("&quot;", '"');
}

const removePrintRules = (css: string) => css.replace(/@media print\{(?:[^{}]+\{[^{}]*\})*\}/g, "");

/** Removes the licence comment and the declarations of unused Tailwind variables (--tw-…). */
function removeUnusedVariables(css: string): string {
  const isUsed = (name: string) => css.includes(`var(${name}`);
  return css
    .replace(/^\/\*![^*]*\*\/\s*/, "")
    .replace(/(--tw-[\w-]+):[^;{}]*(;|(?=\}))/g, (declaration, name: string) => (isUsed(name) ? declaration : ""));
}

/** Throws if Tailwind's output no longer matches the patterns in this file, or if PurgeCSS would drop a used rule. */
export function checkStylesheet(css: string): void {
  const [lostRule] = /:is\([^{},]*\):nth-[^{}]*/.exec(css) ?? [];
  if (lostRule)
    throw new Error(`PurgeCSS would drop the rules of ${lostRule}. Write the variant as [&>li:nth-child(…)]`);
  const remaining = removeUnusedVariables(removePrintRules(css.replaceAll("var(", "(")));
  for (const part of [/\/\*!/, /@media print\s*\{/, /--tw-[\w-]+\s*:/]) {
    if (part.test(css) && !part.test(remaining)) continue;
    throw new Error(
      `The format of the stylesheet has changed. Check the pattern ${part} in app/server/web/critical-css.ts`,
    );
  }
}

function addFileWeights(html: string, files: ReadonlyMap<string, CachedResponse>): string {
  const addresses = new Set([...html.matchAll(/"(\/(?:assets|art)\/[^"#]+)/g)].map(([, address = ""]) => address));
  const bytes = [...addresses].reduce((sum, address) => {
    const bodies = files.get(address)?.bodies;
    return sum + ((bodies?.br ?? bodies?.identity)?.length ?? 0);
  }, 0);
  return html.replace(' data-weight=""></', ` data-weight="${bytes}"></`);
}
