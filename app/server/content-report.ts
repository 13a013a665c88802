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
  const data = readFiles("content/data").flatMap(({ file, text }) =>
    listSampleValues(parseDocument(text).contents, []).map((sample) => `${file}: ${sample}`),
  );
  const emails = ["supabase", "supabase/templates"].flatMap(readFiles).flatMap(({ file, text }) => {
    const lines = text.split("\n").filter((line) => samplePattern.test(line));
    return lines.map((line) => `${file}: ${line.replace(" = ", ": ").replaceAll('"', "")}`);
  });
  const articles = readFiles("content/blog")
    .filter(({ text }) => /^placeholder: true$/m.test(text))
    .map(({ file }) => `${file}: write the text of this article`);
  return [...data, ...emails, ...articles];
}

/** Returns the files of a folder, without its subfolders. Returns an empty list if the folder is missing. */
function readFiles(folder: string): { file: string; text: string }[] {
  if (!existsSync(path.join(root, folder))) return [];
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(yaml|mdx|html|toml)$/.test(entry.name))
    .map(({ name }) => ({ file: `${folder}/${name}`, text: readFileSync(path.join(root, folder, name), "utf8") }));
}

function listSampleValues(node: unknown, keyPath: unknown[]): string[] {
  if (isMap(node)) return node.items.flatMap(({ key, value }) => listSampleValues(value, [...keyPath, key]));
  if (isSeq(node)) return node.items.flatMap((item, index) => listSampleValues(item, [...keyPath, index]));
  const isSample = isScalar(node) && (samplePattern.test(String(node.value)) || samplePattern.test(node.comment ?? ""));
  return isSample ? [`${keyPath.join(".")}: ${node.value}`] : [];
}

/** Returns a line for each figure whose check-by day is before `today`, the day in East Africa. */
export function findFiguresToCheck(today: string): string[] {
  return ["content/data", "content/blog", "content/pages"].flatMap(readFiles).flatMap(({ file, text }) => {
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
