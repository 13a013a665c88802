import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { isMap, isScalar, isSeq, parseDocument } from "yaml";
import { calendarDate } from "../lib/dates.ts";

/** Matches sample values, and comments that mark sample values. */
const samplePattern = /\bsample\b|mizigo|\.example\b|254 ?700 ?000 ?00/i;

const isoDayPattern = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

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

const listFiles = (folder: string) =>
  readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(yaml|mdx|html)$/.test(entry.name))
    .map(({ name }) => `${folder}/${name}`);

const isPresent = (file: string) => existsSync(path.join(root, file));

function findDataSamples(): string[] {
  return listFiles("content/data").flatMap((file) => {
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
  return listFiles("supabase/templates").flatMap(findEmailSamples);
}

function findEmailSamples(file: string): string[] {
  return readFileSync(path.join(root, file), "utf8")
    .split("\n")
    .filter((line) => samplePattern.test(line))
    .map((line) => `${file}: ${line.replace(" = ", ": ").replaceAll('"', "")}`);
}

function findPlaceholderArticles(): string[] {
  return listFiles("content/blog")
    .filter((file) => /^placeholder: true$/m.test(readFileSync(path.join(root, file), "utf8")))
    .map((file) => `${file}: write the text of this article`);
}

/** Returns a line for each figure whose check-by day is before `today`, the day in East Africa. */
export function findFiguresToCheck(today: string): string[] {
  const folders = ["content/data", "content/blog", "content/pages"].filter(isPresent);
  return folders.flatMap(listFiles).flatMap((file) => {
    const text = readFileSync(path.join(root, file), "utf8");
    const yaml = file.endsWith(".mdx") ? (/^---\n(.*?)\n---/s.exec(text)?.[1] ?? "") : text;
    return listFiguresToCheck(parseDocument(yaml).contents, [file], today);
  });
}

function listFiguresToCheck(node: unknown, place: string[], today: string): string[] {
  if (isSeq(node)) return node.items.flatMap((item, index) => listFiguresToCheck(item, [...place, `${index}`], today));
  if (!isMap(node)) return [];
  const day = node.get("check_by");
  const line =
    typeof day === "string" && isoDayPattern.test(day) && day < today
      ? [`${place.join(": ")}: the check of this figure was due on ${calendarDate(day)}`]
      : [];
  return [...line, ...node.items.flatMap(({ key, value }) => listFiguresToCheck(value, [...place, `${key}`], today))];
}
