import { expect, test } from "vitest";
import { describeDocument, documentSlug, objectPath, safeFileName, toDisplayFileName } from "./document.server.ts";
import { DEFAULT_DOCUMENTS } from "./document.ts";
import type { FileType } from "./file-type.server.ts";

const document = {
  user_id: "d0000000-0000-4000-8000-000000000001",
  shipment_id: "5a000000-0000-4000-8000-000000000001",
  name: "Bill of Lading",
};

const fileNames: [string, string][] = [
  ["invoice.pdf", "invoice.pdf"],
  ['../فاتورة "1".PDF', "ftwr-1.pdf"],
  ["../../../etc/passwd", "etc-passwd"],
  ["C:\\scans\\Invoice 1.PDF", "c-scans-invoice-1.pdf"],
  ["%2e%2e%2fetc%2fpasswd", "2e-2e-2fetc-2fpasswd"],
  ["a\"b'c`d.pdf", "a-b-c-d.pdf"],
  ["line\r\nContent-Type: text/html\r\n.pdf", "line-content-type-text-html.pdf"],
  ["发票.pdf", "fa-piao.pdf"],
  ["Договор 5.pdf", "dogovor-5.pdf"],
  ["naïve Café.docx", "naive-cafe.docx"],
  ["🚢.pdf", "file.pdf"],
  ["README", "readme"],
  ["invoice.pdf.exe", "invoice-pdf.exe"],
  [".pdf", "file.pdf"],
  ["", "file"],
  ["-_-.pdf", "file.pdf"],
  [`${"a".repeat(300)}.pdf`, `${"a".repeat(80)}.pdf`],
  [`${"a".repeat(79)} b.pdf`, `${"a".repeat(79)}.pdf`],
];

test.each(fileNames)("An uploaded file with the name %j gets the safe name %j.", (fileName, safe) => {
  expect(safeFileName(fileName)).toBe(safe);
});

const oddNames = [
  ...["\u202efdp.exe", "אבג.pdf", "የማርኛ.pdf", "Ｆｕｌｌ.pdf", "e\u0301.pdf", "\ud800.pdf"],
  ...["日本語".repeat(100), "a/".repeat(200)],
];
test.each([...fileNames.map(([name]) => name), ...oddNames])(
  "An uploaded file with the name %j is stored in the shipment's folder under a short ASCII name.",
  (fileName) => {
    const safe = safeFileName(fileName);
    expect(safe).toMatch(/^[a-z0-9](-?[a-z0-9]){0,79}(\.[a-z0-9]{1,8})?$/);
    expect(safeFileName(safe)).toBe(safe);
    const [user, shipment, file, ...more] = objectPath(document, fileName).split("/");
    expect([user, shipment, more]).toEqual([document.user_id, document.shipment_id, []]);
    expect(file).toMatch(/^bill-of-lading-[0-9a-f]{12}-/);
    expect(file?.slice("bill-of-lading-".length + 13)).toBe(safe);
  },
);

test.each([
  ["Bill of Lading", "bill-of-lading"],
  ["Commercial Invoice", "commercial-invoice"],
  ["  IDF & Permit (2026) ", "idf-permit-2026"],
  ["T1", "t1"],
  ["فاتورة", ""],
])("The document %j has the slug %j.", (name, slug) => {
  expect(documentSlug(name)).toBe(slug);
});

test("No slug of a default document is the beginning of another default document's slug.", () => {
  const slugs = DEFAULT_DOCUMENTS.map((name) => `${documentSlug(name)}-`);
  for (const slug of slugs) expect(slugs.filter((text) => text.startsWith(slug))).toEqual([slug]);
});

test("Each upload of the same file gets a new storage path.", () => {
  const paths = Array.from({ length: 100 }, () => objectPath(document, "Scan 3.PDF"));
  expect(new Set(paths).size).toBe(100);
});

const pdf: FileType = { label: "PDF", extensions: ["pdf"], mediaType: "application/pdf", signatures: [] };

test.each([
  ["فاتورة (2).pdf", "فاتورة (2).pdf"],
  ["C:\\scans\\Invoice 1.PDF", "Invoice 1.PDF"],
  ["../../etc/passwd.pdf", "passwd.pdf"],
  ["line\r\nContent-Type: text/html\r\n.pdf", "html .pdf"],
  ["a\u001b[2J\u009b1mb\u0000.pdf", "a[2J1mb.pdf"],
  ["\u202efdp.exe\u2066.pdf", "fdp.exe.pdf"],
  ["\ud800.pdf", ".pdf"],
  ["", "file.pdf"],
  ["scan.jpg", "scan.pdf"],
  ["a".repeat(200), `${"a".repeat(196)}.pdf`],
  [`${"ä🚢".repeat(150)}.pdf`, `${"ä🚢".repeat(98)}.pdf`],
])("A PDF named %j is displayed as %j.", (fileName, shown) => {
  expect(toDisplayFileName(fileName, pdf)).toBe(shown);
});

const unsent = {
  ...{ rejected_at: null, rejection_reason: null, file_name: null, file_size: null, uploaded_at: null },
  ...{ added_from: null, added_note: null },
};

test.each([
  ["whatsapp", null, "Added by us on 12 May 2025 (from WhatsApp)"],
  ["email", "Page 2 follows", "Added by us on 12 May 2025 (from email). Note: Page 2 follows"],
  ["paper", null, "Added by us on 12 May 2025 (from paper)"],
  [null, null, ""],
] as const)("For a file that came by %j with the note %j, the client sees %j.", (added_from, added_note, words) => {
  const uploaded_at = "2025-05-12T09:00:00Z";
  const file = { file_name: "list.pdf", file_size: 2048, uploaded_at, added_from, added_note };
  const described = describeDocument(
    { ...unsent, id: "1", name: "List", uploaded: true, verified: false, ...file },
    "2",
  );
  const facts = "list.pdf, 2 KB, 12 May 2025, 12:00\u00a0EAT";
  expect(described.file).toBe([facts, words].filter(Boolean).join(". "));
});

test.each(DEFAULT_DOCUMENTS)("One whole sentence explains the %s in every state of the document.", (name) => {
  const sentences = [
    { uploaded: false, verified: false },
    { uploaded: true, verified: false },
    { uploaded: true, verified: true },
    { uploaded: false, verified: false, rejected_at: "2026-05-12T09:00:00Z", rejection_reason: "Blurred" },
  ].map((state) => describeDocument({ ...unsent, id: "1", name, ...state }, "2").about);
  expect(new Set(sentences).size).toBe(1);
  expect(sentences[0]).toMatch(new RegExp(`^The ${name}\\b[^.!?:;]* (is|lists|names|proves) [^.!?:;]+\\.$`, "i"));
});
