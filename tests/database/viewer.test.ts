import { expect, test } from "vitest";
import { enrollFactor, startEnrollment } from "../support/client-sessions.ts";
import { decodeClaims, setUpTestBackend } from "../support/database-suite.ts";
import { logIn as logInAsStaff } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const { testBackend, newShipment } = setUpTestBackend();
const password = "a good password";

let clientCount = 0;

/** Returns a new client with a shipment and a verified second factor. */
async function newProtectedClient() {
  clientCount += 1;
  const client = await testBackend.newClient(`factor-${clientCount}@client.example`, password);
  const shipmentId = await newShipment(client);
  return { ...client, shipmentId, ...(await enrollFactor(client.supabase)) };
}

const logIn = (email: string) => logInAsStaff(testBackend, email, password);

const readPage = async (supabase: AppSupabaseClient, opened?: string) => {
  const page = await supabase.rpc("portal_page", opened ? { opened_id: opened } : {}, { get: true });
  const viewerResult = await supabase.rpc("get_viewer", {}, { get: true });
  const { viewer, ...rest } = page.data as { viewer: object | null; shipments: object[]; shipment: object | null };
  expect(viewerResult.data).toEqual({ viewer });
  return { viewer, ...rest };
};

test("A portal page names the viewer with email and verified second factors, and has no data for another client.", async () => {
  const client = await newProtectedClient();
  await startEnrollment(client.supabase, "Never finished");
  const { email, supabase } = await testBackend.newClient("nobody-else@client.example");
  expect(await readPage(client.supabase, client.shipmentId)).toMatchObject({
    viewer: {
      email: client.email,
      full_name: `Client ${client.email}`,
      factors: [
        { id: client.factorId, name: "Phone", created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+00:00$/) },
      ],
    },
    shipments: [{ name: "Tea" }],
    shipment: { name: "Tea" },
  });
  expect(await readPage(supabase, client.shipmentId)).toEqual({
    viewer: { email, full_name: `Client ${email}`, has_aal2: false, factors: [], staff: null },
    ...{ announcement: null, shipments: [], work: null, shipment: null },
  });
});

test("A portal page after the session's end has no viewer and no data.", async () => {
  const client = await testBackend.newClient("leaves@client.example");
  const ended = testBackend.withToken(client.accessToken);
  const waiting = [expect.objectContaining({ name: "Tea" })];
  await client.supabase.from("shipments").insert({ name: "Tea", user_id: client.id });
  expect(await readPage(ended)).toMatchObject({
    ...{ viewer: { email: client.email }, shipments: waiting, work: { waiting, client: 1 } },
  });
  await client.supabase.auth.signOut();
  const nothing = { waiting: [], client: 0, company: 0, nobody: 0 };
  expect(await readPage(ended)).toEqual({
    ...{ viewer: null, announcement: null, shipments: [], work: nothing, shipment: null },
  });
});

test("A session loses AAL2 when the second factor of its code is removed, even if another factor remains.", async () => {
  const client = await newProtectedClient();
  const tablet = await startEnrollment(client.supabase, "Tablet");
  const verified = await client.supabase.auth.mfa.challengeAndVerify({ ...tablet, code: await tablet.app.freshCode() });
  expect(verified.error).toBeNull();
  const secondSession = await logIn(client.email);
  const login = await secondSession.auth.mfa.challengeAndVerify({
    factorId: client.factorId,
    code: await client.app.freshCode(),
  });
  expect(login.error).toBeNull();
  const token = login.data?.access_token ?? "";
  const tokenClient = testBackend.withToken(token);
  expect(await readPage(tokenClient, client.shipmentId)).toMatchObject({
    viewer: { has_aal2: true },
    shipment: { name: "Tea" },
  });
  expect((await client.supabase.auth.mfa.unenroll({ factorId: client.factorId })).error).toBeNull();

  expect(decodeClaims(token)).toMatchObject({ aal: "aal2" });
  expect(await readPage(tokenClient, client.shipmentId)).toMatchObject({
    ...{ viewer: { has_aal2: false, factors: [{ id: tablet.factorId }] }, shipments: [], shipment: null },
  });
  expect((await tokenClient.from("documents").select("id")).data).toEqual([]);
  expect(await readPage(client.supabase)).toMatchObject({ viewer: { has_aal2: true }, shipments: [{ name: "Tea" }] });
});
