import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, newShipment, test } from "../../support/e2e-fixtures.ts";

/** Starts a server with one page on another port than the site. */
async function startOtherSite(html: string) {
  const server = createServer((_, answer) => answer.writeHead(200, { "content-type": "text/html" }).end(html));
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  return { port, close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) };
}

test.use({ expectedErrors: /403 \(Forbidden\)|frame-ancestors 'none'|createHTML/ });

test("A form on another site changes nothing on our site and gets status 403.", async ({
  page,
  loggedInClient: _,
  baseURL,
}) => {
  await newShipment(page, "Mine");
  // The browser sends cookies with a form from another port of the same host, because all ports of a host are the same
  // site. The browser sends no cookies with a form from another host.
  for (const host of ["localhost", "127.0.0.1"]) {
    for (const kind of ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]) {
      await test.step(`${kind} from ${host}`, async () => {
        const fields = `<input name="name" value="Theirs"><input name="idempotencyKey" value="${crypto.randomUUID()}">`;
        const form = `<form method="post" action="${baseURL}/portal/new" enctype="${kind}">${fields}<button>Win</button>`;
        const otherSite = await startOtherSite(`<!doctype html><title>Win a prize</title>${form}</form>`);
        await page.goto(`http://${host}:${otherSite.port}/`);
        const answered = page.waitForResponse((response) => response.request().method() === "POST");
        await page.getByRole("button", { name: "Win" }).click();
        expect((await answered).status()).toBe(403);
        await expect(page.getByText("This form was sent from another site").first()).toBeVisible();
        await otherSite.close();
      });
    }
  }
  await page.goto("/portal");
  await expect(page.getByRole("region", { name: "My Shipments" }).getByRole("link", { name: /Mine/ })).toBeVisible();
  await expect(page.locator("main").getByText("Theirs")).toHaveCount(0);
});

test("Another site cannot display our site in a frame.", async ({ page, baseURL }) => {
  const otherSite = await startOtherSite(`<!doctype html><title>Frame</title><iframe src="${baseURL}/login"></iframe>`);
  await page.goto(`http://localhost:${otherSite.port}/`);
  const frame = page.frames()[1];
  await expect.poll(() => frame?.url()).toMatch(/^chrome-error:/);
  await otherSite.close();
});
