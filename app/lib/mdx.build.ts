/** Compiles content/*.mdx to HTML when the site is built, so that no request has to. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { bundleMDX } from "mdx-bundler";
import { getMDXComponent } from "mdx-bundler/client/index.js";
import { type ComponentProps, createElement, isValidElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import remarkGfm from "remark-gfm";
import type { Plugin } from "vite";
import { parse } from "yaml";

export type Heading = { id: string; text: string };
export type Compiled = { frontmatter: unknown; html: string; words: number; headings: Heading[] };

const data = path.resolve(import.meta.dirname, "../../content/data");
const yaml = (name: string): object => parse(readFileSync(path.join(data, `${name}.yaml`), "utf8")) as object;

/** A Vite plugin: importing an .mdx file gives what `compileMdx` returns, each part under its name. */
export function mdx(): Plugin {
  return {
    name: "mdx",
    enforce: "pre",
    async transform(_code, id) {
      const file = id.split("?")[0] ?? id;
      if (!file.endsWith(".mdx")) return null;
      for (const name of ["company", "identifiers"]) this.addWatchFile(path.join(data, `${name}.yaml`));
      const parts = Object.entries(await compileMdx(file));
      return parts.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`).join("\n");
    },
  };
}

/**
 * Compiles an .mdx file to its `frontmatter`, unchecked, `html`, `words`, the length of its text, and the `headings` of
 * its sections. The text may use `{company.…}`: content/data/company.yaml and identifiers.yaml together. Rejects when
 * the file is no MDX.
 */
export async function compileMdx(file: string): Promise<Compiled> {
  const { code, frontmatter } = await bundleMDX({
    file,
    // What is wrong with a text is in the error; esbuild would print it a second time.
    esbuildOptions: (options) => ({ ...options, logLevel: "silent" }),
    mdxOptions: (options) => ({
      ...options,
      remarkPlugins: [...(options.remarkPlugins ?? []), remarkGfm],
      // The content security policy knows no inline styles: columns are aligned by class.
      tableCellAlignToStyle: false,
    }),
  });
  const headings: Heading[] = [];
  const company = { ...yaml("company"), ...yaml("identifiers") };
  const components = elements(headings);
  const html = renderToStaticMarkup(createElement(getMDXComponent(code, { company }), { components }));
  const words = html
    .replace(/<[^>]*>/g, " ")
    .split(/\s+/)
    .filter(Boolean).length;
  return { frontmatter, html, words, headings };
}

/** The elements that need more than Markdown gives them. Fills `headings` in the order of the text. */
function elements(headings: Heading[]) {
  const taken = new Set<string>();
  let tables = 0;

  function h2(props: ComponentProps<"h2">) {
    const text = textOf(props.children);
    const id = uniqueId(text, taken);
    headings.push({ id, text });
    tables = 0;
    return createElement("h2", { ...props, id });
  }

  /** A table scrolls inside its own frame, which the keyboard reaches and a screen reader can name. */
  function table(props: ComponentProps<"table">) {
    tables += 1;
    const name = `Table: ${headings.at(-1)?.text ?? ""}${tables > 1 ? `, ${tables}` : ""}`;
    const frame = { className: "table-frame", role: "region", "aria-label": name, tabIndex: 0 };
    return createElement("div", frame, createElement("table", props));
  }

  const th = ({ align, ...props }: ComponentProps<"th">) =>
    createElement("th", { ...props, scope: "col", className: align && `align-${align}` });
  const td = ({ align, ...props }: ComponentProps<"td">) =>
    createElement("td", { ...props, className: align && `align-${align}` });

  return { h2, table, th, td };
}

/** An id that nothing in `taken` has, from a heading's words without its number: `who-we-are` for "1. Who we are". */
function uniqueId(text: string, taken: Set<string>): string {
  const words = text.toLowerCase().replace(/^\d+\. /, "");
  const id = words.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "section";
  let unique = id;
  for (let count = 2; taken.has(unique); count += 1) unique = `${id}-${count}`;
  taken.add(unique);
  return unique;
}

function textOf(node: ReactNode): string {
  if (Array.isArray(node)) return node.map(textOf).join("");
  if (isValidElement<{ children?: ReactNode }>(node)) return textOf(node.props.children);
  return typeof node === "string" || typeof node === "number" ? String(node) : "";
}
