import { afterAll, expect, test } from "vitest";
import {
  createPdf,
  getTestApp,
  noStorePattern,
  origin,
  parsePage,
  password,
  startTestSite,
} from "../support/test-app.ts";

const KiB = 1024;

await getTestApp();
const site = await startTestSite();
const client = site.browser();
const email = await client.signUpAndLogIn("Requester");
afterAll(() => site.close());

const createTextForm = (size: number) => ({ email, password: "p", more: "m".repeat(size) });
function createForm(fields: [string, string | File][]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}

test.each(["/login", "/auth/confirm", "/portal/new", "/actions/theme"])(
  "The form %s accepts 64 KiB. One more byte or a file of 11 MiB gets status 413 and an error on the page.",
  async (path) => {
    const frame = new URLSearchParams(createTextForm(0)).toString().length;
    expect([303, 400]).toContain((await client.post(path, createTextForm(64 * KiB - frame))).status);
    const file = createPdf("large.pdf", 11 * KiB * KiB);
    for (const form of [createTextForm(64 * KiB - frame + 1), createForm([["email", file]])]) {
      const page = await parsePage(await client.post(path, form));
      expect([page.status, page.h1]).toEqual([413, "File or text too large"]);
      expect(page.headers.get("Cache-Control") ?? "").toMatch(noStorePattern);
    }
  },
);

test("The site rejects a form with more than a hundred fields or with a thousand parts.", async () => {
  const fields = new URLSearchParams({ email, password });
  for (let index = 0; index < 98; index += 1) fields.append(`field${index}`, "x");
  expect((await site.browser().post("/login", fields)).status).toBe(303);
  fields.append("one-more", "x");
  expect((await site.browser().post("/login", fields)).status).toBe(400);

  const form = createForm(Object.entries({ email, password }));
  expect((await site.browser().post("/login", form)).status).toBe(303);
  for (let index = 0; index < 1000; index += 1) form.append(`field${index}`, "x");
  expect((await site.browser().post("/login", form)).status).toBe(400);
});

test.each([
  ["/signup", "fullName", 100],
  ["/signup", "unknown", 100],
  ["/contact", "message", 2000],
  ["/actions/quote", "phone", 32],
  ["/portal/new", "awb", 64],
  ["/portal/account", "fullName", 100],
])(
  "The form %s with 60,000 characters in the field %s shows at most %i of these characters again.",
  async (path, field, max) => {
    const form = { intent: "name", form: "name", [field]: "q".repeat(60_000) };
    const page = await parsePage(await client.post(path, form));
    expect(page.status).toBe(400);
    expect(page.html).not.toContain("q".repeat(max + 1));
    if (field !== "unknown") expect(page.html).toContain("q".repeat(max));
  },
);

test("The response to a rejected form contains at most 100 characters of the form's intent.", async () => {
  const page = await parsePage(await client.post("/portal/account", { intent: "name", form: "q".repeat(60_000) }));
  expect([page.status, page.html.includes("q".repeat(101))]).toEqual([400, false]);
});

test.each(["/?index", "/contact", "/careers", "/actions/quote", "/login", "/signup", "/cookie-settings"])(
  "The form %s rejects a repeated field, a file, or more than 64 KiB of text in several parts, without showing them again.",
  async (path) => {
    const fields: [string, string][] = [...Object.entries({ email, password, name: "A", more: "a" }), ["more", "b"]];
    for (const form of [new URLSearchParams(fields), createForm(fields)]) {
      const page = await parsePage(await client.post(path, form));
      expect([page.status, page.text]).toEqual([400, expect.stringContaining("One field of the form was sent twice.")]);
    }
    if (path !== "/careers") {
      const page = await parsePage(await client.post(path, createForm([["email", createPdf("small.pdf", 100)]])));
      expect([page.status, page.text]).toEqual([400, expect.stringContaining("This form accepts only text.")]);
    }
    const sendParts = (letters: number) =>
      client.post(path, createForm([1, 2, 3].map((part) => [`message${part}`, "m".repeat(letters)])));
    expect((await sendParts(21_000)).status).not.toBe(413);
    for (const letters of [22_000, 1_000_000]) {
      const larger = await sendParts(letters);
      expect([larger.status, (await larger.text()).includes("mmm")]).toEqual([413, false]);
    }
  },
);

const createPart = (name: string, value: string) =>
  `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
test.each([
  ["a part that is no text", "x", createPart("name", "\xff\xfe")],
  ["a part with 3 KB of headers", "x", `X: ${"y".repeat(3000)}\r\n${createPart("name", "a")}`],
  ["a boundary of 71 characters", "x".repeat(71), createPart("name", "a")],
])("The site rejects a form with %s as damaged.", async (_what, boundary, part) => {
  const headers = { Origin: origin, "Content-Type": `multipart/form-data; boundary=${boundary}` };
  const body = Buffer.from(`--${boundary}\r\n${part}--${boundary}--\r\n`, "latin1");
  for (const path of ["/careers", "/contact"]) {
    const request = new Request(new URL(path, origin), { method: "POST", body, headers });
    const page = await parsePage(await client.send(request));
    expect([page.status, page.text]).toEqual([400, expect.stringContaining("We received only part of the form.")]);
  }
});
