import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { CDPSession, Locator, Page, Request } from "@playwright/test";
import type { AppSupabaseClient } from "../../app/lib/supabase/client.server.ts";
import { createSamplePdf } from "../../app/server/start/demo.ts";
import { createAndOpenShipment, test, toast, waitForHydration } from "./e2e-fixtures.ts";

export const documentRow = (page: Page, name: string) =>
  page.locator("main").getByRole("listitem").filter({ hasText: name });
export const fileField = (page: Page, name: string) => page.getByLabel(`File for the ${name}`);
export const uploadButton = (page: Page, name: string) => page.getByRole("button", { name: `Upload the ${name}` });
export const cancelButton = (page: Page, name: string) =>
  page.getByRole("button", { name: new RegExp(`^Cancel ?: ${name}$`) });
/** Chooses a file for a document and sends the form. */
export async function sendFile(page: Page, name: string, file: Parameters<Locator["setInputFiles"]>[0]): Promise<void> {
  await fileField(page, name).setInputFiles(file);
  await uploadButton(page, name).click();
}

export const uploadedToast = (page: Page, name: string) => toast(page, `${name} uploaded`);

export function createPdfPayload(name: string, size: number) {
  const start = createSamplePdf("Sample");
  return { name, mimeType: "application/pdf", buffer: Buffer.concat([Buffer.from(start), Buffer.alloc(size)], size) };
}

const cdpSessions = new WeakMap<Page, CDPSession>();

/** Limits the browser's upload speed to `uploadThroughput` bytes per second. The value -1 removes the limit. */
export async function limitUploadSpeed(page: Page, uploadThroughput: number): Promise<void> {
  const session = cdpSessions.get(page) ?? (await page.context().newCDPSession(page));
  cdpSessions.set(page, session);
  const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput };
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", conditions);
}

/** Returns the names of the stored files of a shipment without the random characters that each upload has added. */
export async function listStoredFiles(serviceRole: AppSupabaseClient, shipment: string): Promise<string[]> {
  const owner = await serviceRole.from("shipments").select("user_id").eq("id", shipment).single();
  const { data, error } = await serviceRole.storage.from("documents").list(`${owner.data?.user_id}/${shipment}`);
  if (error) throw error;
  // Removes the folder, because the embedded backend returns full paths.
  const names = data.map(({ name }) => name.split("/").at(-1) ?? "");
  return names.map((name) => name.replace(/-[0-9a-f]{12}-/, "-")).sort();
}

/** Writes a file to disk, because a browser reads large files from disk during the upload. Returns the file's path. */
export function writeToDisk({ name, buffer }: ReturnType<typeof createPdfPayload>): string {
  const file = test.info().outputPath(crypto.randomUUID(), name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, buffer);
  return file;
}

/** Creates a shipment, opens its page and waits for hydration. Returns the shipment's ID. */
export async function openHydratedShipment(page: Page): Promise<string> {
  const id = await createAndOpenShipment(page, "Coffee to Kigali");
  await waitForHydration(page);
  return id;
}

export const isUploadScript = (request: Request) => request.url().includes("/assets/resumable-upload-");
