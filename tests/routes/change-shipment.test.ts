import { beforeAll, describe, expect, test } from "vitest";
import { describeCut } from "../support/labels.ts";
import { getHref, listShipmentNames, unknownId } from "../support/page-parts.ts";
import { expectRejectedForm, newClient, newShipment, successToast } from "../support/route-fixtures.ts";
import { moveShipment, resultOrThrow } from "../support/staff-actions.ts";
import { createPdf, type FormValues, getTestApp, type ParsedPage, parsePage } from "../support/test-app.ts";

const app = await getTestApp();
const client = await newClient(app, "Changing Client");
const browser = client.browser;

const readAwb = (page: ParsedPage) => /AWB\/BL (.*?) (Change|Share)/.exec(page.text)?.[1];
const openForm = (portal: string) => browser.open(`${portal}/change`);

test("At stage 1, a client can change a shipment's name and AWB/BL, and remove the AWB/BL.", async () => {
  const { portal } = await newShipment(app, client, "Old name");
  const href = getHref(await browser.open(portal), "Change");
  expect(href).toBe(`${portal}/change`);
  const form = await browser.open(href ?? "");
  expect([form.value("name"), form.value("awb")]).toEqual(["Old name", ""]);
  const response = await browser.submit(form, "Save changes", { name: "New name", awb: "MSKU-1" });
  expect(response.headers.get("Location")).toBe(portal);
  const page = await browser.follow(response);
  expect([page.h1, readAwb(page), page.toasts]).toEqual(["New name", "MSKU-1", successToast("Changes saved")]);
  expect(listShipmentNames(page)).toContain("New name");
  await browser.submit(await openForm(portal), "Save changes", { awb: "" });
  expect(readAwb(await browser.open(portal))).toBe("N/A");
});

test("An invalid form changes nothing and shows the typed texts again up to their maximum lengths.", async () => {
  const { portal } = await newShipment(app, client, "Unchanged");
  const form = await openForm(portal);
  for (const [invalid, message] of [
    [{ name: "   " }, "Enter a name for the shipment."],
    [{ name: "\u200b\u2060" }, "Enter a name for the shipment."],
    [{ name: "n".repeat(121) }, `Use at most 120 characters for the name. ${describeCut(120)}`],
    [{ awb: "9".repeat(65) }, `Use at most 64 characters for the AWB/BL. ${describeCut(64)}`],
  ] as const) {
    const fields = { name: "Typed name", awb: "Typed number", ...invalid };
    const page = await parsePage(await browser.submit(form, "Save changes", fields));
    expect([page.status, page.title.startsWith("Error: ")]).toEqual([400, true]);
    expect(page.problems).toEqual([{ text: message, id: expect.anything() }]);
    expect(page.has(page.problems[0]?.id ?? "")).toBe(true);
    const shown = [fields.name.trim().slice(0, 120), fields.awb.slice(0, 64)];
    expect([page.value("name").trim(), page.value("awb")]).toEqual(shown);
  }
  expect((await browser.open(portal)).h1).toBe("Unchanged");
});

test("An outdated form shows the stored values next to the typed values. Sending the form again replaces the stored values.", async () => {
  const { portal } = await newShipment(app, client, "Opened twice");
  const [first, second] = [await openForm(portal), await openForm(portal)];
  expect((await browser.submit(first, "Save changes", { name: "First" })).status).toBe(303);
  browser.cookies.delete("flash");
  const outdated = await parsePage(await browser.submit(second, "Save changes", { name: "Second", awb: "S-2" }));
  const changed = "This shipment has changed. Check the new values, then try again.";
  expectRejectedForm(outdated, 409, changed);
  expect([outdated.value("name"), outdated.value("awb")]).toEqual(["Second", "S-2"]);
  expect(["name", "awb"].map(outdated.getDescriptions)).toEqual([["Saved value: First"], ["Saved value: none"]]);
  const saved = await browser.follow(await browser.submit(outdated, "Save changes", { name: "First", awb: "S-3" }));
  expect([saved.h1, readAwb(saved)]).toEqual(["First", "S-3"]);
  // The typed name equals the stored name, so the field for the name does not show the stored value.
  const again = await parsePage(await browser.submit(second, "Save changes", { name: "First", awb: "S-4" }));
  expect(["name", "awb"].map(again.getDescriptions)).toEqual([[], ["Saved value: S-3"]]);
  for (const expectedVersion of ["", "x", "-1"])
    expect((await browser.post(`${portal}/change`, { name: "x", expectedVersion })).status).toBe(409);
});

