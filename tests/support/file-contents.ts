/** Small files of the types that clients upload, and of some other types. */
import { makeZip } from "client-zip";

const encode = (content: string) => new TextEncoder().encode(content);
export const joinBytes = (...parts: (readonly number[] | string | Uint8Array)[]) =>
  new Uint8Array(parts.flatMap((part) => (typeof part === "string" ? [...encode(part)] : [...part])));

async function createZip(files: Record<string, string>): Promise<Uint8Array<ArrayBuffer>> {
  const entries = Object.entries(files).map(([name, input]) => ({ name, input }));
  return new Uint8Array(await new Response(makeZip(entries)).arrayBuffer());
}

/** Returns a Word or Excel file. `main` is the main part's media type without "application/vnd." and ".main+xml". */
export function createOpenXml(main: string, part: string, more: Record<string, string> = {}) {
  const types = `<Types><Override PartName="/${part}" ContentType="application/vnd.${main}.main+xml"/></Types>`;
  return createZip({ "docProps/app.xml": "<p/>", [part]: "<w/>", ...more, "[Content_Types].xml": types });
}

function createOpenDocument(kind: string, more: Record<string, string> = {}) {
  return createZip({
    mimetype: `application/vnd.oasis.opendocument.${kind}`,
    "META-INF/manifest.xml": "<manifest/>",
    ...more,
  });
}

const endOfChain = 0xfffffffe;
const freeSector = 0xffffffff;

/** Returns a compound file ([MS-CFB]) with `streams` in its root. Each stream has 4096 bytes. */
function createCompoundFile(streams: Record<string, readonly number[]>): Uint8Array<ArrayBuffer> {
  const names = Object.keys(streams);
  const content = Buffer.alloc(512 * (3 + 8 * names.length));
  content.write("d0cf11e0a1b11ae1", "hex");
  content.writeUInt16LE(9, 30);
  content.writeUInt32LE(1, 48);
  content.writeUInt32LE(endOfChain, 68);
  content.fill(0xff, 76, 512);
  content.writeUInt32LE(0, 76);
  const table = 512;
  content.fill(0xff, table, table + 512);
  content.writeUInt32LE(0xfffffffd, table);
  content.writeUInt32LE(endOfChain, table + 4);
  const entries = [{ name: "Root Entry", child: names.length ? 1 : freeSector }, ...names.map((name) => ({ name }))];
  for (const [index, entry] of entries.entries()) {
    const at = 1024 + 128 * index;
    content.write(entry.name, at, "utf16le");
    content.writeUInt16LE(2 * entry.name.length + 2, at + 64);
    content.writeUInt32LE(freeSector, at + 68);
    content.writeUInt32LE(index > 0 && index < names.length ? index + 1 : freeSector, at + 72);
    content.writeUInt32LE("child" in entry ? entry.child : freeSector, at + 76);
    if (index === 0) continue;
    const sector = 2 + 8 * (index - 1);
    content.writeUInt32LE(sector, at + 116);
    content.writeUInt32LE(4096, at + 120);
    content.set(streams[entry.name] ?? [], 512 * (sector + 1));
    for (let next = sector; next < sector + 8; next += 1)
      content.writeUInt32LE(next === sector + 7 ? endOfChain : next + 1, table + 4 * next);
  }
  return new Uint8Array(content);
}

const jpegScan = [0xff, 0xda, 0x00, 0x08, 1, 1, 0, 0, 0x3f, 0, 0x12, 0x34];
/** The start of a workbook of Excel 97: the record "beginning of file". */
const workbookStart = [0x09, 0x08, 4, 0, 0, 6, 5, 0];

const pdf = joinBytes(
  "%PDF-1.7\n",
  [0x25, 0xe2, 0xe3],
  "\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\nstartxref\n9\n%%EOF\n",
);
const rtf = joinBytes("{\\rtf1\\ansi Karibu}\r\n");

