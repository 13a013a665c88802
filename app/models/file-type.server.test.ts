import { describe, expect, test } from "vitest";
import { contents, createOpenXml, joinBytes } from "../../tests/support/file-contents.ts";
import { isViewable } from "./document.ts";
import { acceptedLabels, detectFileType, FILE_TYPES, getExtension, withExtension } from "./file-type.server.ts";

type Kind = keyof typeof contents;

/**
 * Returns `fileName` with the extension of the file type of `content`, or the error message if `content` is rejected.
 */
function detectName(fileName: string, content: Uint8Array): string {
  const type = detectFileType(fileName, content);
  return "reason" in type ? type.reason : withExtension(fileName, type);
}

const accepted: [given: string, kind: Kind, stored: string][] = [
  ["invoice.pdf", "pdf", "invoice.pdf"],
  ["INVOICE.PDF", "pdf", "INVOICE.PDF"],
  ["DOC-20261101-WA0001.", "pdf", "DOC-20261101-WA0001.pdf"],
  ["invoice.pdf ", "pdf", "invoice.pdf"],
  ["invoice.pdf.jpg", "pdf", "invoice.pdf"],
  ["invoice 12.11", "pdf", "invoice 12.11.pdf"],
  [".pdf", "pdf", ".pdf"],
  ["", "pdf", "file.pdf"],
  ["scan.pdf", "pdf after a line break", "scan.pdf"],
  ["scan.pdf", "pdf after 1,019 bytes", "scan.pdf"],
  ["scan.pdf", "pdf with a later change", "scan.pdf"],
  ["scan.jpg", "jpg", "scan.jpg"],
  ["scan.jpeg", "jpg", "scan.jpeg"],
  ["scan.jpe", "jpg", "scan.jpe"],
  ["WhatsApp Image at 10.10.10.jfif", "jpg", "WhatsApp Image at 10.10.10.jfif"],
  ["scan.pjpeg", "jpg", "scan.pjpeg"],
  ["scan.pjp", "jpg", "scan.pjp"],
  ["live.jpg", "jpg with a film after its end", "live.jpg"],
  ["scan.png", "png", "scan.png"],
  ["scan.webp", "webp", "scan.webp"],
  ["supplier-invoice.jpg", "webp", "supplier-invoice.webp"],
  ["photo.heic", "heic", "photo.heic"],
  ["photo.heif", "heic", "photo.heif"],
  ["_DSC001.hif", "heic by its common brand", "_DSC001.hif"],
  ["fax.tif", "tif", "fax.tif"],
  ["fax.tiff", "tif, big-endian", "fax.tiff"],
  ["scan.tif", "tif, its directory behind 150 KiB of picture", "scan.tif"],
  ["letter.rtf", "rtf", "letter.rtf"],
  ["packing.doc", "rtf", "packing.rtf"],
  ["packing.doc", "rtf with a byte order mark", "packing.rtf"],
  ["letter.doc", "doc", "letter.doc"],
  ["list.xls", "xls", "list.xls"],
  ["letter.docx", "docx", "letter.docx"],
  ["list.xlsx", "xlsx", "list.xlsx"],
  ["list.xls.xlsx", "xlsx", "list.xls.xlsx"],
  ["list.xls", "large xlsx", "list.xlsx"],
  ["letter.odt", "odt", "letter.odt"],
  ["goods.ods", "ods", "goods.ods"],
  ["note.txt", "text", "note.txt"],
  ["run.bat", "text", "run.bat.txt"],
  ["note.txt", "text with a byte order mark", "note.txt"],
  ["list.csv", "text", "list.csv"],
  ["list.csv.", "text of Windows", "list.csv"],
  ["list.txt", "text of DOS", "list.txt"],
  ["export-tabs.xls", "text with tabs", "export-tabs.txt"],
  ["list.txt", "UTF-16 text", "list.txt"],
  ["list.csv", "UTF-16 text without a byte order mark", "list.csv"],
  ["list.txt", "big-endian UTF-16 text", "list.txt"],
];

test.each(accepted)("The file %j with the content %s is accepted under the name %j.", (given, kind, stored) => {
  expect(detectName(given, contents[kind])).toBe(stored);
  expect(detectName(stored, contents[kind])).toBe(stored);
});

test("The tests of accepted files use each file extension of FILE_TYPES.", () => {
  const tested = new Set(accepted.map(([, , stored]) => getExtension(stored)));
  expect(tested).toEqual(new Set(FILE_TYPES.flatMap(({ extensions }) => extensions)));
});

test("The list of accepted types that users see names each type once.", () => {
  expect(acceptedLabels).toBe("PDF, photo (JPG, PNG, WebP, HEIC or TIFF), Word, Excel, ODT, ODS, RTF, CSV or text");
});

