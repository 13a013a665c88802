import { spawnSync } from "node:child_process";
import process from "node:process";
import { beforeEach, expect, test } from "vitest";
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
  visitor.submit(await visitor.open("/careers"), "Check application", typed);
const sendInvalid = async (typed: FormValues) => parsePage(await sendApplication(typed));

const maxBytes = 10 * 1024 * 1024;

function expectAnswers(page: ParsedPage, expected: typeof person): void {
  const answers = { name: page.value("name"), email: page.value("email"), letter: getTextareaValue(page, "letter") };
  expect(answers).toEqual(expected);
}

test("The careers page describes the work and the accepted files, and says that the form sends and stores nothing.", async () => {
  const page = await visitor.open("/careers");
  type Careers = { working_here: { title: string; text: string }[]; note: string };
  const { working_here, note } = readContent<Careers>("careers");
  expect(page.title).toMatch(/^Careers · /);
  expect(page.all("main aside li h3").map(getText)).toEqual(working_here.map(({ title }) => title));
  for (const { text } of working_here) expect(page.text).toContain(text.trim());
  expect(page.text.split(note)).toHaveLength(2);
  expect(page.all("main input[name=cv]")[0]?.getAttribute("accept")).toBe(".pdf,.doc,.docx");
  expect(page.getDescriptions("cv").join()).toMatch(/\.pdf, \.doc or \.docx/);
  // The ARIA specification does not allow aria-required on file fields.
  expect(listRequiredFields(page)).toEqual(["name", "email"]);
  const notice =
    "This form checks your application, but does not send or store it. To apply, email your application to";
  expect(page.text).toContain(`${notice} nairobi@mizigo.example.`);
  expect(page.all("main a[href='mailto:nairobi@mizigo.example']")).toHaveLength(1);
});

test("An application with empty or missing fields shows errors at the three required fields.", async () => {
  for (const page of [await sendInvalid({}), await parsePage(await visitor.post("/careers", {}))])
    expectInvalidFields(page, ["name", "email", "cv"]);
});

test("A field with an invalid text in an application is marked, and the form shows all texts up to their maximum lengths.", async () => {
  for (const [field, value] of [
    ["name", ""],
    ["email", "neema@"],
    ["letter", "l".repeat(2001)],
  ] as const) {
    const page = await sendInvalid({ ...person, [field]: value, cv: createPdf() });
    expectInvalidFields(page, [field]);
    expectAnswers(page, { ...person, [field]: value.slice(0, 2000) });
    if (field === "letter") expect(page.problems[0]?.text).toContain(describeCut(2000));
  }
});

const wrongType = "Choose a CV that is a .pdf, .doc or .docx file.";
const lockedFile = "This file is locked with a password. Save the file without a password, then choose the new file.";
const incompleteFile = "This file is incomplete. Save or download the file again, then choose it.";
test.each<[string, File | string, string]>([
  ["a program named .pdf", createFile("cv.pdf", contents.exe), wrongType],
  ["a photo named .pdf", createFile("cv.pdf", contents.png), wrongType],
  ["a plain text", createFile("cv.txt", "I am a clerk"), wrongType],
  ["a locked document", createFile("cv.docx", contents["locked xlsx"]), lockedFile],
  ["half a PDF", createFile("cv.pdf", "%PDF-1.4\n1 0 obj"), incompleteFile],
  ["an empty file", createFile("cv.pdf"), "This file is empty. Choose another file."],
  ["a text in place of a file", "cv.pdf", "Choose your CV."],
])(
  "An application with %s gets an error, the form shows the typed texts again, and a corrected file is accepted.",
  async (_what, cv, problem) => {
    const page = await sendInvalid({ ...person, cv });
    expectInvalidFields(page, ["cv"]);
    expect(page.problems.map(({ text }) => text)).toEqual([problem]);
    expectAnswers(page, person);
    expect((await visitor.submit(page, "Check application", { ...person, cv: createPdf() })).status).toBe(303);
  },
);

