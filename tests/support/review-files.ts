/** Files for tests of the desk's review page. */
import sharp from "sharp";
import { joinBytes } from "./file-contents.ts";

const toFile = (content: Uint8Array | string, name: string, type = "application/pdf") =>
  new File([typeof content === "string" ? content : new Uint8Array(content)], name, { type });

const pdfObjects = [
  "<</Type/Catalog/Pages 2 0 R/OpenAction 4 0 R/Names<</JavaScript<</Names[(a) 4 0 R]>>>>>>",
  "<</Type/Pages/Kids[3 0 R]/Count 1>>",
  "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/AA<</O 4 0 R>>/Contents 5 0 R>>",
];

/** Returns a PDF with one green page. The PDF runs `script` when a viewer with JavaScript opens the PDF. */
export function createScriptedPdf(script: string, name = "invoice.pdf"): File {
  const drawing = "0 0.6 0 rg 0 0 300 300 re f";
  const objects = [
    ...pdfObjects,
    `<</S/JavaScript/JS(${script.replace(/[()\\]/g, "\\$&")})>>`,
    `<</Length ${drawing.length}>>stream\n${drawing}\nendstream`,
  ];
  let text = "%PDF-1.7\n";
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join("")}`;
  text += `${table}trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
  return toFile(text, name);
}

/** Returns a web page with a script, which is also a PDF, because PDF viewers ignore bytes before the signature. */
export async function createPolyglot(script: string): Promise<File> {
  const page = `<!doctype html><title>x</title><script>${script}</script>\n`;
  return toFile(page + (await createScriptedPdf("").text()), "polyglot.pdf");
}

/** Returns a PNG, JPEG or TIFF picture with a red left half and a blue right half. */
export async function createPicture(format: "png" | "jpeg" | "tiff" | "webp", width = 64, height = 32): Promise<File> {
  const half = { width: Math.ceil(width / 2), height, channels: 3, background: "blue" } as const;
  const blue = await sharp({ create: half }).png().toBuffer();
  const red = sharp({ create: { width, height, channels: 3, background: "red" } });
  const content = await red
    .composite([{ input: blue, left: Math.floor(width / 2), top: 0 }])
    [format]()
    .toBuffer();
  return toFile(content, `scan.${format}`, `image/${format}`);
}

/** Returns the TIFF of a scanner with two pages of 4 x 2 pixels: a black page and a white page. */
export function createTwoPageTiff(): File {
  const createDirectory = (pixels: number, next: number) => {
    const entries = [
      ...[[256, 4] as const, [257, 2] as const, [258, 8] as const, [259, 1] as const, [262, 1] as const],
      ...[[273, pixels] as const, [277, 1] as const, [278, 2] as const, [279, 8] as const],
    ];
    const bytes = Buffer.alloc(2 + 12 * entries.length + 4);
    bytes.writeUInt16LE(entries.length);
    for (const [index, [tag, value]] of entries.entries()) {
      bytes.writeUInt16LE(tag, 2 + 12 * index);
      bytes.writeUInt16LE(4, 4 + 12 * index);
      bytes.writeUInt32LE(1, 6 + 12 * index);
      bytes.writeUInt32LE(value, 10 + 12 * index);
    }
    bytes.writeUInt32LE(next, bytes.length - 4);
    return bytes;
  };
  const length = createDirectory(0, 0).length;
  const [first, second] = [8, 8 + length + 8];
  const content = joinBytes(
    ...["II", [42, 0, 8, 0, 0, 0], createDirectory(first + length, second), Array(8).fill(0)],
    ...[createDirectory(second + length, 0), Array(8).fill(255)],
  );
  return toFile(content, "fax.tif", "image/tiff");
}

/** Returns a PNG or TIFF whose header says that the picture has 50,000 x 50,000 pixels. */
export async function createHugePicture(format: "png" | "tiff"): Promise<File> {
  const content = Buffer.from(await (await createPicture(format)).arrayBuffer());
  if (format === "png") {
    content.writeUInt32BE(50_000, 16);
    content.writeUInt32BE(50_000, 20);
  } else {
    const directory = content.readUInt32LE(4);
    for (let entry = directory + 2; entry < directory + 2 + 12 * content.readUInt16LE(directory); entry += 12) {
      if (![256, 257].includes(content.readUInt16LE(entry))) continue;
      content.writeUInt16LE(4, entry + 2);
      content.writeUInt32LE(50_000, entry + 8);
    }
  }
  return toFile(content, `huge.${format}`, `image/${format}`);
}

/** A HEIC picture of 64 x 32 pixels, red and blue. */
export const heicPicture = toFile(
  Buffer.from(
    "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAX1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJpbG9jAAAA" +
      "AERAAAEAAQAAAAABoQABAAAAAAAAAFwAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRtAAAAAAABAAAA/WlwcnAAAADd" +
      "aXBjbwAAAHZodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAA" +
      "AwAeoCCBBZbq5Ka5uAhoMCAAAAMDIAAAAwAhYgABAAZEAcFzwIkAAAATY29scm5jbHgAAQANAAaAAAAAFGlzcGUAAAAAAAAAQAAAAEAAAAAoY2xh" +
      "cAAAAEAAAAABAAAAIAAAAAEAAAAAAAAAAv///+AAAAACAAAAEHBpeGkAAAAAAwgICAAAABhpcG1hAAAAAAAAAAEAAQWBAgMFhAAAAGRtZGF0AAAA" +
      "WCgBrxOA9SeBP//gpUf/utZ4fg8NMT/+xuIj+lTl/+TV124DGnT2fPIOfp+WShVqXthAcTY3Q/j+38FAhy6nMzB0XBODMO4iCNi1JJP4lx3Vnl1V" +
      "s71w7cA=",
    "base64",
  ),
  "IMG_0001.HEIC",
  "image/heic",
);