test("After stage 1, a shipment has no form for changes, and a form that was opened before is rejected.", async () => {
  const { id, portal } = await newShipment(app, client, "Moving on");
  const form = await openForm(portal);
  resultOrThrow(await moveShipment(app.company, id, { despiteMissing: true }, {}));
  const late = await parsePage(await browser.submit(form, "Save changes", { name: "Too late" }));
  const message = "You can change the name and numbers only at stage 1. Call us to change them now.";
  expect([late.status, late.problems.map(({ text }) => text)]).toEqual([409, [message]]);
  const page = await browser.open(portal);
  expect([page.h1, getHref(page, "Change")]).toEqual(["Moving on", undefined]);
  const moved = await openForm(portal);
  expect(moved.text).toContain(message);
  expect(moved.all("main form, main input")).toEqual([]);
});

test("A stranger cannot open or send the form that changes a client's shipment.", async () => {
  const { portal } = await newShipment(app, client, "Not yours");
  const stranger = await newClient(app, "Strange Client");
  const { fields } = (await openForm(portal)).form("Save changes");
  for (const path of [`${portal}/change`, "/portal/x/change", `/portal/${unknownId}/change`]) {
    const page = await stranger.browser.open(path);
    expect([path, page.status, page.text.includes("Not yours")]).toEqual([path, 404, false]);
    const form = { ...(fields as Record<string, string>), name: "Mine now" };
    expect([path, (await stranger.browser.post(path, form)).status]).toEqual([path, 404]);
  }
  expect((await browser.open(portal)).h1).toBe("Not yours");
});

describe("Shipment next to search results", () => {
  const filter = "?q=pump&waiting=client";
  let portal: string;
  beforeAll(async () => {
    ({ portal } = await newShipment(app, client, "Pump for Lamu", ["Packing List"]));
  });
  const openNextToResults = () => browser.open(portal + filter);

  /** Submits the form that has the button `button`, and discards the toast. Returns the target of the redirect. */
  async function submitForm(page: ParsedPage, button: string, fields: FormValues = {}): Promise<string | null> {
    const response = await browser.submit(page, button, fields);
    browser.cookies.delete("flash");
    return response.headers.get("Location");
  }

  test("The URL still contains the search after a client uploads or removes a file or starts a payment.", async () => {
    const page = await openNextToResults();
    expect(await submitForm(page, "Upload the Commercial Invoice", { file: createPdf() })).toBe(portal + filter);
    expect(await submitForm(page, "Pay IDF Fee")).toBe(portal + filter);
    const confirmation = await browser.open(getHref(page, "Remove file: Packing List") ?? "");
    expect(getHref(confirmation, "Cancel")).toBe(portal + filter);
    expect(await submitForm(confirmation, "Remove file")).toBe(portal + filter);
  });

  test("The URL still contains the search after a client changes a shipment or cancels the change.", async () => {
    const form = await browser.open(getHref(await openNextToResults(), "Change") ?? "");
    expect(getHref(form, "Cancel")).toBe(portal + filter);
    const rejected = await parsePage(await browser.submit(form, "Save changes", { name: "" }));
    expect(getHref(rejected, "Cancel")).toBe(portal + filter);
    expect(await submitForm(rejected, "Save changes", { name: "Pump for Manda" })).toBe(portal + filter);
  });

  test("The URL still contains the search after a client creates or revokes a share link or closes the page for sharing.", async () => {
    const share = `${portal}/share${filter}`;
    expect(getHref(await openNextToResults(), "Share")).toBe(share);
    expect(await submitForm(await browser.open(share), "Create share link")).toBe(share);
    const page = await browser.open(share);
    expect(getHref(page, "Close")).toBe(portal + filter);
    expect(await submitForm(page, "End share link")).toBe(share);
  });
});
