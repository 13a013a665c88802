import type { ServerBuild } from "react-router";
import { expect, test } from "vitest";
import { serverBuildFile } from "../../app/server/start/build.ts";
import { unknownId } from "../support/page-parts.ts";
import { getDocument, newClient, newShipment } from "../support/route-fixtures.ts";
import { createPdf, getTestApp, type ParsedPage, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const owner = await newClient(app, "Owner");
const { id: shipment, portal: ownersPath } = await newShipment(app, owner, "A secret cargo");
const { id: document } = await getDocument(app.company, shipment, "Packing List");
const stranger = app.browser();
await stranger.signUpAndLogIn("Stranger");
await stranger.open("/portal");
const inaccessiblePaths = [ownersPath, `/portal/${unknownId}`, "/portal/not-a-uuid"];

async function expectUnchanged(): Promise<void> {
  const { data } = await app.company.from("documents").select("uploaded, storage_path").eq("shipment_id", shipment);
  expect(data).toEqual(Array(4).fill({ uploaded: false, storage_path: null }));
  const { data: files } = await app.company.storage.from("documents").list(ownersPath.replace("/portal", owner.id));
  expect(files).toEqual([]);
}

/** Returns the HTML with placeholders in place of the requested path, the shipment's ID and the nonce. */
function normalizeHtml(page: ParsedPage, path: string): string {
  const nonce = /'nonce-([^']+)'/.exec(page.headers.get("Content-Security-Policy") ?? "")?.[1] ?? "";
  return page.html.replaceAll(path, "PATH").replaceAll(path.replace("/portal/", ""), "ID").replaceAll(nonce, "NONCE");
}

/** Uses a stranger's session to send a file for the owner's document. */
function uploadFile(path: string): Promise<Response> {
  const form = new FormData();
  form.append("document", document);
  form.append("file", createPdf());
  return stranger.post(path, form);
}

test.each<[string, (path: string) => Promise<Response>]>([
  ["opens", (path) => stranger.get(path)],
  ["uploads a file to", uploadFile],
  ["sends an empty form to", (path) => stranger.post(path, {})],
])("A stranger who %s a client's shipment gets the same 404 page as for an unknown shipment.", async (_verb, send) => {
  const pages: { page: ParsedPage; path: string }[] = [];
  const calls = await app.proxy.during(async () => {
    for (const path of inaccessiblePaths) pages.push({ path, page: await parsePage(await send(path)) });
  });
  for (const { page } of pages) {
    expect([page.status, page.h1]).toEqual([404, "Page not found"]);
    expect(page.title).toMatch(/^Page not found/);
    expect(page.html).not.toContain("A secret cargo");
  }
  expect(new Set(pages.map(({ page, path }) => normalizeHtml(page, path))).size).toBe(1);
  const headers = pages.map(({ page }) => [...page.headers].filter(([name]) => name !== "content-security-policy"));
  expect(new Set(headers.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(calls.filter((call) => !call.startsWith("GET "))).toEqual([]);
  await expectUnchanged();
});

test("A stranger's client-side navigation gets the same data for a client's shipment as for an unknown shipment.", async () => {
  const get = async (path: string) => (await stranger.get(`${path}.data`)).text();
  const [text, ...others] = await Promise.all(inaccessiblePaths.map(get));
  expect(others).toEqual([text, text]);
  expect(text).not.toContain("A secret cargo");
});

test("A stranger's payment for a client's shipment redirects to the same 404 page as for an unknown shipment.", async () => {
  for (const path of inaccessiblePaths) {
    const response = await stranger.post(`${path}/payments`, { payment: "duties" });
    expect(response.headers.get("Location")).toBe(path);
    expect((await stranger.follow(response)).status).toBe(404);
  }
  expect((await stranger.open("/portal")).text).toContain("You have no shipments yet.");
});

/** Returns the path of every route under /portal and /desk, with an unknown ID for each parameter. */
async function listProtectedPaths(): Promise<string[]> {
  const { routes } = (await import(serverBuildFile)) as ServerBuild;
  const getPath = (id: string | undefined): string => {
    const route = id === undefined ? undefined : routes[id];
    return route ? [getPath(route.parentId), route.path].filter(Boolean).join("/") : "";
  };
  const paths = Object.keys(routes).map((id) => `/${getPath(id)}`.replace(/:\w+/g, unknownId));
  return [...new Set(paths.filter((path) => /^\/(portal|desk)(\/|$)/.test(path)))];
}

test("Every URL under /portal and /desk redirects visitors and their forms to the login page.", async () => {
  const visitor = app.browser();
  // Excludes the paths that end a session or report its state, because they also work without a session.
  const open = ["/portal/sign-out", "/portal/session", "/desk/session"];
  const addresses = (await listProtectedPaths()).filter((path) => !open.includes(path));
  expect(addresses.length).toBeGreaterThan(20);
  for (const path of addresses) {
    for (const response of [await visitor.get(path), await visitor.post(path, { intent: "name", fullName: "x" })]) {
      const location = response.headers.get("Location") ?? "";
      expect([path, response.status, location.split("?")[0], await response.text()]).toEqual([path, 303, "/login", ""]);
      if (["/portal/new", `/portal/${unknownId}`].includes(path))
        expect(location).toBe(`/login?next=${encodeURIComponent(path)}`);
    }
  }
});
