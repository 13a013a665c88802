/** The page of a shipment with its rows of documents, and what became of what was sent there. */
import type { CDPSession, Page } from "@playwright/test";
import type { AppSupabaseClient } from "../../app/lib/supabase/client.server.ts";
import { createSamplePdf } from "../../app/server/start/demo.ts";

export const documentRow = (page: Page, name: string) =>
  page.locator("main").getByRole("listitem").filter({ hasText: name });
export const fileField = (page: Page, name: string) => page.getByLabel(`File for the ${name}`);
export const uploadButton = (page: Page, name: string) => page.getByRole("button", { name: `Upload the ${name}` });
export const retryButton = (page: Page, name: string) =>
  page.getByRole("button", { name: `Try again with the ${name}` });

/** A PDF of so many bytes. */
export function createPdfPayload(name: string, size: number) {
  const start = createSamplePdf("Sample");
  return { name, mimeType: "application/pdf", buffer: Buffer.concat([Buffer.from(start), Buffer.alloc(size)], size) };
}

const cdpSessions = new WeakMap<Page, CDPSession>();

/** How fast the browser sends from now on, in bytes a second; -1: as fast as the machine. */
export async function limitUploadSpeed(page: Page, uploadThroughput: number): Promise<void> {
  const session = cdpSessions.get(page) ?? (await page.context().newCDPSession(page));
  cdpSessions.set(page, session);
  const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput };
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", conditions);
}

/** The names of the files the backend keeps for a shipment, without what is their attempt's own. */
export async function listStoredFiles(company: AppSupabaseClient, shipment: string): Promise<string[]> {
  const owner = await company.from("shipments").select("user_id").eq("id", shipment).single();
  const { data, error } = await company.storage.from("documents").list(`${owner.data?.user_id}/${shipment}`);
  if (error) throw error;
  // The embedded backend names them by their whole path.
  const names = data.map(({ name }) => name.split("/").at(-1) ?? "");
  return names.map((name) => name.replace(/-[0-9a-f]{12}-/, "-")).sort();
}
