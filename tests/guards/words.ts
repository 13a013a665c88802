/** Finds the words that docs/style.md replaces. `npm run words` lists every place. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { folderName, listFiles, readText, readTexts, type Text } from "./texts.ts";

export type Hit = { file: string; line: number; word: string; instead: string };

/** Each word with its replacement and a pattern. The pattern finds only the meaning that docs/style.md replaces. */
const replacedWords: [word: string, pattern: RegExp, instead: string][] = [
  ["act", /\b(?:an|each|every|one|staff|this) act\b|\b(?:many|of|the) acts\b/, "action"],
  ["alone", /\balone\b/, "only"],
  [
    "answer",
    /\banswers? (?:\d{3}|null|true|false)\b|\b(?:an|its|same|the) answer (?:has|of|with)\b/,
    "response, result",
  ],
  ["at once", /\bat once\b/, "immediately, in parallel"],
  ["begun", /\bbegun\b/, "started"],
  ["beside", /\bbesides?\b/, "next to, in addition to"],
  ["brothers", /\bbrothers\b/, "related items"],
  ["colleague", /\bcolleagues?\b/, "team member"],
  ["e-mail", /\be-mails?\b/, "email"],
  ["dear", /\bdear(?:er|est)?\b/, "expensive"],
  ["door", /\bdoors?\b/, "entry point, login page"],
  ["goes on", /\b(?:go|goes|going|went) on\b/, "continues"],
  ["handle", /\b(?:a|company's|own|second|such a|this) handles?\b/, "client"],
  ["is none", /\b(?:are|is|was) none\b/, "a noun"],
  ["kept", /\b(?:keeps|kept)\b/, "cached, stored, saved"],
  ["letter", /\b(?:get|gets|send|sends|sent|write|writes|wrote)(?: an?| no| the)? letters?\b/, "email"],
  [
    "line",
    /\bline (?:breaks? (?:off|under)|broke|is (?:back|cut|gone|mended)|was cut)\b|\b(?:broken|lost|slow) lines?\b/,
    "connection",
  ],
  ["look", /\b(?:a|one) look\b/, "preview, check"],
  ["mail", /(?<!\.)\bmails?\b(?![.@])/, "email"],
  ["mended", /\b(?:mend|mended|mends)\b/, "fixed"],
  ["move", /\b(?:its|next|our|their|whose|your) move\b/, "waiting on"],
  ["notice", /\bnotices?\b/, "shipment update, announcement"],
  ["of before", /\bof before\b/, "previous"],
  ["papers", /\bpapers\b/, "documents"],
  ["press", /\bpress(?:ed|es|ing)?\b/, "click, step"],
  ["refused", /\b(?:refusals?|refuse|refused|refuses|refusing)\b/, "rejected, invalid"],
  ["room", /\brooms?\b/, "page, space"],
  ["stands", /\b(?:stands|stood)\b/, "is shown"],
  ["tell", /\b(?:tell|telling|tells|told)\b/, "notify, inform"],
  ["turn", /\b(?:its|our|their|whose|your) turn\b/, "waiting on"],
  ["what is", /\bwhat (?:is|was)\b(?![^.!?]*\?)/, "a noun"],
  ["who asks", /\bwho asks\b/, "viewer"],
];

/** The patterns, which ignore case and also match across a line break. */
const searches = replacedWords.map(([word, pattern, instead]) => {
  return { word, instead, pattern: new RegExp(pattern.source.replaceAll(" ", "\\s+"), "gi") };
});

/** Allowed phrases: a word has another meaning in the phrase, or the specification prescribes the phrase. */
const allowedPhrases =
  /\b(?:cold room|connection refused|door-to-door|(?:legal|privacy|public)[- ]notice|notice of arrival|press briefing|stands? alone|stands for|to your door)s?\b/gi;

/** Files that may contain the words: the word lists, generated files, and articles and legal pages. */
const exemptFiles =
  /^(docs\/style\.md|tests\/guards\/words\.|app\/lib\/supabase\/database\.ts|content\/(blog|pages)\/|public\/|patches\/|supabase\/migrations\/)/;

/** Returns all text that people read, except in exempt files. */
export function readAllTexts(): Text[] {
  return listFiles()
    .filter((file) => !exemptFiles.test(file))
    .flatMap((file) => readTexts(file));
}

export function findReplacedWords(texts: Text[]): Hit[] {
  return texts.flatMap((piece) => {
    const text = piece.text.replace(allowedPhrases, blank);
    return searches.flatMap(({ word, instead, pattern }) =>
      [...text.matchAll(pattern)].map(({ index }) => ({ ...placeOf(piece, index), word, instead })),
    );
  });
}

/** Returns the titles that do not start with a capital letter, a number or a quotation mark, or have fewer than four words. */
export function findShortTitles(texts: Text[]): Hit[] {
  return texts
    .filter(
      ({ kind, text }) => kind === "title" && !(/^[\p{Lu}\d"'“‘%$\s]/u.test(text) && text.split(/\s+/).length >= 4),
    )
    .map((piece) => ({ ...placeOf(piece, 0), word: piece.text, instead: "a whole sentence" }));
}

/** Returns the number of hits of each folder, sorted by folder name. */
export function countByFolder(hits: { file: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const folder of hits.map(({ file }) => folderName(file)).sort()) counts[folder] = (counts[folder] ?? 0) + 1;
  return counts;
}

/** Returns a hit as a line that starts with file:line, which editors and terminals can open. */
export function formatHit({ file, line, word, instead }: Hit): string {
  return `${file}:${line}  ${word}  (write: ${instead})`;
}

function placeOf({ file, line, text }: Text, index: number): { file: string; line: number } {
  return { file, line: line + text.slice(0, index).split("\n").length - 1 };
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

/** Returns the percentage of lines with a comment for each folder of app and supabase/local, to one decimal place. */
export function commentPercentages(texts: Text[]): Record<string, number> {
  const product = /^(app|supabase\/local)\/.*(?<!\.test)\.(ts|tsx|js|sql|css)$/;
  const lines = countByFolder(
    listFiles()
      .filter((file) => product.test(file) && !exemptFiles.test(file))
      .flatMap((file) =>
        readText(file)
          .trimEnd()
          .split("\n")
          .map(() => ({ file })),
      ),
  );
  const comments = countByFolder(
    texts
      .filter(({ file, kind }) => kind === "comment" && product.test(file))
      .flatMap(({ file, text }) =>
        text
          .split("\n")
          .filter((line) => line.trim())
          .map(() => ({ file })),
      ),
  );
  return Object.fromEntries(
    Object.entries(lines).map(([folder, total]) => [folder, Math.round((1000 * (comments[folder] ?? 0)) / total) / 10]),
  );
}

/** The ceilings of ceilings.json: per check, the most hits or the highest percentage of each folder. */
export type Ceilings = Record<"replacedWords" | "shortTitles" | "commentPercentages", Record<string, number>>;

const ceilingsFile = path.join(import.meta.dirname, "ceilings.json");

export function readCeilings(): Ceilings {
  return JSON.parse(readFileSync(ceilingsFile, "utf8"));
}

/** Lowers each ceiling to the current figure. A folder that meets the rule has no ceiling. */
function lowerCeilings(figures: Ceilings): void {
  const lowered = Object.entries(readCeilings()).map(([check, ceilings]) => {
    const today = figures[check as keyof Ceilings];
    const entries = Object.entries(ceilings).map(
      ([folder, most]) => [folder, Math.min(most, today[folder] ?? 0)] as const,
    );
    return [check, Object.fromEntries(entries.filter(([, most]) => most > (check === "commentPercentages" ? 5 : 0)))];
  });
  writeFileSync(ceilingsFile, `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`);
}

// `npm run words` prints the hits. `npm run words -- --lower` also lowers the ceilings.
if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const texts = readAllTexts();
  const words = findReplacedWords(texts);
  const titles = findShortTitles(texts);
  for (const hit of [...words, ...titles]) console.log(formatHit(hit));
  const figures = {
    replacedWords: countByFolder(words),
    shortTitles: countByFolder(titles),
    commentPercentages: commentPercentages(texts),
  };
  console.log(figures);
  if (process.argv.includes("--lower")) lowerCeilings(figures);
}
