import { expect, test } from "vitest";
import { readTexts } from "./texts.ts";
import {
  commentPercentages,
  countByFolder,
  findReplacedWords,
  findShortTitles,
  formatHit,
  type Hit,
  readAllTexts,
  readCeilings,
} from "./words.ts";

const texts = readAllTexts();
const ceilings = readCeilings();

/** Returns the hits of each folder that exceeds its ceiling, as file:line. */
function findExcess(hits: Hit[], most: Record<string, number>): string[] {
  const counts = countByFolder(hits);
  const folders = Object.keys(counts).filter((folder) => (counts[folder] ?? 0) > (most[folder] ?? 0));
  return folders.flatMap((folder) => [
    `${folder}: ${counts[folder]} hits, at most ${most[folder] ?? 0} are allowed`,
    ...hits.filter((hit) => folder in countByFolder([hit])).map(formatHit),
  ]);
}

test("No folder has more words that docs/style.md replaces than its ceiling", () => {
  expect(findExcess(findReplacedWords(texts), ceilings.replacedWords)).toEqual([]);
});

test("No folder has more incomplete test titles than its ceiling", () => {
  expect(findExcess(findShortTitles(texts), ceilings.shortTitles)).toEqual([]);
});

test("Comments are at most 5 percent of the lines of each product folder, or at most the folder's ceiling", () => {
  const percentages = Object.entries(commentPercentages(texts));
  expect(percentages.length).toBeGreaterThan(5);
  expect(percentages.filter(([folder, percent]) => percent > (ceilings.commentPercentages[folder] ?? 5))).toEqual([]);
});

test("The reader of texts finds comments, test titles and texts of the page, and skips code", () => {
  const source = `import a from "beside alone"; // one beside
    const url = "https://example.org/"; /** Two
     * beside. */
    const text = \`three \${url} // things beside\`;
    const page = <p className="four beside">{/* five beside */} six beside</p>;
    test.each([1])("seven beside %s", () => {});
    const query = "select beside from beside";`;
  const found = findReplacedWords(readTexts("sample.tsx", source));
  expect(found.map(({ line }) => line)).toEqual([1, 3, 4, 5, 5, 6]);
  expect(findShortTitles(readTexts("sample.tsx", source))).toHaveLength(1);
});

test("The reader of texts finds comments and messages of SQL", () => {
  const source = `select 'it''s one thing -- beside' as "beside"; -- one beside
    do $$ begin raise exception 'Two things beside'; /* three
      beside */ end $$;`;
  const found = findReplacedWords(readTexts("sample.sql", source));
  expect(found.map(({ line }) => line)).toEqual([1, 1, 2, 3]);
});
