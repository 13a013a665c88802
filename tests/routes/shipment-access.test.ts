import type { ServerBuild } from "react-router";
import { beforeAll, describe, expect, test } from "vitest";
import { serverBuildFile } from "../../app/server/start/build.ts";
import {
  createPdf,
  getTestApp,
  logInToBackend,
  type ParsedPage,
  parsePage,
  type TestBrowser,
} from "../support/test-app.ts";

const unknownId = "0b51e3a8-0000-4000-8000-000000000000";

let app: Awaited<ReturnType<typeof getTestApp>>;
let owner: Awaited<ReturnType<typeof logInToBackend>>;
let ownersPath: string;
let document: string;
let stranger: TestBrowser;
let inaccessiblePaths: string[];
beforeAll(async () => {
  app = await getTestApp();
  const browser = app.browser();
  owner = await logInToBackend(await browser.signUpAndLogIn("Owner"));
  ownersPath = await browser.createShipment("A secret cargo");
  const { data } = await owner.backend.from("documents").select("id").limit(1).single();
  document = data?.id ?? "";
  stranger = app.browser();
  await stranger.signUpAndLogIn("Stranger");
  await stranger.open("/portal");
  inaccessiblePaths = [ownersPath, `/portal/${unknownId}`, "/portal/not-a-uuid"];
});

/** The page's HTML with placeholders for what differs between answers: the address asked for and the nonce. */
function normalizeHtml(page: ParsedPage, path: string): string {
  const nonce = /'nonce-([^']+)'/.exec(page.headers.get("Content-Security-Policy") ?? "")?.[1] ?? "";
  return page.html.replaceAll(path, "PATH").replaceAll(path.replace("/portal/", ""), "ID").replaceAll(nonce, "NONCE");
}

const accessCases: { way: string; ask: (path: string) => Promise<Response> }[] = [
  { way: "opening", ask: (path) => stranger.get(path) },
  {
    way: "uploading to",
    ask: (path) => {
      const form = new FormData();
      form.append("document", document);
      form.append("file", createPdf());
      return stranger.post(path, form);
    },
  },
  { way: "posting an empty form to", ask: (path) => stranger.post(path, {}) },
];

describe.each(accessCases)("$way a shipment that is a stranger's, unknown, or has no possible id", ({ ask }) => {
  test("is the same 404 each time, and nothing is written", async () => {
    const answers: { page: ParsedPage; path: string }[] = [];
    const calls = await app.proxy.during(async () => {
      for (const path of inaccessiblePaths) answers.push({ path, page: await parsePage(await ask(path)) });
    });
    for (const { page } of answers) {
      expect(page.status).toBe(404);
      expect(page.h1).toBe("There is no page here");
      expect(page.title).toMatch(/^There is no page here/);
      expect(page.html).not.toContain("A secret cargo");
    }
    expect(new Set(answers.map(({ page, path }) => normalizeHtml(page, path))).size).toBe(1);
    const headers = answers.map(({ page }) => [...page.headers].filter(([name]) => name !== "content-security-policy"));
    expect(new Set(headers.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
  });
});

test("a stranger's script gets nothing of a shipment either", async () => {
  const answers = [];
  for (const path of inaccessiblePaths) {
    const response = await stranger.get(`${path}.data`);
    const text = await response.text();
    expect(text).not.toContain("A secret cargo");
    answers.push([response.status, text]);
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
});

test("a payment button answers a stranger as it answers for a shipment that does not exist", async () => {
  for (const path of inaccessiblePaths) {
    const answer = await stranger.post(`${path}/payments`, { payment: "duties" });
    expect(answer.headers.get("Location")).toBe(path);
    expect((await stranger.follow(answer)).status).toBe(404);
  }
});

test("after all that the owner finds the shipment as it was, and the stranger's list is empty", async () => {
  const { data } = await owner.backend.from("documents").select("uploaded, storage_path");
  expect(data).toEqual(Array(4).fill({ uploaded: false, storage_path: null }));
  const { data: files } = await app.company.storage.from("documents").list(ownersPath.replace("/portal", owner.id));
  expect(files).toEqual([]);
  expect((await stranger.open("/portal")).text).toContain("You have no shipments yet.");
});

/** The addresses of all routes under /portal and /desk, as the build has them, with ids that are nobody's. */
async function listProtectedPaths(): Promise<string[]> {
  const { routes } = (await import(serverBuildFile)) as ServerBuild;
  const pathOf = (id: string | undefined): string => {
    const route = id === undefined ? undefined : routes[id];
    return route ? [pathOf(route.parentId), route.path].filter(Boolean).join("/") : "";
  };
  const paths = Object.keys(routes).map((id) => `/${pathOf(id)}`.replace(/:\w+/g, unknownId));
  return [...new Set(paths.filter((path) => /^\/(portal|desk)(\/|$)/.test(path)))];
}

test("every address under /portal and /desk asks who is signed out to log in, opened and posted to", async () => {
  const visitor = app.browser();
  // Open to everybody: what they do is to end a session, or to say that there is none.
  const open = ["/portal/sign-out", "/portal/session", "/desk/session"];
  const addresses = (await listProtectedPaths()).filter((path) => !open.includes(path));
  expect(addresses.length).toBeGreaterThan(20);
  for (const path of addresses) {
    for (const answer of [await visitor.get(path), await visitor.post(path, { intent: "name", fullName: "x" })]) {
      expect([path, answer.status, answer.headers.get("Location")?.split("?")[0]]).toEqual([path, 303, "/login"]);
    }
  }
});
