import { makeZip } from "client-zip";
import { expect, test } from "vitest";
import { acceptedExtensions } from "./document.ts";
import { detectMediaType, FILE_TYPES } from "./document-file.server.ts";

const text = (content: string) => new TextEncoder().encode(content);
const bytes = (...parts: (number[] | string)[]) =>
  new Uint8Array(parts.flatMap((part) => (typeof part === "string" ? [...text(part)] : part)));

const content = {
  pdf: bytes("%PDF-1.7\n", [0x25, 0xe2, 0xe3, 0xcf, 0xd3], "\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"),
  jpg: bytes([0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10], "JFIF", [0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0xff, 0xd9]),
  png: bytes(
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13],
    "IHDR",
    [0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 10],
    "IDAT",
    [0x78, 0x9c, 0x63, 0, 1, 0, 0, 5, 0, 1, 0x0d, 0x0a, 0x2d, 0xb4, 0, 0, 0, 0],
    "IEND",
    [0xae, 0x42, 0x60, 0x82],
  ),
  webp: bytes(
    "RIFF",
    [26, 0, 0, 0],
    "WEBPVP8L",
    [13, 0, 0, 0, 0x2f, 0, 0, 0, 0x10, 7, 0x10, 0x11, 0x11, 0x88, 0x88, 0xfe, 7, 0],
  ),
  heic: bytes([0, 0, 0, 24], "ftypheic", [0, 0, 0, 0], "mif1heic", [0, 0, 0, 8], "mdat"),
  "heic by its common brand": bytes([0, 0, 0, 24], "ftypmif1", [0, 0, 0, 0], "mif1heic", [0, 0, 0, 8], "mdat"),
  avif: bytes([0, 0, 0, 24], "ftypavif", [0, 0, 0, 0], "avifmif1", [0, 0, 0, 8], "mdat"),
  tif: bytes("II", [42, 0, 8, 0, 0, 0, 1, 0, 0, 1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
  "tif, its directory behind 150 KiB of picture": bytes(
    "II",
    [42, 0, 0x08, 0x58, 0x02, 0],
    Array(150 * 1024).fill(0xff),
    [1, 0, 0, 1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
  ),
  "tif, big-endian": bytes("MM", [0, 42, 0, 0, 0, 8, 0, 1, 1, 0, 0, 3, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]),
  rtf: bytes("{\\rtf1\\ansi Karibu}"),
  "old Office": bytes([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], new Array(504).fill(0)),
  docx: await zip({ "[Content_Types].xml": contentTypes("wordprocessingml.document"), "word/document.xml": "<w/>" }),
  xlsx: await zip({ "[Content_Types].xml": contentTypes("spreadsheetml.sheet"), "xl/workbook.xml": "<w/>" }),
  odt: await zip({ mimetype: "application/vnd.oasis.opendocument.text", "content.xml": "<o/>" }),
  ods: await zip({ mimetype: "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<o/>" }),
  jar: await zip({ "META-INF/MANIFEST.MF": "Manifest-Version: 1.0", "Main.class": "x" }),
  gif: bytes("GIF89a", [1, 0, 1, 0, 0, 0, 0, 0x3b]),
  exe: bytes("MZ", [0x90, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0xff, 0xff, 0, 0]),
  html: bytes("<!doctype html><script>alert(1)</script>"),
  text: bytes("Mizigo: chai, kahawa — مرحبا\n"),
  "text with a byte order mark": bytes([0xef, 0xbb, 0xbf], "No,Item,Qty\r\n1,Tea,2\r\n"),
  "text of Windows": bytes("Caf", [0xe9], ", 5 ", [0x80], "\r\n"),
  "text with a zero byte": bytes("No,Item\n1,Tea", [0], "\n"),
  "UTF-16 text": bytes([0xff, 0xfe, 0x4e, 0, 0x6f, 0]),
  zeros: new Uint8Array(64),
  nothing: new Uint8Array(0),
} satisfies Record<string, Uint8Array>;

const accepted: [string, keyof typeof content][] = [
  ["invoice.pdf", "pdf"],
  ["INVOICE.PDF", "pdf"],
  ["scan.jpg", "jpg"],
  ["scan.jpeg", "jpg"],
  ["scan.png", "png"],
  ["scan.webp", "webp"],
  ["photo.heic", "heic"],
  ["photo.heic", "heic by its common brand"],
  ["fax.tif", "tif"],
  ["fax.tiff", "tif, big-endian"],
  ["scan.tif", "tif, its directory behind 150 KiB of picture"],
  ["letter.rtf", "rtf"],
  ["letter.doc", "old Office"],
  ["list.xls", "old Office"],
  ["letter.docx", "docx"],
  ["list.xlsx", "xlsx"],
  ["letter.odt", "odt"],
  ["note.txt", "text"],
  ["note.txt", "text with a byte order mark"],
  ["list.csv", "text"],
  ["list.csv", "text with a byte order mark"],
  ["list.csv", "text of Windows"],
];

test.each(accepted)("The file %s is accepted with the content %s.", async (fileName, kind) => {
  const extension = fileName.split(".")[1]?.toLowerCase() ?? "";
  expect(await detectMediaType(fileName, content[kind])).toEqual({
    type: FILE_TYPES[extension as keyof typeof FILE_TYPES],
  });
});

test("The file field and the rows of this test list the same accepted extensions.", () => {
  const tested = new Set(accepted.map(([fileName]) => fileName.split(".")[1]?.toLowerCase()));
  expect(tested).toEqual(new Set(Object.keys(FILE_TYPES)));
  expect(acceptedExtensions.split(",")).toEqual(Object.keys(FILE_TYPES).map((extension) => `.${extension}`));
});

test("A browser does not execute a file of an accepted media type.", () => {
  expect(Object.values(FILE_TYPES).join()).not.toMatch(/html|svg|script|xml(,|$)|octet-stream/);
});

const rejected: [string, keyof typeof content][] = [
  ...Object.keys(FILE_TYPES).flatMap((extension): [string, keyof typeof content][] => [
    [`file.${extension}`, "exe"],
    [`file.${extension}`, "gif"],
    [`file.${extension}`, "zeros"],
  ]),
  ["invoice.pdf", "html"],
  ["invoice.pdf", "png"],
  ["invoice.pdf", "text"],
  ["scan.jpg", "pdf"],
  ["scan.png", "jpg"],
  ["scan.webp", "png"],
  ["photo.heic", "avif"],
  ["fax.tif", "jpg"],
  ["letter.rtf", "html"],
  ["letter.doc", "docx"],
  ["letter.docx", "old Office"],
  ["letter.docx", "xlsx"],
  ["letter.docx", "jar"],
  ["list.xlsx", "odt"],
  ["letter.odt", "ods"],
  ["note.txt", "png"],
  ["note.txt", "text with a zero byte"],
  ["list.csv", "text with a zero byte"],
  ["list.csv", "UTF-16 text"],
  ["note.txt", "xlsx"],
];

const expectRejection = async (fileName: string, kind: keyof typeof content, words: string) =>
  expect(await detectMediaType(fileName, content[kind])).toEqual({
    reason: expect.stringContaining(words),
    status: 400,
  });

test.each(rejected)("The file %s is rejected with the content %s and a message with its extension.", (fileName, kind) =>
  expectRejection(fileName, kind, `.${fileName.split(".")[1]}`),
);

test.each(["page.html", "image.svg", "run.exe", "archive.zip", "invoice.pdf.exe", "invoice", "invoice.pdf ."])(
  "The file %j is rejected for its extension with a list of accepted kinds.",
  async (fileName) => {
    for (const kind of ["pdf", "html", "text"] as const) await expectRejection(fileName, kind, "PDF, photo");
  },
);

test.each(Object.keys(FILE_TYPES))("An empty file with the extension .%s is rejected as empty.", (extension) =>
  expectRejection(`file.${extension}`, "nothing", "empty"),
);

test.each(["MZIGO,WEIGHT\nTea,200\n", "BMW X5, chassis 4471\n", "GIF of the seal follows\n", "CWS,FWS\n1,2\n"])(
  "The text %j is accepted, although another file type starts with its first letters.",
  async (written) => {
    expect(await detectMediaType("list.csv", text(written))).toEqual({ type: "text/csv" });
    expect(await detectMediaType("list.txt", text(written))).toEqual({ type: "text/plain" });
  },
);

function contentTypes(kind: string): string {
  const type = `application/vnd.openxmlformats-officedocument.${kind}.main+xml`;
  return `<?xml version="1.0"?><Types><Override PartName="/x.xml" ContentType="${type}"/></Types>`;
}

async function zip(files: Record<string, string>): Promise<Uint8Array> {
  const entries = Object.entries(files).map(([name, input]) => ({ name, input }));
  return new Uint8Array(await new Response(makeZip(entries)).arrayBuffer());
}
