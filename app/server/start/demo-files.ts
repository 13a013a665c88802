import { crc32, deflateSync } from "node:zlib";

/** A row has one text, two texts (name and value) or five texts (a table row). An empty row is a horizontal line. */
export type DemoPage = { title: string; rows: string[][] };

export type DemoCargo = {
  shipper: string;
  consignee: string;
  route: [from: string, to: string, carrier: string];
  awb: string;
  day: string;
  packages: string;
  kilograms: number;
  goods: [code: string, goods: string, count: number, price: number][];
};

const formatNumber = (value: number, digits = 0) =>
  value.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits });

export function createDemoPage(name: string, cargo: DemoCargo): DemoPage {
  const { goods, awb: bill, kilograms } = cargo;
  const total = goods.reduce((sum, [, , count, price]) => sum + count * price, 0);
  const number = bill.replace(/\D/g, "").slice(-5);
  const parties = [
    ["Shipper", cargo.shipper],
    ["Consignee", cargo.consignee],
  ];
  const [from, to, carrier] = cargo.route;
  const voyage = [
    ["From", from],
    ["To", to],
    ["Carried by", carrier],
  ];
  const end = [[], ["Sample document for the demo. This shipment does not exist."]];
  const pages: Record<string, DemoPage> = {
    "Commercial Invoice": {
      title: "Commercial Invoice",
      rows: [
        ["Invoice no.", `CI-${number}`],
        ["Date", cargo.day],
        ...parties,
        ...voyage.slice(0, 2),
        ["Terms", "CIF, payment due 30 days after the date of shipment"],
        [],
        ["HS code", "Goods", "Quantity", "USD each", "USD total"],
        ...goods.map(([code, goodsName, count, price]) => [
          code,
          goodsName,
          formatNumber(count),
          formatNumber(price, 2),
          formatNumber(count * price, 2),
        ]),
        [],
        ["", "Total", "", "", formatNumber(total, 2)],
        ["We declare that this invoice shows the actual price of these goods."],
        ...end,
      ],
    },
    "Packing List": {
      title: "Packing List",
      rows: [
        ["Invoice no.", `CI-${number}`],
        ["Date", cargo.day],
        ...parties,
        ["Marks", `${number} / ${to.split(",")[0]?.toUpperCase()} / 1-UP`],
        [],
        ["Line", "Goods", "Quantity", "Net kg", "Gross kg"],
        ...goods.map(([, goodsName, count], line) => [
          String(line + 1),
          goodsName,
          formatNumber(count),
          formatNumber((kilograms * 0.94) / goods.length),
          formatNumber(kilograms / goods.length),
        ]),
        [],
        ["Packages", cargo.packages],
        ["Gross weight", `${formatNumber(kilograms)} kg`],
        ...end,
      ],
    },
    "Insurance Certificate": {
      title: "Certificate of Insurance",
      rows: [
        ["Certificate no.", `MC-${number}-01`],
        ["Date", cargo.day],
        ["Assured", cargo.consignee],
        ["Sum insured", `USD ${formatNumber(total * 1.1, 2)}, the value of the goods plus ten per cent`],
        ...voyage,
        [],
        ["Goods", goods.map(([, goodsName]) => goodsName).join("; ")],
        ["Packages", cargo.packages],
        ["Cover", "All risks from warehouse to warehouse, including war and strikes"],
        ["Claims", "Notify the surveyor at the place of arrival within three days"],
        ...end,
      ],
    },
    "Bill of Lading": {
      title: /^\d{3}-/.test(bill) ? "Air Waybill" : "Bill of Lading",
      rows: [
        ["Number", bill],
        ["Date", cargo.day],
        ...parties,
        ["Notify party", "Mizigo Clearing & Forwarding"],
        ...voyage,
        [],
        ["Packages", cargo.packages],
        ["Said to contain", goods.map(([, goodsName]) => goodsName).join("; ")],
        ["Gross weight", `${formatNumber(kilograms)} kg`],
        ["Freight", "Prepaid"],
        [],
        ["Taken in charge in apparent good order and condition."],
        ["Signed for the carrier in three originals."],
        ...end,
      ],
    },
  };
  return pages[name] ?? { title: name, rows: [] };
}

/** The size of A4 in points. */
const pageSize = { width: 595, height: 842 };
/** The x positions, in points, of the texts in a row of 1, 2 or 5 texts. */
const columnPositions: Readonly<Record<number, number[]>> = { 1: [56], 2: [56, 160], 5: [56, 116, 338, 404, 476] };

