import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { createAndOpenShipment, expect, test } from "../support/e2e-fixtures.ts";

/** Starts a server with one page. The server's port differs from the site's port. */
async function startOtherSite(html: string) {
  const server = createServer((_, answer) => answer.writeHead(200, { "content-type": "text/html" }).end(html));
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  return { port, close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) };
}

test.use({ expectedErrors: /403 \(Forbidden\)|frame-ancestors 'none'|createHTML/ });

const createHiddenField = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value}">`;

/** Opens a page of the other site and clicks its button. Returns the status of the POST. */
async function submitFromOtherSite(page: Page, address: string, form: string): Promise<number | undefined> {
  const otherSite = await startOtherSite(`<!doctype html><title>Win a prize</title>${form}`);
  await page.goto(address.replace("PORT", String(otherSite.port)));
  const answered = page.waitForResponse((response) => response.request().method() === "POST");
  await page.getByRole("button", { name: "Win" }).click();
  const status = (await answered).status();
  await expect(page.getByText("This form was sent from another site").first()).toBeVisible();
  await otherSite.close();
  return status;
}

// A form from another port of the same host is sent with cookies, because all ports of a host are the same site. A form
// from another host is sent without cookies.
const origins: [string, string][] = [
  ["another host", "http://localhost:PORT/"],
  ["another port of the same host", "http://127.0.0.1:PORT/"],
];

for (const [attacker, address] of origins) {
  test(`A form on ${attacker} changes nothing on our site and gets 403`, { tag: "@no-script" }, async ({
    page,
    loggedInClient: signedIn,
    baseURL,
  }) => {
    await page.goto("/portal");
    await expect(page.getByText(`Welcome, ${signedIn.fullName}.`)).toBeVisible();
    await createAndOpenShipment(page, "Mine");
    const button = "<button>Win</button>";
    const attacks: [string, string][] = [
      ["/portal/new", createHiddenField("name", "Theirs") + createHiddenField("idempotencyKey", crypto.randomUUID())],
      ["/portal/sign-out", ""],
      ["/login", createHiddenField("email", "thief@client.example") + createHiddenField("password", "their password")],
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
  });
}

test("Another site cannot show our site in a frame", { tag: "@no-script" }, async ({ page, baseURL }) => {
  const otherSite = await startOtherSite(`<!doctype html><title>Frame</title><iframe src="${baseURL}/login"></iframe>`);
  await page.goto(`http://localhost:${otherSite.port}/`);
  const frame = page.frames()[1];
  await expect.poll(() => frame?.url()).toMatch(/^chrome-error:/);
  await otherSite.close();
});
