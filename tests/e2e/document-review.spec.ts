import type { APIRequestContext, Page } from "@playwright/test";
import type { AppSupabaseClient } from "../../app/lib/supabase/client.server.ts";
import { expect, heading, insertShipment, postForm, test, toast } from "../support/e2e-fixtures.ts";
import { createPicture, createPolyglot, createScriptedPdf } from "../support/review-files.ts";

type Sender = { company: AppSupabaseClient; request: APIRequestContext };

/** Uploads the file as the client, without opening a page. Returns the URL path of its review page. */
async function uploadFile({ company, request }: Sender, shipment: string, name: string, file: File) {
  const { data } = await company.from("documents").select("id").eq("shipment_id", shipment).eq("name", name).single();
  const buffer = Buffer.from(await file.arrayBuffer());
  const multipart = { document: data?.id ?? "", file: { name: file.name, mimeType: file.type, buffer } };
  const response = await request.post(`/portal/${shipment}`, { multipart, maxRedirects: 0 });
  expect(response.status()).toBe(303);
  return `/desk/shipments/${shipment}/documents/${data?.id}`;
}

/** Returns the dialogs and console messages of scripts in files. */
function watchScripts(page: Page): string[] {
  const signs: string[] = [];
  page.on("dialog", (dialog) => {
    signs.push(dialog.message());
    void dialog.dismiss();
  });
  page.on("console", (message) => message.text().includes("script ran") && signs.push(message.text()));
  return signs;
}

// The server does not show a PDF with a script.
test.use({ expectedErrors: /status of 415/ });

const script = "try { app.alert('script ran'); } catch (e) { alert('script ran'); }";

test("A clerk looks at files with scripts, and no script runs. The clerk zooms, rotates and checks the documents.", async ({
  page,
  client,
  loggedInLead: _,
  serviceRole: company,
  request,
  javaScriptEnabled,
}) => {
  test.slow();
  const { id } = await insertShipment(company, client, `Review ${Date.now()}`);
  await postForm(request, "/login", { email: client.email, password: client.password });
  const sender = { company, request };
  const pdf = await uploadFile(sender, id, "Packing List", createScriptedPdf(script));
  const polyglot = await uploadFile(sender, id, "Bill of Lading", await createPolyglot("alert('script ran')"));
  const picture = await uploadFile(sender, id, "Commercial Invoice", await createPicture("png", 400, 200));
  const signs = watchScripts(page);

  await test.step("no script of a file runs", async () => {
    for (const path of [pdf, polyglot]) {
      for (const address of [path, `${path}/view`]) {
        await page.goto(address);
        await expect(page).toHaveURL(new RegExp(`${path}$`));
        await page.waitForLoadState("networkidle");
      }
    }
    await expect(page.getByText("This file is not an ordinary PDF file.")).toBeVisible();
    await expect(page.locator("object")).toHaveCount(0);
    expect(signs).toEqual([]);
  });

  await test.step("zoom and rotate a picture", async () => {
    await page.goto(picture);
    const shown = page.locator("main img");
    const measure = async () => (await shown.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const whole = await measure();
    expect(whole.width).toBeGreaterThan(100);
    await page.getByLabel("Zoom 200%").check();
    expect((await measure()).width).toBeCloseTo(2 * whole.width, 0);
    await page.getByLabel("Rotate right").check();
    const turned = await measure();
    expect([turned.width, turned.height].map(Math.round)).toEqual([2 * whole.width, 2 * whole.height].map(Math.round));
    expect(await shown.evaluate((file) => getComputedStyle(file).transform)).toMatch(
      /^matrix\((?:0|6\.\d+e-17), 1, -1/,
    );
  });

  await test.step("request a new file and verify", async () => {
    await page.goto(picture);
    if (javaScriptEnabled) {
      await expect(page.getByText("Keys: v verify, r request a new file, n next to check")).toBeVisible();
      await page.keyboard.press("r");
      await expect(page.getByLabel("A page is unreadable")).toBeFocused();
      await page.keyboard.press("v");
      await expect(page).toHaveURL(new RegExp(picture));
    }
    await page.getByLabel("A page is missing").check();
    await page.getByRole("button", { name: "Request a new file" }).click();
    await expect(toast(page, "Commercial Invoice: new file requested")).toBeVisible();
    await page.goto(pdf);
    const next = await page.getByRole("link", { name: "Next to check" }).getAttribute("href");
    if (javaScriptEnabled) {
      await expect(page.getByText("Keys: v verify")).toBeVisible();
      await page.keyboard.press("n");
      await expect(page).toHaveURL(new RegExp(`${next}$`));
      await page.goto(pdf);
      await expect(page.getByText("Keys: v verify")).toBeVisible();
      await page.keyboard.press("v");
    } else await page.getByRole("button", { name: "Verify" }).click();
    await expect(toast(page, "Packing List verified")).toBeVisible();
    // Other tests check documents at the same time, so this test cannot know which document is next.
    await expect(page).toHaveURL(/\/desk(?:\/shipments\/[^/]+\/documents\/[^/]+)?$/);
    await expect(page).not.toHaveURL(new RegExp(`${pdf}$`));
    await expect(heading(page)).not.toBeEmpty();
  });
});
