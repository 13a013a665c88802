import { expect, test } from "vitest";
import { listFiles, readText, readTexts } from "./texts.ts";
import { commentPercentages, findReplacedWords, findShortTitles, readAllTexts } from "./words.ts";

const texts = readAllTexts();
const listHitLines = (hits: string[]) => hits.map((hit) => Number(/:(\d+)/.exec(hit)?.[1]));

test("The repository's texts contain no words that docs/style.md replaces, and test titles are whole sentences.", () => {
  expect(findReplacedWords(texts)).toEqual([]);
  expect(findShortTitles(texts)).toEqual([]);
});

test("In each folder of the product, at most 5 percent of the lines have a comment.", () => {
  const percentages = Object.entries(commentPercentages(texts));
  expect(percentages.length).toBeGreaterThan(5);
  expect(percentages.filter(([, percent]) => percent > 5)).toEqual([]);
});

test("No file has more lines than the limit for its kind of file.", () => {
  const limits: [pattern: RegExp, limit: number][] = [
    [/\.(test|spec)\.ts$/, 400],
    [/^README\.md$/, 120],
    // `npm run types` generates the file database.ts.
    [/^(app|supabase\/(local|contract))\/(?!lib\/supabase\/database\.ts)/, 250],
  ];
  const lengths = listFiles().flatMap((file) => {
    const limit = limits.find(([pattern]) => pattern.test(file))?.[1];
    return limit ? [{ file, limit, lines: readText(file).split("\n").length - 1 }] : [];
  });
  expect(lengths.length).toBeGreaterThan(300);
  expect(lengths.filter(({ limit, lines }) => lines > limit)).toEqual([]);
});

test("The function readTexts finds the comments, test titles and page texts of a script, and skips code.", () => {
  const source = `import a from "beside alone"; // one beside
    const url = "https://example.org/"; /** Two
     * beside. */
    const text = \`three \${url} // things beside\`;
    const page = <p className="four beside">{/* five beside */} six beside</p>;
    test.each([1])("seven beside %s", () => {});
    const query = "select beside from beside";`;
  const found = readTexts("sample.tsx", source);
  expect(listHitLines(findReplacedWords(found))).toEqual([1, 3, 4, 5, 5, 6]);
  expect(findShortTitles(found)).toHaveLength(1);
});

test("The function readTexts finds the comments and messages of an SQL file.", () => {
  const source = `select 'it''s one thing -- beside' as "beside"; -- one beside
    do $$ begin raise exception 'Two things beside'; /* three
      beside */ end $$;`;
  expect(listHitLines(findReplacedWords(readTexts("sample.sql", source)))).toEqual([1, 1, 2, 3]);
});

test("The function readTexts finds replaced words in the names that a script declares, and skips names of libraries.", () => {
  const source = `import { Mail, sendMail } from "mailer";
    const sentMails = sendMail.refused;
    type Props = { is_refused: boolean; MAIL_FROM: string };
    const { mail, line, email } = <Mail mail={sentMails} />;
    function useDoor(besideLine: number) {}`;
  expect(listHitLines(findReplacedWords(readTexts("sample.tsx", source)))).toEqual([2, 3, 4, 5, 5]);
});
