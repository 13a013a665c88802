import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { downloadZip } from "client-zip";
import { beforeEach, describe, expect, test } from "vitest";
import { contents } from "../support/file-contents.ts";
import { describeCut } from "../support/labels.ts";
import { expectInvalidFields, getTextareaValue, listRequiredFields, readContent } from "../support/public-form.ts";
import {
  createPdf,
  type FormValues,
  getTestApp,
  getText,
  origin,
  type ParsedPage,
  parsePage,
  pdfEnd,
  type TestBrowser,
} from "../support/test-app.ts";

let visitor: TestBrowser;
const app = await getTestApp();
beforeEach(() => {
  visitor = app.browser();
});

const marker = "a-sentence-that-only-this-application-has";
const person = { name: "Neema Uwase", email: "neema@client.example", letter: `I read documents closely: ${marker}.` };
const createFile = (name: string, ...parts: (string | Uint8Array<ArrayBuffer>)[]) => new File(parts, name);
const sendApplication = async (typed: FormValues) =>
  visitor.submit(await visitor.open("/careers"), "Submit Application", typed);
const sendInvalid = async (typed: FormValues) => parsePage(await sendApplication(typed));

const docx = await createDocx();
const maxBytes = 10 * 1024 * 1024;

function expectAnswers(page: ParsedPage): void {
  const answers = { name: page.value("name"), email: page.value("email"), letter: getTextareaValue(page, "letter") };
  expect(answers).toEqual(person);
}

test("The careers page describes the work at the company, marked once as a sample", async () => {
  const page = await visitor.open("/careers");
  type Careers = { working_here: { title: string; text: string }[]; note: string };
  const { working_here, note } = readContent<Careers>("careers");
  expect(page.all("main aside li h3").map(getText)).toEqual(working_here.map(({ title }) => title));
  for (const { text } of working_here) expect(page.text).toContain(text.trim());
  expect(page.text.split(note)).toHaveLength(2);
});

describe("careers form", () => {
  test("The careers page lists the accepted files and says that nothing is sent or stored", async () => {
    const page = await visitor.open("/careers");
    expect(page.title).toMatch(/^Careers · /);
    expect(page.all("main input[name=cv]")[0]?.getAttribute("accept")).toBe(".pdf,.doc,.docx");
    expect(page.getDescriptions("cv").join()).toMatch(/\.pdf, \.doc or \.docx/);
    // ARIA has no "required" for file fields.
    expect(listRequiredFields(page)).toEqual(["name", "email"]);
    expect(page.text).toContain(
      "This form does not send or store anything. To apply, email your application to nairobi@mizigo.example.",
    );
    expect(page.all("main a[href='mailto:nairobi@mizigo.example']")).toHaveLength(1);
  });

  test("An empty application and an application without fields show errors at the three required fields", async () => {
    for (const page of [await sendInvalid({}), await parsePage(await visitor.post("/careers", {}))])
      expectInvalidFields(page, ["name", "email", "cv"]);
  });

  test.each([
    ["no name", "name", ""],
    ["no email address", "email", ""],
    ["an email address without a domain", "email", "neema@"],
    ["a cover letter of 2,001 characters", "letter", "l".repeat(2001)],
  ] as const)(
    "An application with %s marks the field and preserves the answers up to their maximum lengths",
    async (_what, field, value) => {
      const page = await sendInvalid({ ...person, [field]: value, cv: createPdf() });
      expectInvalidFields(page, [field]);
      expect([page.value("name"), page.value("email")]).toEqual(
        ["name", "email"].map((name) => (name === field ? value : person[name as "name" | "email"])),
      );
      if (field === "letter") expect(page.problems[0]?.text).toContain(describeCut(2000));
      expect(getTextareaValue(page, "letter")).toBe(field === "letter" ? value.slice(0, 2000) : person.letter);
    },
  );

  const wrongType = "Choose a CV that is a .pdf, .doc or .docx file.";
  const lockedFile = "This file is locked with a password. Save the file without a password, then choose the new file.";
  const incompleteFile = "This file is incomplete. Save or download the file again, then choose it.";
  const webPage =
    "This file is a web page, an email or XML. Save its content as .xlsx or PDF, then choose the new file.";
  test.each<{ what: string; file: File | string; problem: string }>([
    { what: "a program", file: createFile("cv.exe", "MZ", "x".repeat(99)), problem: wrongType },
    { what: "a program named .pdf", file: createFile("cv.pdf", contents.exe), problem: wrongType },
    { what: "a photo named .pdf", file: createFile("cv.pdf", contents.png), problem: wrongType },
    { what: "a locked document", file: createFile("cv.docx", contents["locked xlsx"]), problem: lockedFile },
    { what: "half a PDF", file: createFile("cv.pdf", "%PDF-1.4\n1 0 obj"), problem: incompleteFile },
    { what: "a plain text", file: createFile("cv.txt", "I am a clerk"), problem: wrongType },
    { what: "HTML named .doc", file: createFile("cv.doc", contents.html), problem: webPage },
    { what: "an empty file", file: createFile("cv.pdf"), problem: "This file is empty. Choose another file." },
    { what: "a text in place of a file", file: "cv.pdf", problem: "Choose your CV." },
  ])("An application with $what gets an error, preserves answers and can be corrected", async ({ file, problem }) => {
    const page = await sendInvalid({ ...person, cv: file });
    expectInvalidFields(page, ["cv"]);
    expect(page.problems.map(({ text }) => text)).toEqual([problem]);
    expectAnswers(page);
    expect((await visitor.submit(page, "Submit Application", { ...person, cv: createPdf() })).status).toBe(303);
  });

  test("An application with the empty file part that browsers send gets an error about the missing file", async () => {
    const texts = Object.entries(person).map(([name, value]) => `name="${name}"\r\n\r\n${value}`);
    const emptyFile = 'name="cv"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n';
    const parts = [...texts, emptyFile].map((part) => `--part\r\nContent-Disposition: form-data; ${part}\r\n`);
    const headers = { "Content-Type": "multipart/form-data; boundary=part", Origin: origin };
    const body = `${parts.join("")}--part--\r\n`;
    const request = new Request(new URL("/careers", origin), { method: "POST", headers, body });
    const page = await parsePage(await visitor.send(request));
    expectInvalidFields(page, ["cv"]);
    expect(page.problems.map(({ text }) => text)).toEqual(["Choose your CV."]);
    expectAnswers(page);
  });

  test("A CV of more than 10 MiB gets status 413 and preserves the answers", async () => {
    for (const size of [maxBytes + 1, 11 * 1024 * 1024]) {
      const page = await sendInvalid({ ...person, cv: createPdf("cv.pdf", size) });
      expectInvalidFields(page, ["cv"], 413);
      expect(page.problems.map(({ text }) => text)).toEqual([expect.stringContaining("over 10 MB")]);
      expectAnswers(page);
    }
  });

  test("An application with two files is rejected", async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries(person)) form.append(name, value);
    for (const name of ["first.pdf", "second.pdf"]) form.append("cv", createPdf(name));
    expect((await visitor.post("/careers", form)).status).toBe(400);
  });

  test.each<[string, File]>([
    ["a PDF", createPdf("cv.pdf")],
    ["a PDF of exactly 10 MiB", createPdf("cv.pdf", maxBytes)],
    ["a PDF with an ending in capitals", createPdf("Neema's CV, final (2).PDF")],
    ["a PDF without an ending", createPdf("cv")],
    ["a PDF named .jpg", createPdf("cv.jpg")],
    ["a .docx file", createFile("السيرة الذاتية.docx", docx)],
    ["a .doc file", createFile("cv.doc", contents.doc)],
    ["a .doc file that is RTF", createFile("cv.doc", contents.rtf)],
  ])("An applicant with %s sees one toast, which says that nothing was sent, and an empty form", async (_what, cv) => {
    const response = await sendApplication({ ...person, letter: "l".repeat(2000), cv });
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/careers"]);
    const page = await visitor.follow(response);
    expect(page.toasts).toEqual([
      {
        title: expect.stringMatching(/thank you/i),
        description: expect.stringMatching(/not been sent, .* Email your application to nairobi@mizigo\.example\.$/),
        variant: "default",
      },
    ]);
    expect([page.value("name"), page.value("email"), getTextareaValue(page, "letter")]).toEqual(["", "", ""]);
    expect((await visitor.open("/careers")).toasts).toEqual([]);
  });

  test("An application needs no cover letter", async () => {
    const { name, email } = person;
    expect((await sendApplication({ name, email, cv: createPdf() })).status).toBe(303);
  });
});

