import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { newClientSession, runWithSecondFactor } from "../support/client-sessions.ts";
import { fileRecord, setUpDocuments } from "../support/document-suite.ts";

const suite = setUpDocuments();
const { testBackend, owner, stranger, clerk, shipment } = suite;
const { newShipment, readPortalFile, storeFile, markUploaded, findDocument } = suite;

let id: string;
beforeEach(async () => {
  id = (await findDocument("Packing List"))?.id ?? "";
});

test("The owner's request for a file returns the viewer and the file's path, version and record.", async () => {
  const path = await storeFile();
  await markUploaded(path);
  const { file_size: _, ...record } = fileRecord;
  const { storage_version } = (await findDocument("Packing List")) ?? {};
  expect(await readPortalFile(owner.supabase, id)).toEqual({
    viewer: { email: owner.email, full_name: `Client ${owner.email}`, has_aal2: false, factors: [], staff: null },
    file: { name: "Packing List", storage_path: path, storage_version, ...record },
  });
});

test("A request returns no file if the document has no file or belongs to another shipment or client.", async () => {
  expect((await readPortalFile(owner.supabase, id)).file).toBeNull();
  await markUploaded(await storeFile());
  expect((await readPortalFile(owner.supabase, id)).file).not.toBeNull();
  const foreignShipment = await newShipment(stranger);
  for (const [supabase, document_id, shipment_id] of [
    [owner.supabase, id, await newShipment(owner)],
    [owner.supabase, id, foreignShipment],
    [owner.supabase, id, randomUUID()],
    [owner.supabase, randomUUID(), shipment.id],
    [owner.supabase, (await findDocument("Bill of Lading"))?.id ?? "", shipment.id],
    [stranger.supabase, id, shipment.id],
    [stranger.supabase, id, foreignShipment],
    [clerk.supabase, id, shipment.id],
    [clerk.aal1, id, shipment.id],
  ] as const) {
    const { viewer, file } = await readPortalFile(supabase, document_id, shipment_id);
    expect(file).toBeNull();
    expect(viewer).not.toBeNull();
  }
});

test("A request for a file after the session's end returns no viewer and no file.", async () => {
  await markUploaded(await storeFile());
  const session = await newClientSession(testBackend, owner.email);
  expect((await readPortalFile(session.token, id)).file).not.toBeNull();
  await session.supabase.auth.signOut({ scope: "local" });
  expect(await readPortalFile(session.token, id)).toEqual({ viewer: null, file: null });
  expect((await readPortalFile(owner.supabase, id)).file).not.toBeNull();
});

test("A request for a file without the second factor's code returns no file.", async () => {
  await markUploaded(await storeFile());
  await runWithSecondFactor(testBackend, owner.id, async () => {
    expect(await readPortalFile(owner.supabase, id)).toMatchObject({
      viewer: { factors: [{ name: "Phone" }] },
      file: null,
    });
  });
  expect((await readPortalFile(owner.supabase, id)).file).not.toBeNull();
});