function layOutPage({ title, rows }: DemoPage) {
  const texts = [{ text: title, x: 56, y: 100, size: 20 }];
  const rules: number[] = [];
  rows.forEach((row, line) => {
    const y = 146 + line * 20;
    if (row.length === 0) rules.push(y - 4);
    row.forEach((text, part) => {
      texts.push({ text, x: columnPositions[row.length]?.[part] ?? 56, y, size: 10 });
    });
  });
  return { texts, rules };
}

export function renderPdf(page: DemoPage): Uint8Array<ArrayBuffer> {
  const { texts, rules } = layOutPage(page);
  const operations = [
    ...texts.map(({ text, x, y, size }) => {
      const escapedText = text.replace(/[()\\]/g, "\\$&");
      return `BT /F${size > 10 ? 2 : 1} ${size} Tf ${x} ${pageSize.height - y} Td (${escapedText}) Tj ET`;
    }),
    ...rules.map((y) => `0.6 w 56 ${pageSize.height - y} m 540 ${pageSize.height - y} l S`),
  ].join("\n");
  const font = (name: string) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${pageSize.width} ${pageSize.height}] /Contents 4 0 R /Resources << /Font << /F1 5 0 R /F2 6 0 R >> >> >>`,
    `<< /Length ${operations.length} >>\nstream\n${operations}\nendstream`,
    font("Helvetica"),
    font("Helvetica-Bold"),
  ];
  let pdf = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = pdf.length;
    pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const start = pdf.length;
  pdf += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  pdf += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Uint8Array.from(Buffer.from(pdf, "latin1"));
}

/** Each word is a character and seven base-32 digits. Each digit contains the five dots of one row of the character. */
const glyphs = new Map(
  (
    "A4ahhvhh Buhhuhhu Cehggghe Duhhhhhu Evgguggv Fvgguggg Gehgnhhe Hhhhvhhh Ie44444e J72222ic Khikokih Lggggggv " +
    "Mhrllhhh Nhhpljhh Oehhhhhe Puhhuggg Qehhhlid Ruhhukih Sfgge11u Tv444444 Uhhhhhhe Vhhhhha4 Whhhllla Xhha4ahh " +
    "Yhha4444 Zv1248gv 0ehjlphe 14c4444e 2eh1248v 3v2421he 426aiv22 5vgu11he 668guhhe 7v124888 8ehhehhe 9ehhf12c " +
    ".00000cc ,0000c48 -000v000 /01248g0 :0cc0cc0 &cik8lid"
  )
    .split(" ")
    .map((glyph) => [glyph.slice(0, 1), [...glyph.slice(1)].map((row) => Number.parseInt(row, 32))]),
);

export function renderScan(page: DemoPage): Uint8Array<ArrayBuffer> {
  const { texts, rules } = layOutPage(page);
  const scale = 2;
  const [width, height] = [pageSize.width * scale, pageSize.height * scale];
  // Each row of a PNG image starts with its filter type, here 0 (none).
  const pixels = Buffer.alloc((width + 1) * height, 243);
  const drawDot = (x: number, y: number, grey: number, size: number) => {
    const first = Math.round(y + x * 0.006);
    for (let row = first; row < first + size; row += 1) {
      const offset = row * (width + 1) + 1 + x;
      pixels.fill(grey, offset, offset + size);
    }
  };
  for (let y = 0; y < height; y += 1) {
    pixels[y * (width + 1)] = 0;
    for (let x = 0; x < 14; x += 1) pixels[y * (width + 1) + width - x] = 150 + x * 6;
  }
  for (const y of rules) for (let x = 112; x < 1080; x += 1) drawDot(x, y * scale, 120, 2);
  for (const { text, x, y, size } of texts) {
    const dots = size / 5;
    [...text.toUpperCase()].forEach((letter, position) => {
      glyphs.get(letter)?.forEach((bits, row) => {
        for (let bit = 0; bit < 5; bit += 1) {
          const columnX = x * scale + (position * 6 + bit) * dots;
          if (bits & (16 >> bit)) drawDot(Math.round(columnX), y * scale - (7 - row) * dots, 84, dots);
        }
      });
    });
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const parts = [
    createPngChunk("IHDR", header),
    createPngChunk("IDAT", deflateSync(pixels)),
    createPngChunk("IEND", Buffer.alloc(0)),
  ];
  return Uint8Array.from(Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...parts]));
}

function createPngChunk(name: string, data: Buffer): Buffer {
  const namedData = Buffer.concat([Buffer.from(name), data]);
  const framing = Buffer.alloc(8);
  framing.writeUInt32BE(data.length, 0);
  framing.writeUInt32BE(crc32(namedData), 4);
  return Buffer.concat([framing.subarray(0, 4), namedData, framing.subarray(4)]);
}
