import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { createAndOpenShipment, expect, test } from "../support/e2e-fixtures.ts";

/** A server with one page, on a port other than the site's. */
async function startOtherSite(html: string) {
  const server = createServer((_, answer) => answer.writeHead(200, { "content-type": "text/html" }).end(html));
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  return { port, close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) };
}

test.use({ expectedErrors: /403 \(Forbidden\)|frame-ancestors 'none'|createHTML/ });

const createHiddenField = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value}">`;

/** Opens the other site's page and presses its button. Returns the status of the POST it causes. */
async function submitFromOtherSite(page: Page, address: string, form: string): Promise<number | undefined> {
  const other = await startOtherSite(`<!doctype html><title>Win a prize</title>${form}`);
  await page.goto(address.replace("PORT", String(other.port)));
  const answered = page.waitForResponse((response) => response.request().method() === "POST");
  await page.getByRole("button", { name: "Press me" }).click();
  const status = (await answered).status();
  await expect(page.getByText(/This form (came from somewhere else|was sent from another site)/).first()).toBeVisible();
  await other.close();
  return status;
}

// Another host is another site, which gets no cookie; another port of the same host is the same site, and gets them.
const origins: [string, string][] = [
  ["another host", "http://localhost:PORT/"],
  ["another port of the same host", "http://127.0.0.1:PORT/"],
];

for (const [whose, address] of origins) {
  test(`a form on ${whose} changes nothing here, whatever it posts`, async ({
    page,
    loggedInClient: signedIn,
    baseURL,
  }) => {
    await page.goto("/portal");
    await expect(page.getByText(`Welcome, ${signedIn.fullName}.`)).toBeVisible();
    const id = await createAndOpenShipment(page, "Mine");
    const button = "<button>Press me</button>";
    const attacks: [string, string][] = [
      ["/portal/new", createHiddenField("name", "Theirs") + createHiddenField("idempotencyKey", crypto.randomUUID())],
      [`/portal/${id}/documents`, createHiddenField("id", "x")],
      ["/portal/2fa", createHiddenField("intent", "start")],
      ["/portal/sign-out", ""],
      ["/login", createHiddenField("email", "thief@client.example") + createHiddenField("password", "their password")],
      ["/actions/theme", createHiddenField("theme", "light")],
      ["/cookie-settings", createHiddenField("accept", "all")],
    ];
    for (const [path, fields] of attacks) {
      const kinds = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];
      for (const kind of path === "/portal/new" ? kinds : kinds.slice(0, 1)) {
        const form = `<form method="post" action="${baseURL}${path}" enctype="${kind}">${fields}${button}</form>`;
        expect(await submitFromOtherSite(page, address, form), `${kind} to ${path}`).toBe(403);
      }
    }
    await page.goto("/portal");
    await expect(page.getByRole("region", { name: "My Shipments" }).getByRole("link", { name: /Mine/ })).toBeVisible();
    await expect(page.locator("main").getByText("Theirs")).toHaveCount(0);
    await expect(page.locator("html")).toHaveClass(/dark/);
  });
}

test("no other site shows ours in a frame", async ({ page, baseURL }) => {
  const other = await startOtherSite(`<!doctype html><title>Frame</title><iframe src="${baseURL}/login"></iframe>`);
  await page.goto(`http://localhost:${other.port}/`);
  const frame = page.frames()[1];
  await expect.poll(() => frame?.url()).toMatch(/^chrome-error:/);
  await other.close();
});