test("An application without a chosen file, for which browsers send an empty part, gets an error about the missing file.", async () => {
  const texts = Object.entries(person).map(([name, value]) => `name="${name}"\r\n\r\n${value}`);
  const emptyFile = 'name="cv"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n';
  const parts = [...texts, emptyFile].map((part) => `--part\r\nContent-Disposition: form-data; ${part}\r\n`);
  const headers = { "Content-Type": "multipart/form-data; boundary=part", Origin: origin };
  const body = `${parts.join("")}--part--\r\n`;
  const page = await parsePage(await visitor.send(new Request(`${origin}/careers`, { method: "POST", headers, body })));
  expectInvalidFields(page, ["cv"]);
  expect(page.problems.map(({ text }) => text)).toEqual(["Choose your CV."]);
  expectAnswers(page, person);
});

test("A CV of more than 10 MiB gets status 413, and the form shows the typed texts again.", async () => {
  for (const size of [maxBytes + 1, 11 * 1024 * 1024]) {
    const page = await sendInvalid({ ...person, cv: createPdf("cv.pdf", size) });
    expectInvalidFields(page, ["cv"], 413);
    expect(page.problems.map(({ text }) => text)).toEqual([expect.stringContaining("over 10 MB")]);
    expectAnswers(page, person);
  }
});

test("An application with two files is rejected.", async () => {
  const form = new FormData();
  for (const [name, value] of Object.entries(person)) form.append(name, value);
  for (const name of ["first.pdf", "second.pdf"]) form.append("cv", createPdf(name));
  expect((await visitor.post("/careers", form)).status).toBe(400);
});

test("After an application with a PDF or Word file, the form is empty, and one toast says that nothing was sent.", async () => {
  const description = expect.stringMatching(/not been sent yet\. Email your application to nairobi@mizigo\.example\.$/);
  const toast = { title: expect.stringMatching(/thank you/i), description, variant: "default" };
  for (const [cv, letter] of [
    [createPdf("Neema's CV, final (2).PDF", maxBytes), "l".repeat(2000)],
    [createFile("السيرة الذاتية.docx", contents.docx), ""],
    [createFile("cv.doc", contents.doc), ""],
    [createFile("cv.doc", contents.rtf), ""],
  ] as const) {
    const response = await sendApplication({ ...person, letter, cv });
    expect([cv.name, response.status, response.headers.get("Location")]).toEqual([cv.name, 303, "/careers"]);
    const page = await visitor.follow(response);
    expect(page.toasts).toEqual([toast]);
    expectAnswers(page, { name: "", email: "", letter: "" });
  }
  expect((await visitor.open("/careers")).toasts).toEqual([]);
});

/**
 * Returns the names of the files in the data directory that contain `text`, one per line. These files do not include
 * the database.
 */
const findFiles = (text: string) =>
  spawnSync("grep", ["-rlF", text, process.env.DATA_DIR ?? ""], { encoding: "utf8" }).stdout;

test("A valid or invalid application causes no backend call and no file, whether or not the applicant is signed in.", async () => {
  const client = app.browser();
  await client.signUpAndLogIn("Somebody");
  const shipment = await client.open(await client.createShipment("Tea"));
  const storedText = "A document that is stored";
  const file = createFile("list.pdf", "%PDF-1.4\n", storedText, pdfEnd);
  expect((await client.submit(shipment, "Upload the Packing List", { file })).status).toBe(303);
  expect(findFiles(storedText), "files that contain an uploaded text").not.toBe("");

  const cv = createFile("cv.pdf", "%PDF-1.4\n", marker, pdfEnd);
  const calls = await app.proxy.during(async () => {
    for (const browser of [visitor, client]) {
      const form = await browser.open("/careers");
      expect((await browser.submit(form, "Check application", { ...person, cv })).status).toBe(303);
      expect((await browser.submit(form, "Check application", { ...person, email: "x", cv })).status).toBe(400);
    }
  });
  expect(calls).toEqual([]);
  for (const text of [marker, person.email]) expect(findFiles(text)).toBe("");
});
