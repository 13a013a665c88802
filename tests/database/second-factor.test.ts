import { describe, expect, test } from "vitest";
import type { Authenticator } from "../support/authenticator.ts";
import { enrollFactor, startEnrollment } from "../support/client-sessions.ts";
import { decodeClaims, setUpTestBackend } from "../support/database-suite.ts";
import { logIn as logInAsStaff } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const { testBackend, query, newShipment, sendRequest, createAuthHeaders } = setUpTestBackend();

const password = "a good password";

let clientCount = 0;

/** Creates a client with a shipment and a verified second factor. */
async function newProtectedClient() {
  clientCount += 1;
  const client = await testBackend.newClient(`factor-${clientCount}@client.example`, password);
  const shipmentId = await newShipment(client);
  return { ...client, shipmentId, ...(await enrollFactor(client.supabase)) };
}

const logIn = (email: string) => logInAsStaff(testBackend, email, password);

type Factor = { factorId: string; app: Authenticator };
/** Verifies a factor with a new code. Returns the session, which then has AAL2. */
async function enterCode({ auth }: AppSupabaseClient, { factorId, app }: Factor) {
  const { data, error } = await auth.mfa.challengeAndVerify({ factorId, code: await app.freshCode() });
  if (error) throw error;
  return data;
}

async function readCredentials(id: string) {
  return query("select email, email_change, encrypted_password from auth.users where id = $1", [id]);
}

async function getAssuranceLevel(supabase: AppSupabaseClient): Promise<string | null | undefined> {
  return (await supabase.auth.mfa.getAuthenticatorAssuranceLevel()).data?.currentLevel;
}

describe("Sessions without the second factor's code", () => {
  test("Before the second factor's code, a session cannot change factors, password, email or phone, in any spelling of the URL.", async () => {
    const client = await newProtectedClient();
    const unverified = await logIn(client.email);
    expect((await unverified.auth.mfa.unenroll({ factorId: client.factorId })).error?.code).toBe("insufficient_aal");
    const added = await unverified.auth.mfa.enroll({ factorType: "totp", friendlyName: "Mine" });
    expect(added.error?.code).toBe("insufficient_aal");
    const token = (await unverified.auth.getSession()).data.session?.access_token ?? "";
    const before = await readCredentials(client.id);
    const update = (path: string, change: object) => sendRequest("PUT", path, createAuthHeaders(token), change);
    const changes = [{ password: "a thief's password" }, { email: "thief@client.example" }, { phone: "254700000009" }];
    for (const sent of changes) {
      const result = await update("/auth/v1/user", sent);
      expect(result.status).toBe(401);
      expect(await result.json()).toMatchObject({ code: 401, error_code: "insufficient_aal" });
    }
    for (const spelling of ["%75ser", "user/", "/user", "USER", "user;x", "%2575ser"]) {
      const result = await update(`/auth/v1/${spelling}`, { password: "a thief's password" });
      expect(result.status, spelling).toBe(404);
    }
    expect((await update("/auth/v1/user", { data: { full_name: "Still Me" } })).status).toBe(200);
    expect(await readCredentials(client.id)).toEqual(before);

    const change = { password: "another good password", current_password: password };
    expect((await client.supabase.auth.updateUser(change)).error).toBeNull();
    expect(await readCredentials(client.id)).not.toEqual(before);
  });

  test("After the second factor's code, a session can read the client's data, even after a refresh of its token.", async () => {
    const client = await newProtectedClient();
    const supabase = await logIn(client.email);
    await enterCode(supabase, client);
    expect(await getAssuranceLevel(supabase)).toBe("aal2");
    expect((await supabase.from("shipments").select("id")).data).toHaveLength(1);
    await supabase.auth.refreshSession();
    expect(await getAssuranceLevel(supabase)).toBe("aal2");
    const claims = (await supabase.auth.getClaims()).data?.claims;
    const methods = claims?.amr?.map((entry) => (typeof entry === "string" ? entry : entry.method));
    expect(methods?.sort()).toEqual(["password", "totp"]);
  });
});

test("A password can be changed only within 24 hours after a login.", async () => {
  const client = await testBackend.newClient("yesterday@client.example", password);
  await query("update auth.sessions set created_at = created_at - interval '25 hours' where user_id = $1", [client.id]);
  const change = { password: "another good password", current_password: password };
  const { error } = await client.supabase.auth.updateUser(change);
  expect(error?.code).toBe("reauthentication_needed");
  expect((await testBackend.anonymous().auth.signInWithPassword({ email: client.email, password })).error).toBeNull();
});

