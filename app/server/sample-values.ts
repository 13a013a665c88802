/** What the real company still has to replace: found in the content's own files, which lie beside the build. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { isMap, isScalar, isSeq, parseDocument } from "yaml";

/** Every sample value matches this pattern, or has a comment that does (`# sample`). */
const samplePattern = /\bsample\b|mizigo|\.example\b|254 ?700 ?000 ?00/i;

const root = path.resolve(import.meta.dirname, "../..");

/**
 * Every sample value with its file and place, such as "content/data/company.yaml: offices.0.phone: +254 700 000 001"; none
 * where the build came without its content.
 */
export function findSamples(): string[] {
  return [
    ...(isPresent("content/data") ? findDataSamples() : []),
    ...(isPresent("supabase/config.toml") ? findEmailSamples() : []),
    ...(isPresent("content/blog") ? findPlaceholderArticles() : []),
  ];
}

const isPresent = (place: string) => existsSync(path.join(root, place));

function findDataSamples(): string[] {
  return readdirSync(path.join(root, "content/data")).flatMap((name) => {
    const file = `content/data/${name}`;
    const { contents } = parseDocument(readFileSync(path.join(root, file), "utf8"));
    return listSampleValues(contents, []).map((found) => `${file}: ${found}`);
  });
}

/** The sample values below a node with their places, such as `offices.0.phone`. */
function listSampleValues(node: unknown, place: unknown[]): string[] {
  if (isMap(node)) return node.items.flatMap(({ key, value }) => listSampleValues(value, [...place, key]));
  if (isSeq(node)) return node.items.flatMap((item, index) => listSampleValues(item, [...place, index]));
  const isSample = isScalar(node) && (samplePattern.test(String(node.value)) || samplePattern.test(node.comment ?? ""));
  return isSample ? [`${place.join(".")}: ${node.value}`] : [];
}

/** Sample values of supabase/config.toml, where the Supabase CLI reads the sender of the mails. */
function findEmailSamples(): string[] {
  const file = "supabase/config.toml";
  return readFileSync(path.join(root, file), "utf8")
    .split("\n")
    .filter((line) => samplePattern.test(line))
    .map((line) => `${file}: ${line.replace(" = ", ": ").replaceAll('"', "")}`);
}

function findPlaceholderArticles(): string[] {
  const folder = path.join(root, "content/blog");
  return readdirSync(folder)
    .filter((name) => /^placeholder: true$/m.test(readFileSync(path.join(folder, name), "utf8")))
    .map((name) => `content/blog/${name}: the body is still to be written`);
}
