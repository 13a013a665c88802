/** npm run content: every sample value that the real company still has to replace, one per line. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";

/** Sample values look like samples: one of these marks is in each of them. */
const marks = /\bsample\b|mizigo|\.example\b|254 ?700 ?000 ?00/i;

const root = path.resolve(import.meta.dirname, "../..");
const lines = [...dataSamples(), ...placeholderArticles()];
console.log(lines.join("\n"));
console.log(
  `\n${lines.length} values to replace. The texts of services, FAQ and About are samples too: read them once.`,
);

function dataSamples(): string[] {
  return readdirSync(path.join(root, "content/data")).flatMap((name) => {
    const file = `content/data/${name}`;
    return samplesIn(parse(readFileSync(path.join(root, file), "utf8")), []).map(
      ([place, value]) => `${file}: ${place}: ${value}`,
    );
  });
}

/** The sample values below a node with their places, such as `offices.0.phone`. */
function samplesIn(node: unknown, place: string[]): [string, string][] {
  if (node !== null && typeof node === "object") {
    return Object.entries(node).flatMap(([key, value]) => samplesIn(value, [...place, key]));
  }
  return typeof node === "string" && marks.test(node) ? [[place.join("."), node]] : [];
}

function placeholderArticles(): string[] {
  const folder = path.join(root, "content/blog");
  return readdirSync(folder)
    .filter((name) => /^placeholder: true$/m.test(readFileSync(path.join(folder, name), "utf8")))
    .map((name) => `content/blog/${name}: the body is still to be written`);
}