/** Returns the bytes of a file, or no bytes if another test has deleted the file. */
function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}

/** Returns the files of the data directory that contain a text. The database is not in this directory. */
function findFiles(text: string): string[] {
  return readdirSync(process.env.DATA_DIR ?? "", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => readBytes(file).includes(text));
}

test("No application calls the backend or writes to the data directory, valid or invalid, signed in or not", async () => {
  const client = app.browser();
  await client.signUpAndLogIn("Somebody");
  const shipment = await client.open(await client.createShipment("Tea"));
  const storedText = "A document that is stored";
  const file = createFile("list.pdf", "%PDF-1.4\n", storedText, pdfEnd);
  expect((await client.submit(shipment, "Upload the Packing List", { file })).status).toBe(303);
  expect(findFiles(storedText), "a stored text can be found").not.toEqual([]);

  const cv = createFile("cv.pdf", "%PDF-1.4\n", marker, pdfEnd);
  const calls = await app.proxy.during(async () => {
    for (const browser of [visitor, client]) {
      const form = await browser.open("/careers");
      expect((await browser.submit(form, "Submit Application", { ...person, cv })).status).toBe(303);
      expect((await browser.submit(form, "Submit Application", { ...person, email: "x", cv })).status).toBe(400);
    }
  });
  expect(calls).toEqual([]);
  for (const text of [marker, person.email]) expect(findFiles(text)).toEqual([]);
});

/** Returns a DOCX file with the three parts that Office Open XML requires. */
async function createDocx(): Promise<Uint8Array<ArrayBuffer>> {
  const main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";
  const relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument";
  const files = {
    "[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="${main}"/></Types>`,
    "_rels/.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${relation}" Target="word/document.xml"/></Relationships>`,
    "word/document.xml": `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>CV</w:t></w:r></w:p></w:body></w:document>`,
  };
  const zip = downloadZip(Object.entries(files).map(([name, input]) => ({ name, input })));
  return new Uint8Array(await zip.arrayBuffer());
}
