import { readFileSync } from "node:fs";
import path from "node:path";
import GithubSlugger from "github-slugger";
import { bundleMDX } from "mdx-bundler";
import { getMDXComponent } from "mdx-bundler/client/index.js";
import { type ComponentProps, createElement, isValidElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import remarkGfm from "remark-gfm";
import type { Plugin } from "vite";
import { parse } from "yaml";

export type Heading = { id: string; text: string };
export type CompiledMdx = { frontmatter: unknown; html: string; words: number; headings: Heading[] };

const dataFolder = path.resolve(import.meta.dirname, "../../../content/data");
const readYaml = (name: string): object => parse(readFileSync(path.join(dataFolder, `${name}.yaml`), "utf8")) as object;

export function mdxPlugin(): Plugin {
  return {
    name: "mdx",
    enforce: "pre",
    async transform(_code, id) {
      const file = id.split("?")[0] ?? id;
      if (!file.endsWith(".mdx")) return null;
      for (const name of ["company", "identifiers"]) this.addWatchFile(path.join(dataFolder, `${name}.yaml`));
      const parts = Object.entries(await compileMdx(file));
      return parts.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`).join("\n");
    },
  };
}

/** Replaces `{company.name}`, for example, by the value in company.yaml or identifiers.yaml. Throws for invalid MDX. */
export async function compileMdx(file: string): Promise<CompiledMdx> {
  const { code, frontmatter } = await bundleMDX({
    file,
    esbuildOptions: (options) => ({ ...options, logLevel: "silent" }),
    mdxOptions: (options) => ({
      ...options,
      remarkPlugins: [...(options.remarkPlugins ?? []), remarkGfm],
      rehypePlugins: [...(options.rehypePlugins ?? []), rehypeTables],
      // The content security policy forbids inline styles.
      tableCellAlignToStyle: false,
    }),
  });
  const headings: Heading[] = [];
  const company = { ...readYaml("company"), ...readYaml("identifiers") };
  const components = createElements(headings);
  const html = renderToStaticMarkup(createElement(getMDXComponent(code, { company }), { components }));
  const words = html
    .replace(/<[^>]*>/g, " ")
    .split(/\s+/)
    .filter(Boolean).length;
  return { frontmatter, html, words, headings };
}

function createElements(headings: Heading[]) {
  const slugger = new GithubSlugger();
  let count = 0;

  function h2(props: ComponentProps<"h2">) {
    const text = getReactText(props.children);
    // An id without the section's number stays valid when sections are renumbered.
    const id = slugger.slug(text.replace(/^\d+\. /, ""));
    headings.push({ id, text });
    count = 0;
    return createElement("h2", { ...props, id });
  }

  function table(props: ComponentProps<"table">) {
    count += 1;
    const name = `${headings.at(-1)?.text ?? "Table"}${count > 1 ? `, ${count}` : ""}`;
    const labelledTable = createElement("table", { ...props, "aria-label": name });
    return createElement("div", { className: "table-frame" }, labelledTable);
  }

  return { h2, table };
}

type HastNode = { tagName?: string; value?: string; properties?: Record<string, unknown>; children?: HastNode[] };

/** Adds ARIA roles, because browsers drop the native roles of tables that prose.css displays as blocks. */
function rehypeTables() {
  return (tree: HastNode) => {
    for (const table of findDescendants(tree, "table")) {
      const labels = findDescendants(table, "th").map(getNodeText);
      setProperties(table, { role: "table" });
      for (const group of table.children ?? []) if (group.tagName) setProperties(group, { role: "rowgroup" });
      for (const row of findDescendants(table, "tr")) {
        const cells = [...findDescendants(row, "th"), ...findDescendants(row, "td")];
        const isTotal = cells[0]?.children?.[0]?.tagName === "strong";
        setProperties(row, { role: "row", className: isTotal ? "total" : undefined });
        for (const [index, cell] of cells.entries()) {
          const { align } = cell.properties ?? {};
          setProperties(cell, { align: undefined, className: align ? `align-${align}` : undefined });
          if (cell.tagName === "th") setProperties(cell, { role: "columnheader", scope: "col" });
          else if (index > 0) setProperties(cell, { role: "cell", dataLabel: labels[index] });
          else setProperties(cell, { role: "rowheader", scope: "row", dataLabel: labels[index] }).tagName = "th";
        }
      }
    }
  };
}

function findDescendants(node: HastNode, tagName: string): HastNode[] {
  return (node.children ?? []).flatMap((child) =>
    child.tagName === tagName ? [child] : findDescendants(child, tagName),
  );
}

function getNodeText(node: HastNode): string {
  return node.value ?? node.children?.map(getNodeText).join("") ?? "";
}

function setProperties(node: HastNode, properties: Record<string, unknown>): HastNode {
  node.properties = { ...node.properties, ...properties };
  return node;
}

function getReactText(node: ReactNode): string {
  if (Array.isArray(node)) return node.map(getReactText).join("");
  if (isValidElement<{ children?: ReactNode }>(node)) return getReactText(node.props.children);
  return typeof node === "string" || typeof node === "number" ? String(node) : "";
}
