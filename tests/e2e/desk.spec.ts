import { createAndOpenShipment, expect, logInWithoutPage, test, toast } from "../support/e2e-fixtures.ts";
import { verifyDocumentByName } from "../support/service-role.ts";

// The page that asks once more is a refusal.
test.use({ expectedErrors: /status of 409/ });

const pdf = { mimeType: "application/pdf", buffer: Buffer.from(`%PDF-1.4\n${" ".repeat(2000)}%%EOF\n`) };

test("a clerk's morning: what came in is opened, sent back and verified, the shipment moves, a slip is mended, and the client reads of it", async ({
  page,
  client,
  loggedInLead: atDesk,
  browser,
  baseURL,
}) => {
  test.slow();
  const theirs = await (await browser.newContext({ baseURL })).newPage();
  await logInWithoutPage(theirs, client);
  const name = `Tea ${Date.now()}`;
  const id = await createAndOpenShipment(theirs, name);
  const upload = async (document: string) => {
    await theirs.goto(`/portal/${id}`);
    const row = theirs.getByRole("listitem").filter({ hasText: document }).first();
    await row.getByLabel(`File for the ${document}`).setInputFiles({ ...pdf, name: "scan 1.pdf" });
    await row.getByRole("button", { name: /^Upload/ }).click();
    await expect(row).toContainText("Uploaded, we check it next");
  };
  await upload("Packing List");
  await upload("Bill of Lading");

  await test.step("the day's work leads to the shipment", async () => {
    await page.goto("/desk");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Today");
    await expect(page.getByRole("heading", { name: "Documents to check" })).toBeVisible();
    await page.goto("/desk/shipments");
    await page.getByLabel("Find").fill(name);
    await page.getByRole("button", { name: "Find" }).click();
    await expect(page).toHaveURL(/[?&]q=Tea/);
    await page.getByRole("link", { name }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(name);
  });

  await test.step("a document is opened, another one sent back, one verified", async () => {
    const coming = page.waitForEvent("download");
    await page.getByRole("link", { name: "Open the Packing List" }).click();
    expect((await coming).suggestedFilename()).toBe("scan 1.pdf");
    await page.getByText("Send back the Packing List", { exact: true }).first().click();
    await page.getByRole("button", { name: "Send back the Packing List" }).click();
    await expect(page.getByRole("link", { name: "Say why, in a few words." })).toBeVisible();
    const row = page.getByRole("listitem").filter({ hasText: "Packing List" }).first();
    await row.getByLabel("Reason").fill("Page 2 is unreadable");
    await page.getByRole("button", { name: "Send back the Packing List" }).click();
    await expect(toast(page, "Sent back")).toBeVisible();
    await page.getByRole("button", { name: "Verify the Bill of Lading" }).click();
    await expect(toast(page, "Verified")).toBeVisible();
  });

  await test.step("the shipment moves on after a question, and back with a reason", async () => {
    await page.getByLabel("Location").fill("Kilindini, berth 19");
    await page.getByRole("button", { name: "Move to Document Verification" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Move on without these documents?");
    await expect(page.getByLabel("Location")).toHaveValue("Kilindini, berth 19");
    await page.getByLabel("Note to the client").fill("The ship is in.\nMore tomorrow.");
    await page.getByRole("button", { name: /^Move on all the same/ }).click();
    await expect(toast(page, "It is at Document Verification now")).toBeVisible();
    await page.getByText("Correct the stage", { exact: true }).first().click();
    await page.getByLabel("The stage it is really at").selectOption("1");
    await page.locator("#correct").getByLabel("Reason").fill("Another ship");
    await page.getByRole("button", { name: "Correct the stage" }).click();
    await expect(toast(page, "Stage corrected to Client Onboarding")).toBeVisible();
    await expect(page.getByRole("listitem").filter({ hasText: "Reason: Another ship" })).toContainText(atDesk.name);
  });

  await test.step("its client reads why and what, and sends another file", async () => {
    await theirs.goto(`/portal/${id}`);
    await expect(theirs.getByText(/^Sent back .*: Page 2 is unreadable$/)).toBeVisible();
    await expect(theirs.getByText("The ship is in. More tomorrow.")).toBeVisible();
    await upload("Packing List");
    await theirs.context().close();
  });
});

test("many shipments move at once, and the answer says which did not and why", async ({
  page,
  client,
  loggedInLead: atDesk,
  serviceRole: company,
}) => {
  expect(atDesk.session).not.toBe("");
  const account = (await company.rpc("find_account_id", { email: client.email })).data ?? "";
  const name = `Coffee ${Date.now()}`;
  const rows = [1, 2, 3].map((number) => ({ user_id: account, name: `${name}, lot ${number}`, status: "", stage: 1 }));
  const made = await company.from("shipments").insert(rows).select("id, name");
  const [first] = made.data ?? [];
  // Two of the three have nothing missing.
  const others = (made.data ?? []).slice(1).map(({ id }) => id);
  await company.from("documents").delete().in("shipment_id", others);
  await page.goto(`/desk/shipments?q=${encodeURIComponent(name)}`);
  for (const lot of [1, 2, 3]) await page.getByRole("checkbox", { name: `${name}, lot ${lot}` }).check();
  await page.getByLabel("Location").fill("Mombasa");
  await page.getByRole("button", { name: /^Move to the next stage/ }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("2 moved, 1 did not");
  const stayed = page.getByRole("listitem").filter({ hasText: first?.name });
  await expect(stayed).toContainText("Still missing");
  await stayed.getByRole("link").click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(first?.name ?? "");
  await page.goBack();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("2 moved, 1 did not");
  await expect(verifyDocumentByName(company, first?.id ?? "", "Packing List")).rejects.toThrow(
    "has not been uploaded yet",
  );
});

test("on a phone the bar under the list is one row of buttons until a shipment is ticked, and asks where then", async ({
  page,
  client,
  loggedInLead: atDesk,
  serviceRole: company,
}) => {
  expect(atDesk.session).not.toBe("");
  const account = (await company.rpc("find_account_id", { email: client.email })).data ?? "";
  const name = `Sisal ${Date.now()}`;
  await company.from("shipments").insert({ user_id: account, name, status: "", stage: 1 });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(`/desk/shipments?q=${encodeURIComponent(name)}`);
  const [location, box] = [page.getByLabel("Location"), page.getByRole("checkbox", { name })];
  const move = page.getByRole("button", { name: /^Move to the next stage/ });
  await expect(move).toBeInViewport();
  await expect(location).toBeHidden();
  await box.check();
  await expect(location).toBeInViewport();
  await location.fill("Mombasa");
  await box.uncheck();
  await expect(location).toBeHidden();
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(location).toBeVisible();
});