export const contents = {
  pdf,
  "pdf after a line break": joinBytes("\r\n", pdf),
  "pdf after 1,019 bytes": joinBytes(" ".repeat(1019), pdf),
  "pdf with a later change": joinBytes(pdf, "1 0 obj\n<<>>\nendobj\nstartxref\n90\n%%EOF\n\0\0"),
  jpg: joinBytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0xff, 0xd9, 0xff], jpegScan, [0xff, 0xd9]),
  "jpg with a film after its end": joinBytes([0xff, 0xd8], jpegScan, [0xff, 0xd9], "ftypmp42", [0xff, 0xda, 0, 8]),
  png: joinBytes([0x89], "PNG\r\n", [0x1a], "\n", [0, 0, 0, 13], "IHDR", Array(17).fill(1), [0, 0, 0, 0], "IEND"),
  webp: joinBytes("RIFF", [18, 0, 0, 0], "WEBPVP8L", [5, 0, 0, 0, 0x2f, 0, 0, 0, 0, 0]),
  heic: joinBytes([0, 0, 0, 24], "ftypheic", [0, 0, 0, 0], "mif1heic", [0, 0, 0, 16], "mdat12345678", "SEFT"),
  "heic by its common brand": joinBytes([0, 0, 0, 20], "ftypmif1", [0, 0, 0, 0], "heix", [0, 0, 0, 0], "mdat12345678"),
  tif: joinBytes("II", [42, 0, 8, 0, 0, 0, 1, 0, 0, 1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
  "tif, big-endian": joinBytes("MM", [0, 42, 0, 0, 0, 8, 0, 1, 1, 0, 0, 3, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]),
  "tif, its directory behind 150 KiB of picture": joinBytes(
    "II",
    [42, 0, 0x08, 0x58, 0x02, 0],
    Array(150 * 1024).fill(0xff),
    [1, 0, 0, 1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
  ),
  rtf,
  "rtf with a byte order mark": joinBytes([0xef, 0xbb, 0xbf], rtf),
  doc: createCompoundFile({ SummaryInformation: [], WordDocument: [0xec, 0xa5] }),
  xls: createCompoundFile({ Workbook: [...workbookStart, 0x85, 0, 0, 0], SummaryInformation: [] }),
  docx: await createOpenXml("openxmlformats-officedocument.wordprocessingml.document", "word/document2.xml"),
  xlsx: await createOpenXml("openxmlformats-officedocument.spreadsheetml.sheet", "xl/workbook.xml"),
  "large xlsx": await createOpenXml("openxmlformats-officedocument.spreadsheetml.sheet", "xl/workbook.xml", {
    "xl/media/image1.png": "\x89".repeat(100_000),
  }),
  odt: await createOpenDocument("text"),
  ods: await createOpenDocument("spreadsheet"),
  text: joinBytes("Mizigo: chai, kahawa — مرحبا\n"),
  "text with a byte order mark": joinBytes([0xef, 0xbb, 0xbf], "No,Item,Qty\r\n1,Tea,2\r\n"),
  "text of Windows": joinBytes("Caf", [0xe9], ", 5 ", [0x80], "\r\n"),
  "text of DOS": joinBytes("Tea 20 kg\r\n", [0x1a]),
  "text with tabs": joinBytes("Entry\tDuty\r\n2026\t18000\r\n"),
  "UTF-16 text": new Uint8Array(Buffer.from("\ufeffChai\t20 ظرف\r\n", "utf16le")),
  "UTF-16 text without a byte order mark": new Uint8Array(Buffer.from("Chai, 20", "utf16le")),
  "big-endian UTF-16 text": new Uint8Array(Buffer.from("\ufeffChai, 20", "utf16le").swap16()),

  "locked xlsx": createCompoundFile({ EncryptedPackage: [], EncryptionInfo: [] }),
  "locked doc": createCompoundFile({ WordDocument: [0xec, 0xa5, 0xc1, 0, 0, 0, 0, 0, 0, 0, 0, 0x13] }),
  "locked xls": createCompoundFile({ Workbook: [...workbookStart, 0x2f, 0, 2, 0, 1, 0] }),
  "locked ods": await createOpenDocument("spreadsheet", { "META-INF/manifest.xml": "<manifest:encryption-data/>" }),
  xlsm: await createOpenXml("ms-excel.sheet.macroEnabled", "xl/workbook.xml"),
  "xlsx with macros": await createOpenXml("openxmlformats-officedocument.spreadsheetml.sheet", "xl/workbook.xml", {
    "xl/vbaProject.bin": "",
  }),
  xlsb: await createOpenXml("ms-excel.sheet.binary.macroEnabled", "xl/workbook.bin"),
  docm: await createOpenXml("ms-word.document.macroEnabled", "word/document.xml", { "word/vbaProject.bin": "" }),
  "doc with macros": createCompoundFile({ WordDocument: [0xec, 0xa5], Macros: [] }),
  "xls with macros": createCompoundFile({ Workbook: [...workbookStart, 0x0a, 0, 0, 0], _VBA_PROJECT_CUR: [] }),
  "odt with macros": await createOpenDocument("text", { "Basic/script-lc.xml": "<b/>" }),

  html: joinBytes("\r\n<html><table><tr><td>Entry</td></tr></table></html>"),
  "html with a doctype": joinBytes("<!DOCTYPE html><script>alert(1)</script>"),
  "html with a byte order mark": joinBytes([0xef, 0xbb, 0xbf], "<table><tr><td>Duty"),
  "UTF-16 html": new Uint8Array(Buffer.from("\ufeff<table><tr><td>Duty", "utf16le")),
  svg: joinBytes('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
  xml: joinBytes('<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook/>'),
  "web archive": joinBytes("MIME-Version: 1.0\r\nContent-Type: multipart/related\r\n\r\n--x\r\n"),
  email: joinBytes("From: a@b.example\r\nMIME-Version: 1.0\r\n\r\nKaribu"),

  avif: joinBytes([0, 0, 0, 24], "ftypmif1", [0, 0, 0, 0], "mif1avif", [0, 0, 0, 16], "mdat12345678"),
  "raw photo": joinBytes("II", [42, 0, 8, 0, 0, 0, 1, 0, 0x4a, 1, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
  "raw photo of Canon": joinBytes("II", [42, 0, 16, 0, 0, 0], "CR", [2, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
  jar: await createZip({ "META-INF/MANIFEST.MF": "Manifest-Version: 1.0", "Main.class": "x" }),
  "zip of a pdf": await createZip({ "invoice.pdf": "%PDF-1.7 startxref" }),
  pptx: await createOpenXml("openxmlformats-officedocument.presentationml.presentation", "ppt/presentation.xml"),
  msg: createCompoundFile({ "__properties_version1.0": [] }),
  gif: joinBytes("GIF89a", [1, 0, 1, 0, 0, 0, 0, 0x3b]),
  exe: joinBytes("MZ", [0x90, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0xff, 0xff, 0, 0]),
  mp4: joinBytes([0, 0, 0, 24], "ftypmp42", [0, 0, 0, 0], "mp42isom", [0, 0, 0, 16], "mdat12345678"),
  "text with a zero byte": joinBytes("No,Item\n1,Tea", [0], "\n"),
  "UTF-16 with half a letter": joinBytes([0xff, 0xfe, 0x43, 0, 0, 0xd8, 0x43, 0]),
  zeros: new Uint8Array(64),
} satisfies Record<string, Uint8Array>;
