import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { isMap, isScalar, isSeq, parse, parseDocument } from "yaml";
import { calendarDate } from "../lib/dates.ts";

/** Matches sample values, and comments that mark sample values. */
const samplePattern = /\bsample\b|mizigo|\.example\b|254 ?700 ?000 ?00/i;

const root = path.resolve(import.meta.dirname, "../..");

/** Returns lines such as "content/data/company.yaml: offices.0.phone: +254 700 000 001". */
export function findSamples(): string[] {
  return [
    ...(isPresent("content/data") ? findDataSamples() : []),
    ...(isPresent("supabase/config.toml") ? findEmailSamples("supabase/config.toml") : []),
    ...(isPresent("supabase/templates") ? findTemplateSamples() : []),
    ...(isPresent("content/blog") ? findPlaceholderArticles() : []),
  ];
}

const isPresent = (file: string) => existsSync(path.join(root, file));

function findDataSamples(): string[] {
  return readdirSync(path.join(root, "content/data")).flatMap((name) => {
    const file = `content/data/${name}`;
    const { contents } = parseDocument(readFileSync(path.join(root, file), "utf8"));
    return listSampleValues(contents, []).map((sample) => `${file}: ${sample}`);
  });
}

function listSampleValues(node: unknown, keyPath: unknown[]): string[] {
  if (isMap(node)) return node.items.flatMap(({ key, value }) => listSampleValues(value, [...keyPath, key]));
  if (isSeq(node)) return node.items.flatMap((item, index) => listSampleValues(item, [...keyPath, index]));
  const isSample = isScalar(node) && (samplePattern.test(String(node.value)) || samplePattern.test(node.comment ?? ""));
  return isSample ? [`${keyPath.join(".")}: ${node.value}`] : [];
}

function findTemplateSamples(): string[] {
  return readdirSync(path.join(root, "supabase/templates")).flatMap((name) =>
    findEmailSamples(`supabase/templates/${name}`),
  );
}

function findEmailSamples(file: string): string[] {
  return readFileSync(path.join(root, file), "utf8")
    .split("\n")
    .filter((line) => samplePattern.test(line))
    .map((line) => `${file}: ${line.replace(" = ", ": ").replaceAll('"', "")}`);
}

function findPlaceholderArticles(): string[] {
  const folder = path.join(root, "content/blog");
  return readdirSync(folder)
    .filter((name) => /^placeholder: true$/m.test(readFileSync(path.join(folder, name), "utf8")))
    .map((name) => `content/blog/${name}: write the text of this article`);
}

/** Returns a line for each figure whose check-by day is before `today`, the day in East Africa. */
export function findFiguresToCheck(today: string): string[] {
  const folders = ["content/data", "content/blog", "content/pages"].filter(isPresent);
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder)).map((name) => path.posix.join(folder, name)),
  );
  return files.flatMap((file) => {
    const text = readFileSync(path.join(root, file), "utf8");
    const yaml = file.endsWith(".mdx") ? (/^---\n(.*?)\n---/s.exec(text)?.[1] ?? "") : text;
    return listFiguresToCheck(parse(yaml), [file], today);
  });
}

function listFiguresToCheck(value: unknown, place: string[], today: string): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { check_by } = value as { check_by?: unknown };
  const line =
    typeof check_by === "string" && check_by < today
      ? [`${place.join(": ")}: the check was due on ${calendarDate(check_by)}`]
      : [];
  return [...line, ...Object.entries(value).flatMap(([key, part]) => listFiguresToCheck(part, [...place, key], today))];
}
