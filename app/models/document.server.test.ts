import { expect, test } from "vitest";
import { documentSlug, objectPath, safeFileName, toDisplayFileName } from "./document.server.ts";
import { DEFAULT_DOCUMENTS } from "./document.ts";

const document = {
  user_id: "d0000000-0000-4000-8000-000000000001",
  shipment_id: "5a000000-0000-4000-8000-000000000001",
  name: "Bill of Lading",
};

const fileNames: [string, string][] = [
  ["invoice.pdf", "invoice.pdf"],
  ['../فاتورة "1".PDF', "ftwr-1.pdf"],
  ["../../../etc/passwd", "etc-passwd"],
  ["..\\..\\windows\\system32\\cmd.exe", "windows-system32-cmd.exe"],
  ["C:\\scans\\Invoice 1.PDF", "c-scans-invoice-1.pdf"],
  ["%2e%2e%2fetc%2fpasswd", "2e-2e-2fetc-2fpasswd"],
  ["a\"b'c`d.pdf", "a-b-c-d.pdf"],
  ["line\r\nContent-Type: text/html\r\n.pdf", "line-content-type-text-html.pdf"],
  ["nul\u0000byte.pdf", "nul-byte.pdf"],
  ["发票.pdf", "fa-piao.pdf"],
  ["Договор 5.pdf", "dogovor-5.pdf"],
  ["naïve Café.docx", "naive-cafe.docx"],
  ["🚢.pdf", "file.pdf"],
  ["🚢🚢", "file"],
  ["README", "readme"],
  ["invoice.pdf.exe", "invoice-pdf.exe"],
  ["archive.tar.gz", "archive-tar.gz"],
  [".pdf", "file.pdf"],
  ["...", "file"],
  ["", "file"],
  [" \t ", "file"],
  ["-_-.pdf", "file.pdf"],
  [`${"a".repeat(300)}.pdf`, `${"a".repeat(80)}.pdf`],
  [`${"a".repeat(79)} b.pdf`, `${"a".repeat(79)}.pdf`],
];

test.each(fileNames)("The file name %j is stored as %j.", (fileName, safe) => {
  expect(safeFileName(fileName)).toBe(safe);
});

test("a safe file name is short plain ASCII without path traversal, whatever the file was called", () => {
  const odd = [
    "\u202efdp.exe",
    "אבג.pdf",
    "የማርኛ.pdf",
    "Ｆｕｌｌ.pdf",
    "e\u0301.pdf",
    "\ud800.pdf",
    "日本語".repeat(100),
    "a/".repeat(200),
  ];
  for (const fileName of [...fileNames.map(([name]) => name), ...odd]) {
    expect(safeFileName(fileName), fileName).toMatch(/^[a-z0-9](-?[a-z0-9]){0,79}(\.[a-z0-9]{1,8})?$/);
    expect(safeFileName(safeFileName(fileName)), fileName).toBe(safeFileName(fileName));
  }
});

test.each([
  ["Bill of Lading", "bill-of-lading"],
  ["Commercial Invoice", "commercial-invoice"],
  ["  IDF & Permit (2026) ", "idf-permit-2026"],
  ["T1", "t1"],
  ["فاتورة", ""],
])("the document %j begins its file's name with %j", (name, slug) => {
  expect(documentSlug(name)).toBe(slug);
});

test("no default document's slug and dash begin another's", () => {
  const beginnings = DEFAULT_DOCUMENTS.map((name) => `${documentSlug(name)}-`);
  for (const one of beginnings) expect(beginnings.filter((other) => other.startsWith(one))).toEqual([one]);
});

test("a file lies in its client's folder, in its shipment's, under its document's name, its attempt and its own", () => {
  const place = "d0000000-0000-4000-8000-000000000001/5a000000-0000-4000-8000-000000000001";
  const paths = Array.from({ length: 100 }, () => objectPath(document, "Scan 3.PDF"));
  for (const path of paths) {
    expect(path).toMatch(new RegExp(`^${place}/bill-of-lading-[0-9a-f]{12}-scan-3\\.pdf$`));
  }
  expect(new Set(paths).size).toBe(100);
});

test.each([
  ["Invoice March.PDF", "Invoice March.PDF"],
  ["فاتورة (2).pdf", "فاتورة (2).pdf"],
  ["C:\\scans\\Invoice 1.PDF", "Invoice 1.PDF"],
  ["../../etc/passwd.pdf", "passwd.pdf"],
  ["line\r\nContent-Type: text/html\r\n.pdf", "html .pdf"],
  ["a\u001b[2J\u009b1mb\u0000.pdf", "a [2J 1mb .pdf"],
  ["\u202efdp.exe\u2066.pdf", "fdp.exe .pdf"],
  ["\ud800.pdf", ".pdf"],
  ["", "file"],
  [" \t/", "file"],
  [`${"ä🚢".repeat(150)}.pdf`, `${"ä🚢".repeat(98)}.pdf`],
])("the file name %j is shown as %j", (fileName, shown) => {
  expect(toDisplayFileName(fileName)).toBe(shown);
});

test.each(fileNames)("the file name %j cannot lead out of the shipment's folder", (fileName) => {
  const [user, shipment, file, ...more] = objectPath(document, fileName).split("/");
  expect([user, shipment]).toEqual([document.user_id, document.shipment_id]);
  expect(file).toMatch(/^bill-of-lading-[a-z0-9.-]+$/);
  expect(file).not.toContain("..");
  expect(more).toEqual([]);
});
