/** Reads all texts in the repository that people read: comments, texts of the site, test titles and documents. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import postcss from "postcss";
import ts from "typescript";

export const root = path.resolve(import.meta.dirname, "../..");

/**
 * A part of a file. `text` has the length of this part, with spaces in place of code and comment signs. A "name" is the
 * declared name of a variable, function, type or property, with a space between its words.
 */
export type Text = {
  file: string;
  kind: "comment" | "string" | "title" | "document" | "name";
  line: number;
  text: string;
};

/** Returns the files that Git tracks or would add, as paths relative to the root of the repository. */
export function listFiles(): string[] {
  const options = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "-z"];
  const deleted = new Set(git("ls-files", "--deleted", "-z"));
  return git(...options).filter((file) => !deleted.has(file));
}

function git(...args: string[]): string[] {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean);
}

export function readText(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

/** Returns the first two levels of the file's folder, such as app/routes. */
export function folderName(file: string): string {
  return path.dirname(file).split("/").slice(0, 2).join("/");
}

/** Returns the texts of a file, or an empty list for a file type that people do not read. */
export function readTexts(file: string, content = readText(file)): Text[] {
  if (/\.(ts|tsx|js)$/.test(file)) return readScriptTexts(file, content);
  if (file.endsWith(".sql")) return readSqlTexts(file, content);
  if (file.endsWith(".css")) return readCssComments(file, content);
  if (/\.(md|mdx)$/.test(file))
    return [{ file, kind: "document", line: 1, text: blank(content, /```.*?```|`[^`]*`/gs) }];
  if (/\.(ya?ml|html)$/.test(file)) return [{ file, kind: "document", line: 1, text: content }];
  if (/(Dockerfile|\.ci\/run|\.toml|\.example)$/.test(file)) {
    return [{ file, kind: "comment", line: 1, text: blank(content, /^[^#\n]*$/gm) }];
  }
  return [];
}

function readScriptTexts(file: string, content: string): Text[] {
  const source = ts.createSourceFile(file, content, ts.ScriptTarget.Latest, true);
  const texts: Text[] = [];
  const add = (kind: Text["kind"], start: number, text: string) =>
    texts.push({ file, kind, line: source.getLineAndCharacterOfPosition(start).line + 1, text });
  /** Adds the comments between the positions `from` and `to`. The range must not contain literals. */
  const addComments = (from: number, to: number) => {
    if (!/\/[/*]/.test(content.slice(from, to))) return;
    const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, undefined, content, undefined, from, to - from);
    let text = "";
    for (let token = scanner.scan(); token !== ts.SyntaxKind.EndOfFileToken; token = scanner.scan()) {
      const isComment =
        token === ts.SyntaxKind.SingleLineCommentTrivia || token === ts.SyntaxKind.MultiLineCommentTrivia;
      text += blank(scanner.getTokenText(), isComment ? /^\s*\*+(?= )|^\/\/|^\/\*+|\*+\/$/gm : /./g);
    }
    if (text.trim()) add("comment", from, text);
  };
  const visit = (node: ts.Node) => {
    const text = readLiteral(node, source);
    if (text && isTestTitle(node)) add("title", node.getStart(source), text);
    else if (text && isProse(text)) add("string", node.getStart(source), text);
    if (ts.isIdentifier(node) && isDeclaredName(node)) add("name", node.getStart(source), splitName(node.text));
    let end = node.pos;
    node.forEachChild((child) => {
      addComments(end, child.pos);
      visit(child);
      end = child.end;
    });
    if (ts.isJsxText(node)) return;
    addComments(end, ts.isToken(node) ? node.getStart(source) : node.end);
  };
  visit(source);
  return texts;
}

/** True for a name that this repository chooses. False for imports, properties of libraries, and fixed names of settings. */
function isDeclaredName(node: ts.Identifier): boolean {
  const { parent } = node;
  // Other software knows the setting and the command of SMTP by these names.
  if (/^MAIL(_FROM)?$/.test(node.text)) return false;
  if (ts.isPropertyAccessExpression(parent) || ts.isJsxAttribute(parent)) return false;
  if (ts.isImportClause(parent) || ts.isImportSpecifier(parent)) return false;
  return "name" in parent && parent.name === node;
}

/** Returns the words of a name such as `sentEmails` or `sent_emails`: "sent Emails" or "sent emails". */
function splitName(name: string): string {
  return name.replaceAll("_", " ").replace(/(?<=[a-z\d])(?=[A-Z])/g, " ");
}

/** Returns the text of a literal with spaces in place of expressions, or null for literals that people do not read. */
function readLiteral(node: ts.Node, source: ts.SourceFile): string | null {
  if (ts.isJsxText(node)) return node.text;
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return null;
  const { parent } = node;
  if (ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent)) return null;
  if (ts.isJsxAttribute(parent) && parent.name.getText(source) === "className") return null;
  let text = node.getText(source).slice(1, -1);
  if (ts.isTemplateExpression(node)) {
    const start = node.getStart(source) + 1;
    for (const { expression } of node.templateSpans) {
      const [from, to] = [expression.pos - start - 2, expression.end - start + 1];
      text = text.slice(0, from) + text.slice(from, to).replace(/[^\n]/g, " ") + text.slice(to);
    }
  }
  return text;
}

/** True for texts of at least two words, except for SQL statements. */
function isProse(text: string): boolean {
  return (
    /\p{L}{2}[,;:.]? \p{L}/u.test(text) && !/^\s*(select|insert|update|delete|with|create|alter|drop|set) /.test(text)
  );
}

/** True for the first argument of test(), it() and variants such as test.each()(), but not of describe(). */
function isTestTitle(node: ts.Node): boolean {
  if (!ts.isCallExpression(node.parent) || node.parent.arguments[0] !== node) return false;
  let called: ts.Expression = node.parent.expression;
  while (ts.isCallExpression(called) || ts.isPropertyAccessExpression(called)) {
    if (
      ts.isPropertyAccessExpression(called) &&
      !/^(each|for|only|skip|fixme|skipIf|runIf|extend)$/.test(called.name.text)
    )
      return false;
    called = called.expression;
  }
  return ts.isIdentifier(called) && /^(test|it)$/.test(called.text);
}

/** Returns the comments and quoted texts of an SQL file. Function bodies between $$ are read as SQL. */
function readSqlTexts(file: string, content: string): Text[] {
  const texts: Text[] = [];
  const pieces = /--(?<line>[^\n]*)|\/\*(?<block>.*?)\*\/|'(?<string>(?:[^']|'')*)'|"[^"]*"/gs;
  for (const { index, groups = {} } of content.matchAll(pieces)) {
    const line = content.slice(0, index).split("\n").length;
    const comment = groups.line ?? groups.block;
    if (comment !== undefined) texts.push({ file, kind: "comment", line, text: comment });
    else if (groups.string && isProse(groups.string)) texts.push({ file, kind: "string", line, text: groups.string });
  }
  return texts;
}

function readCssComments(file: string, content: string): Text[] {
  const texts: Text[] = [];
  postcss.parse(content).walkComments(({ text, source }) => {
    texts.push({ file, kind: "comment", line: source?.start?.line ?? 1, text });
  });
  return texts;
}

/**
 * Replaces the characters of all matches of `pattern` with spaces. Line breaks remain, so line numbers do not change.
 */
export function blank(text: string, pattern: RegExp): string {
  return text.replace(pattern, (match) => match.replace(/[^\n]/g, " "));
}