test("A browser executes no file of an accepted media type. Only JPEG, PNG and WebP files are shown in the browser.", () => {
  const mediaTypes = FILE_TYPES.map(({ mediaType }) => mediaType);
  expect(mediaTypes.join()).not.toMatch(/html|svg|script|xml(,|$)|octet-stream/);
  expect(mediaTypes.filter(isViewable)).toEqual(["image/jpeg", "image/png", "image/webp"]);
});

const rejected: [what: string, text: RegExp, kinds: Kind[]][] = [
  [
    "locked",
    /^This file is locked with a password\. Save the file without a password, then choose the new file\.$/,
    ["locked xlsx", "locked doc", "locked xls", "locked ods"],
  ],
  [
    "with macros",
    /^This file can contain macros\. Save the file as \.docx, \.xlsx or PDF,/,
    ["xlsm", "xlsx with macros", "xlsb", "docm", "doc with macros", "xls with macros", "odt with macros"],
  ],
  [
    "HTML, XML or an email",
    /^We cannot accept a web page, an email or an XML file\. Save the content as \.xlsx or PDF,/,
    [
      ...(["html", "html with a doctype", "html with a byte order mark", "UTF-16 html", "svg", "xml"] as const),
      ...(["web archive", "email"] as const),
    ],
  ],
  [
    "of an unknown type",
    /^Choose a PDF, photo \(JPG, .*\), Word, .* or text file\.$/,
    [
      ...(["avif", "raw photo", "raw photo of Canon", "jar", "zip of a pdf", "pptx", "msg", "gif", "exe"] as const),
      ...(["mp4", "text with a zero byte", "UTF-16 with half a letter", "zeros"] as const),
    ],
  ],
];

test.each(rejected.flatMap(([what, text, kinds]) => kinds.map((kind) => [kind, what, text] as const)))(
  "A file with the content %s is rejected as %s under any name.",
  (kind, _what, text) => {
    for (const name of ["file", "file.html", ...FILE_TYPES.map(({ extensions }) => `file.${extensions[0]}`)])
      expect(detectName(name, contents[kind])).toMatch(text);
  },
);

test.each<Kind>(["pdf", "jpg", "png", "webp", "heic by its common brand", "rtf", "doc", "xls", "docx", "ods"])(
  "A file with the content %s but without its last quarter is rejected as incomplete.",
  (kind) => {
    const content = contents[kind];
    expect(detectName("file", content.subarray(0, (content.length * 3) / 4))).toBe(
      "This file is incomplete. Save or download the file again, then choose it.",
    );
  },
);

test("A PDF whose last incremental update is cut off is rejected as incomplete.", () => {
  expect(detectName("a.pdf", joinBytes(contents.pdf, "7 0 obj\n<<>>\nendobj\n8 0 ob"))).toMatch("incomplete");
});

test("An empty file is rejected as empty.", () => {
  expect(detectName("invoice.pdf", new Uint8Array())).toBe("This file is empty. Choose another file.");
});

test.each(["MZIGO,WEIGHT\nTea,200\n", "BMW X5, chassis 4471\n", "GIF of the seal follows\n", "<5 kg,2\n", "PK,Qty\n"])(
  "The text file %j is accepted, although its first characters are the signature of another file type.",
  (written) => {
    expect(detectName("list.csv", joinBytes(written))).toBe("list.csv");
    expect(detectName("list.xls", joinBytes(written))).toBe("list.txt");
  },
);

test.each([
  ["invoice.pdf", "pdf"],
  [" invoice.Pdf ", "pdf"],
  ["invoice.pdf.exe", "exe"],
  [".pdf", "pdf"],
  ["invoice.", ""],
  ["invoice.p df", ""],
  ["invoice.pdf\u0000", ""],
  ["v1.2/invoice", ""],
  ["x.verylongending", ""],
  ["", ""],
])("The file name %j has the extension %j.", (fileName, extension) => {
  expect(getExtension(fileName)).toBe(extension);
});

describe("Damaged ZIP and compound files", () => {
  test("A compound file whose directory refers to itself is rejected.", () => {
    const content = Buffer.from(contents.msg);
    content.writeUInt32LE(1, 1024 + 128 + 68);
    content.writeUInt32LE(1, 512 + 4);
    expect(detectName("a.doc", content)).toMatch("Choose a PDF");
  });

  test("A ZIP file whose header counts more entries than the file can contain is rejected.", async () => {
    const content = Buffer.from(await createOpenXml("x", "xl/workbook.xml"));
    const end = content.lastIndexOf("PK\u0005\u0006");
    content.writeUInt16LE(0xffff, end + 10);
    expect(detectName("a.xlsx", content)).toMatch("incomplete");
  });
});
