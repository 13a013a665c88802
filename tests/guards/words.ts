/** Finds the words that docs/style.md replaces. `npm run words` lists every occurrence. */
import process from "node:process";
import { pathToFileURL } from "node:url";
import { blank, folderName, listFiles, readText, readTexts, type Text } from "./texts.ts";

/** Words to avoid. Each pattern matches a word only in the meaning that docs/style.md forbids. */
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

/** The words that are wrong in every name in code. Other words, such as "line", have a valid meaning in some names. */
const wordsForbiddenInNames = new Set([
  ...["begun", "beside", "brothers", "colleague", "dear", "door", "e-mail", "kept", "mail", "mended", "papers"],
  ...["refused", "stands", "tell"],
]);

/** The words with patterns that ignore case and match across line breaks. */
const searches = replacedWords.map(([word, pattern, instead]) => {
  return { word, instead, pattern: new RegExp(pattern.source.replaceAll(" ", "\\s+"), "gi") };
});

/**
 * Phrases that may contain a word to avoid, because the word has another meaning there or the specification prescribes
 * the phrase.
 */
const allowedPhrases =
  /\b(?:cold room|connection refused|door-to-door|(?:legal|privacy|public)[- ]notice|notice of arrival|press briefing|stands? alone|stands for|to your door)s?\b/gi;

/** Files that may contain the words: lists of these words, generated files and legal pages. */
const exemptFiles =
  /^(docs\/style\.md|tests\/guards\/words\.|app\/lib\/supabase\/database\.ts|content\/pages\/|public\/|patches\/|supabase\/migrations\/)/;

/** Returns all texts that people read, except those in exempt files. */
export function readAllTexts(): Text[] {
  return listFiles()
    .filter((file) => !exemptFiles.test(file))
    .flatMap((file) => readTexts(file));
}

/** Returns one line for each occurrence of a word that docs/style.md replaces. The line starts with file:line. */
export function findReplacedWords(texts: Text[]): string[] {
  return texts.flatMap((piece) => {
    const text = blank(piece.text, allowedPhrases);
    return searches
      .filter(({ word }) => piece.kind !== "name" || wordsForbiddenInNames.has(word))
      .flatMap(({ word, instead, pattern }) =>
        [...text.matchAll(pattern)].map(({ index }) => formatHit(piece, index, word, instead)),
      );
  });
}

/**
 * Returns the test titles with fewer than four words or without a capital letter, number or quotation mark at the
 * start.
 */
export function findShortTitles(texts: Text[]): string[] {
  return texts
    .filter(
      ({ kind, text }) => kind === "title" && !(/^[\p{Lu}\d"'“‘%$\s]/u.test(text) && text.split(/\s+/).length >= 4),
    )
    .map((piece) => formatHit(piece, 0, piece.text, "a whole sentence"));
}

/** Returns a hit as a line that starts with file:line, which editors and terminals can open. */
function formatHit({ file, line, text }: Text, index: number, word: string, instead: string): string {
  return `${file}:${line + text.slice(0, index).split("\n").length - 1}  ${word}  (write: ${instead})`;
}

/** Returns the percentage of lines with a comment for each folder of app and supabase/local, to one decimal place. */
export function commentPercentages(texts: Text[]): Record<string, number> {
  const product = /^(app|supabase\/local)\/.*(?<!\.test)\.(ts|tsx|js|sql|css)$/;
  const isProduct = ({ file }: { file: string }) => product.test(file) && !exemptFiles.test(file);
  const files = listFiles().filter((file) => isProduct({ file }));
  const lines = countLines(files.map((file) => ({ file, text: readText(file).trimEnd() })));
  const comments = countLines(
    texts.filter((text) => text.kind === "comment" && isProduct(text)),
    /\S/,
  );
  return Object.fromEntries(
    Object.entries(lines).map(([folder, total]) => [folder, Math.round((1000 * (comments[folder] ?? 0)) / total) / 10]),
  );
}

/** Returns the number of lines that match `pattern`, by folder. */
function countLines(texts: { file: string; text: string }[], pattern = /^/): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { file, text } of texts) {
    const folder = folderName(file);
    counts[folder] = (counts[folder] ?? 0) + text.split("\n").filter((line) => pattern.test(line)).length;
  }
  return counts;
}

// `npm run words` prints the found words, and the percentage of lines with comments in each folder.
if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const texts = readAllTexts();
  for (const hit of [...findReplacedWords(texts), ...findShortTitles(texts)]) console.log(hit);
  console.log(commentPercentages(texts));
}