test("Verifying a new second factor ends the account's other sessions.", async () => {
  const client = await testBackend.newClient("sessions@client.example", password);
  const otherSession = await logIn(client.email);
  await enterCode(client.supabase, await startEnrollment(client.supabase));
  expect((await otherSession.auth.getUser()).error).not.toBeNull();
  expect((await otherSession.from("shipments").select("id")).error).not.toBeNull();
  expect((await otherSession.auth.refreshSession()).error).not.toBeNull();
  expect((await client.supabase.auth.getUser()).error).toBeNull();
});

describe("Codes of the second factor", () => {
  test("Supabase Auth rejects a used code, an old code, and a code of another account's factor.", async () => {
    const [client, otherClient] = [await newProtectedClient(), await newProtectedClient()];
    const { mfa } = (await logIn(client.email)).auth;
    for (const code of [
      await client.app.lastCode(),
      await client.app.expiredCode(),
      await otherClient.app.lastCode(),
    ]) {
      const { error } = await mfa.challengeAndVerify({ factorId: client.factorId, code });
      expect(error?.code).toBe("mfa_verification_failed");
    }
    const { factorId } = otherClient;
    expect((await mfa.challenge({ factorId })).error?.code).toBe("mfa_factor_not_found");
    expect((await client.supabase.auth.mfa.unenroll({ factorId })).error?.code).toBe("mfa_factor_not_found");
  });

  test("Supabase Auth rejects a code if the challenge is unknown, used, expired or of another account.", async () => {
    const [first, second] = [await newProtectedClient(), await newProtectedClient()];
    const verify = async (challengeId: string) =>
      first.supabase.auth.mfa.verify({ factorId: first.factorId, challengeId, code: await first.app.wrongCode() });
    expect((await verify("00000000-0000-4000-8000-000000000000")).error?.code).toBe("mfa_factor_not_found");
    const foreign = await second.supabase.auth.mfa.challenge({ factorId: second.factorId });
    expect((await verify(foreign.data?.id ?? "")).error?.code).toBe("mfa_factor_not_found");
    const [used] = await query<{ id: string }>(
      "select id from auth.mfa_challenges where factor_id = $1 and verified_at is not null",
      [first.factorId],
    );
    expect((await verify(used?.id ?? "")).error?.code).toBe("mfa_ip_address_mismatch");
    const old = await first.supabase.auth.mfa.challenge({ factorId: first.factorId });
    const sixMinutesAgo = "update auth.mfa_challenges set created_at = now() - interval '6 minutes' where id = $1";
    await query(sixMinutesAgo, [old.data?.id]);
    expect((await verify(old.data?.id ?? "")).error?.code).toBe("mfa_challenge_expired");
  });
});

test("A new second factor needs a unique name, expires after five minutes, and replaces the other unverified factors.", async () => {
  const client = await testBackend.newClient("two-tabs@client.example");
  const { mfa } = client.supabase.auth;
  const first = await startEnrollment(client.supabase, "First");
  await startEnrollment(client.supabase, "Old");
  for (const friendlyName of ["First", "Old"]) {
    const duplicate = await mfa.enroll({ factorType: "totp", friendlyName });
    expect(duplicate.error?.code).toBe("mfa_factor_name_conflict");
  }
  const sixMinutesAgo =
    "update auth.mfa_factors set created_at = now() - interval '6 minutes' where friendly_name = 'Old'";
  await query(sixMinutesAgo);
  expect((await mfa.enroll({ factorType: "totp", friendlyName: "Old" })).error).toBeNull();
  await enterCode(client.supabase, first);
  const { data } = await mfa.listFactors();
  expect(data?.all.map(({ id, status }) => ({ id, status }))).toEqual([{ id: first.factorId, status: "verified" }]);
});

describe("Viewer of a portal page", () => {
  const readPage = async (supabase: AppSupabaseClient, opened?: string) => {
    const page = await supabase.rpc("portal_page", opened ? { opened_id: opened } : {}, { get: true });
    const viewerResult = await supabase.rpc("get_viewer", {}, { get: true });
    const { viewer, ...rest } = page.data as { viewer: object | null; shipments: object[]; shipment: object | null };
    expect(viewerResult.data).toEqual({ viewer });
    return { viewer, ...rest };
  };

  test("A portal page's data contains the viewer's email and verified second factors, and no data of another client.", async () => {
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
      ...{ announcement: null, shipments: [], work: null, shipment: null, withdrawal: null },
    });
  });

  test("After the end of the session, a portal page has no viewer and no data.", async () => {
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
      ...{ viewer: null, announcement: null, shipments: [], work: nothing, shipment: null, withdrawal: null },
    });
  });

  test("A session loses AAL2 when the second factor with which it was verified is removed, even if another factor remains.", async () => {
    const client = await newProtectedClient();
    const tablet = await startEnrollment(client.supabase, "Tablet");
    await enterCode(client.supabase, tablet);
    const token = (await enterCode(await logIn(client.email), client)).access_token;
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
});
