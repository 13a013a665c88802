import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runStaffAction } from "../../app/models/staff-action.server.ts";
import { Authenticator } from "../support/authenticator.ts";
import { type AppSupabaseClient, startTestBackend } from "../support/test-backend.ts";

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;
beforeAll(async () => {
  testBackend = await startTestBackend();
});
afterAll(() => testBackend.close());

const password = "a good password";
let clientCount = 0;

/** A new client with a shipment, a stored file and a verified factor. */
async function newProtectedClient() {
  clientCount += 1;
  const client = await testBackend.newClient(`factor-${clientCount}@client.example`, password);
  const made = await client.supabase
    .from("shipments")
    .insert({ name: "Tea", user_id: client.id })
    .select("id")
    .single();
  if (made.error) throw made.error;
  const path = `${client.id}/${made.data.id}/packing-list-0123456789ab-a.pdf`;
  const stored = await testBackend.serviceRole.storage
    .from("documents")
    .upload(path, Buffer.from("%PDF-1.4"), { contentType: "application/pdf" });
  if (stored.error) throw stored.error;
  const advanced = await testBackend.serviceRole.rpc("move_shipment", {
    shipment_id: made.data.id,
    despite_missing: true,
  });
  if (advanced.error) throw advanced.error;
  const { app, factorId } = await enrollFactor(client.supabase);
  const verified = await client.supabase.auth.mfa.challengeAndVerify({ factorId, code: await app.freshCode() });
  if (verified.error) throw verified.error;
  return { ...client, shipmentId: made.data.id, path, app, factorId };
}

async function enrollFactor(supabase: AppSupabaseClient, friendlyName = "Phone") {
  const { data, error } = await supabase.auth.mfa.enroll({ factorType: "totp", friendlyName });
  if (error) throw error;
  return { factorId: data.id, app: new Authenticator(data.totp.secret), totp: data.totp };
}

async function logIn(email: string): Promise<AppSupabaseClient> {
  const supabase = testBackend.anonymous();
  const { error } = await supabase.auth.signInWithPassword({ email, password });
  if (error) throw error;
  return supabase;
}

async function readCredentials(id: string) {
  const { rows } = await testBackend.backend.db.query(
    "select email, email_change, encrypted_password from auth.users where id = $1",
    [id],
  );
  return rows[0];
}

async function getAssuranceLevel(supabase: AppSupabaseClient): Promise<string | null | undefined> {
  return (await supabase.auth.mfa.getAuthenticatorAssuranceLevel()).data?.currentLevel;
}

describe("a session that has not given the code of its account's factor", () => {
  test("reads and writes no row and no stored object", async () => {
    const client = await newProtectedClient();
    const half = await logIn(client.email);
    expect(await getAssuranceLevel(half)).toBe("aal1");

    for (const table of ["shipments", "documents", "tracking_events"] as const) {
      expect((await half.from(table).select("id")).data).toEqual([]);
    }
    expect((await half.from("shipments").insert({ name: "Coffee", user_id: client.id })).error?.code).toBe("42501");
    const marked = await half.from("documents").update({ uploaded: true, storage_path: client.path }).select("id");
    expect(marked.error?.code).toBe("42501");
    const [document] = (await client.supabase.from("documents").select("id").limit(1)).data ?? [];
    const asked = { document_id: document?.id ?? "" };
    expect((await half.rpc("require_upload_allowed", asked)).error?.code).toBe("PT404");
    expect((await client.supabase.rpc("require_upload_allowed", asked)).error).toBeNull();

    const bucket = half.storage.from("documents");
    expect((await bucket.download(client.path)).data).toBeNull();
    expect((await bucket.list(`${client.id}/${client.shipmentId}`)).data).toEqual([]);
    const upload = await bucket.upload(`${client.id}/${client.shipmentId}/bill-of-lading-b.pdf`, Buffer.from("%PDF-"), {
      contentType: "application/pdf",
    });
    expect(upload.error).not.toBeNull();
    await bucket.remove([client.path]);

    expect((await client.supabase.from("shipments").select("id")).data).toHaveLength(1);
    expect((await client.supabase.from("tracking_events").select("id")).data).toHaveLength(1);
    expect((await testBackend.serviceRole.storage.from("documents").download(client.path)).error).toBeNull();
    // The code opens no file by the token either: the server reads them.
    expect((await client.supabase.storage.from("documents").download(client.path)).data).toBeNull();
  });

  test("cannot remove the factor or add another", async () => {
    const client = await newProtectedClient();
    const half = await logIn(client.email);
    expect((await half.auth.mfa.unenroll({ factorId: client.factorId })).error?.code).toBe("insufficient_aal");
    const added = await half.auth.mfa.enroll({ factorType: "totp", friendlyName: "Mine" });
    expect(added.error?.code).toBe("insufficient_aal");
  });

  test("changes neither password nor e-mail, as GoTrue has it, however the address is written", async () => {
    const client = await newProtectedClient();
    const half = await logIn(client.email);
    const token = (await half.auth.getSession()).data.session?.access_token;
    const before = await readCredentials(client.id);
    const update = (at: string, change: object) =>
      testBackend.backend.fetch(
        new Request(`http://backend.local${at}`, {
          method: "PUT",
          headers: { apikey: testBackend.publishableKey, authorization: `Bearer ${token}` },
          body: JSON.stringify(change),
        }),
      );
    const changes = [{ password: "a thief's password" }, { email: "thief@client.example" }, { phone: "254700000009" }];
    for (const change of changes) {
      const result = await update("/auth/v1/user", change);
      expect(result.status).toBe(401);
      expect(await result.json()).toMatchObject({ code: 401, error_code: "insufficient_aal" });
    }
    for (const at of [
      "/auth/v1/%75ser",
      "/auth/v1/user/",
      "/auth/v1//user",
      "/auth/v1/USER",
      "/auth/v1/user;x",
      "/auth/v1/%2575ser",
    ]) {
      expect((await update(at, { password: "a thief's password" })).status, at).toBe(404);
    }
    expect((await update("/auth/v1/user", { data: { full_name: "Still Me" } })).status).toBe(200);
    expect(await readCredentials(client.id)).toEqual(before);

    expect(
      (await client.supabase.auth.updateUser({ password: "another good password", current_password: password })).error,
    ).toBeNull();
    expect(await readCredentials(client.id)).not.toEqual(before);
  });

  test("opens everything once the code is given, and after a refresh too", async () => {
    const client = await newProtectedClient();
    const supabase = await logIn(client.email);
    await supabase.auth.mfa.challengeAndVerify({ factorId: client.factorId, code: await client.app.freshCode() });
    expect(await getAssuranceLevel(supabase)).toBe("aal2");
    expect((await supabase.from("shipments").select("id")).data).toHaveLength(1);
    await supabase.auth.refreshSession();
    expect(await getAssuranceLevel(supabase)).toBe("aal2");
    const claims = (await supabase.auth.getClaims()).data?.claims;
    expect(claims?.amr?.map((entry) => (typeof entry === "string" ? entry : entry.method)).sort()).toEqual([
      "password",
      "totp",
    ]);
  });
});

test("a new password asks for a login of the last 24 hours", async () => {
  const client = await testBackend.newClient("yesterday@client.example", password);
  await testBackend.backend.db.query(
    "update auth.sessions set created_at = created_at - interval '25 hours' where user_id = $1",
    [client.id],
  );
  const { error } = await client.supabase.auth.updateUser({
    password: "another good password",
    current_password: password,
  });
  expect(error?.code).toBe("reauthentication_needed");
  expect((await testBackend.anonymous().auth.signInWithPassword({ email: client.email, password })).error).toBeNull();
});

test("an account without a factor is not asked for one", async () => {
  const client = await testBackend.newClient("no-factor@client.example");
  await enrollFactor(client.supabase);
  const made = await client.supabase
    .from("shipments")
    .insert({ name: "Tea", user_id: client.id })
    .select("id")
    .single();
  expect(made.error).toBeNull();
});

test("enabling a factor ends the account's other sessions", async () => {
  const client = await testBackend.newClient("sessions@client.example", password);
  const other = await logIn(client.email);
  const { factorId, app } = await enrollFactor(client.supabase);
  await client.supabase.auth.mfa.challengeAndVerify({ factorId, code: await app.freshCode() });
  expect((await other.auth.getUser()).error).not.toBeNull();
  expect((await other.from("shipments").select("id")).error).not.toBeNull();
  expect((await other.auth.refreshSession()).error).not.toBeNull();
  expect((await client.supabase.auth.getUser()).error).toBeNull();
});

describe("a code", () => {
  test("is accepted once", async () => {
    const client = await newProtectedClient();
    const { error } = await client.supabase.auth.mfa.challengeAndVerify({
      factorId: client.factorId,
      code: await client.app.lastCode(),
    });
    expect(error?.code).toBe("mfa_verification_failed");
  });

  test("of some minutes ago is refused", async () => {
    const client = await newProtectedClient();
    const half = await logIn(client.email);
    const { error } = await half.auth.mfa.challengeAndVerify({
      factorId: client.factorId,
      code: await client.app.expiredCode(),
    });
    expect(error?.code).toBe("mfa_verification_failed");
  });

  test("of another account, or for another's factor, is refused", async () => {
    const [mine, theirs] = [await newProtectedClient(), await newProtectedClient()];
    const wrongSecret = await mine.supabase.auth.mfa.challengeAndVerify({
      factorId: mine.factorId,
      code: await theirs.app.lastCode(),
    });
    expect(wrongSecret.error?.code).toBe("mfa_verification_failed");
    const wrongFactor = await mine.supabase.auth.mfa.challenge({ factorId: theirs.factorId });
    expect(wrongFactor.error?.code).toBe("mfa_factor_not_found");
    expect((await mine.supabase.auth.mfa.unenroll({ factorId: theirs.factorId })).error?.code).toBe(
      "mfa_factor_not_found",
    );
  });

  test("without a challenge, with a used one, another factor's or an expired one is refused", async () => {
    const [mine, theirs] = [await newProtectedClient(), await newProtectedClient()];
    const verify = async (challengeId: string) =>
      mine.supabase.auth.mfa.verify({ factorId: mine.factorId, challengeId, code: await mine.app.wrongCode() });
    expect((await verify("00000000-0000-4000-8000-000000000000")).error?.code).toBe("mfa_factor_not_found");
    const foreign = await theirs.supabase.auth.mfa.challenge({ factorId: theirs.factorId });
    expect((await verify(foreign.data?.id ?? "")).error?.code).toBe("mfa_factor_not_found");
    const { rows } = await testBackend.backend.db.query<{ id: string }>(
      "select id from auth.mfa_challenges where factor_id = $1 and verified_at is not null",
      [mine.factorId],
    );
    expect((await verify(rows[0]?.id ?? "")).error?.code).toBe("mfa_ip_address_mismatch");
    const old = await mine.supabase.auth.mfa.challenge({ factorId: mine.factorId });
    await testBackend.backend.db.query(
      "update auth.mfa_challenges set created_at = now() - interval '6 minutes' where id = $1",
      [old.data?.id],
    );
    expect((await verify(old.data?.id ?? "")).error?.code).toBe("mfa_challenge_expired");
  });

  test("that is wrong many times pauses nothing, as on a hosted backend: the site counts, and locks no owner out", async () => {
    const client = await newProtectedClient();
    const half = await logIn(client.email);
    const give = (code: string) => half.auth.mfa.challengeAndVerify({ factorId: client.factorId, code });
    for (let wrong = 0; wrong < 7; wrong += 1) {
      expect((await give(await client.app.wrongCode())).error?.code).toBe("mfa_verification_failed");
    }
    expect((await give(await client.app.freshCode())).error).toBeNull();
  });
});

describe("enrolling", () => {
  test("gives a QR code that a data address can carry, a secret and an otpauth address", async () => {
    const client = await testBackend.newClient("qr@client.example");
    const { totp } = await enrollFactor(client.supabase);
    expect(totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<svg /);
    expect(totp.qr_code).not.toContain("#");
    expect(new URL(totp.uri).searchParams.get("secret")).toBe(totp.secret);
    expect(totp.secret).toMatch(/^[A-Z2-7]{32}$/);
  });

  test("twice under one name, or without a name, conflicts; two tabs make two factors and the verified one stays", async () => {
    const client = await testBackend.newClient("two-tabs@client.example");
    const first = await enrollFactor(client.supabase, "First");
    const again = await client.supabase.auth.mfa.enroll({ factorType: "totp", friendlyName: "First" });
    expect(again.error?.code).toBe("mfa_factor_name_conflict");
    expect((await client.supabase.auth.mfa.enroll({ factorType: "totp" })).error).toBeNull();
    const unnamed = await client.supabase.auth.mfa.enroll({ factorType: "totp" });
    expect(unnamed.error?.code).toBe("mfa_factor_name_conflict");
    await client.supabase.auth.mfa.challengeAndVerify({ factorId: first.factorId, code: await first.app.freshCode() });
    const { data } = await client.supabase.auth.mfa.listFactors();
    expect(data?.all.map(({ id, status }) => ({ id, status }))).toEqual([{ id: first.factorId, status: "verified" }]);
  });

  test("leaves nothing after five minutes when nobody verified it", async () => {
    const client = await testBackend.newClient("expiry@client.example");
    await enrollFactor(client.supabase, "Old");
    await testBackend.backend.db.query("update auth.mfa_factors set created_at = now() - interval '6 minutes'");
    expect((await client.supabase.auth.mfa.enroll({ factorType: "totp", friendlyName: "Old" })).error).toBeNull();
  });

  test("stops at ten factors", async () => {
    const client = await testBackend.newClient("many@client.example");
    for (let made = 0; made < 10; made += 1) await enrollFactor(client.supabase, `Factor ${made}`);
    const eleventh = await client.supabase.auth.mfa.enroll({ factorType: "totp", friendlyName: "Eleventh" });
    expect(eleventh.error?.code).toBe("too_many_enrolled_mfa_factors");
  });
});

describe("with a page of the portal the database says who asks:", () => {
  const asked = async (supabase: AppSupabaseClient, opened?: string) => {
    const page = await supabase.rpc("portal_page", opened ? { opened_id: opened } : {}, { get: true });
    const alone = await supabase.rpc("get_viewer", {}, { get: true });
    const { viewer, ...shown } = page.data as { viewer: object | null; shipments: object[]; shipment: object | null };
    expect(alone.data).toEqual({ viewer });
    return { viewer, ...shown };
  };

  test("the name, the address and the verified factors, of this person alone", async () => {
    const client = await newProtectedClient();
    await enrollFactor(client.supabase, "Never finished");
    const other = await testBackend.newClient("nobody-else@client.example");
    expect(await asked(client.supabase, client.shipmentId)).toMatchObject({
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
    expect(await asked(other.supabase, client.shipmentId)).toEqual({
      viewer: {
        email: other.email,
        full_name: `Client ${other.email}`,
        has_aal2: false,
        factors: [],
        staff: null,
      },
      announcement: null,
      shipments: [],
      work: null,
      shipment: null,
    });
  });

  test("before the code of a factor is given too, and shows nothing else then", async () => {
    const client = await newProtectedClient();
    const half = await logIn(client.email);
    expect(await asked(half, client.shipmentId)).toMatchObject({
      viewer: { factors: [{ id: client.factorId }] },
      shipments: [],
      shipment: null,
    });
  });

  test("nobody, once the session has ended", async () => {
    const client = await testBackend.newClient("leaves@client.example");
    const left = testBackend.withToken(client.accessToken);
    const waiting = [expect.objectContaining({ name: "Tea" })];
    await client.supabase.from("shipments").insert({ name: "Tea", user_id: client.id });
    expect(await asked(left)).toMatchObject({
      ...{ viewer: { email: client.email }, shipments: waiting, work: { waiting, client: 1 } },
    });
    await client.supabase.auth.signOut();
    const nothing = { waiting: [], client: 0, company: 0, nobody: 0 };
    expect(await asked(left)).toEqual({
      ...{ viewer: null, announcement: null, shipments: [], work: nothing, shipment: null },
    });
  });

  test("no longer that a code was given, once the factor that it was of is removed and another remains", async () => {
    const client = await newProtectedClient();
    const other = await enrollFactor(client.supabase, "Tablet");
    const own = await client.supabase.auth.mfa.challengeAndVerify({ ...other, code: await other.app.freshCode() });
    expect(own.error).toBeNull();
    const lifted = await logIn(client.email);
    const given = await lifted.auth.mfa.challengeAndVerify({
      factorId: client.factorId,
      code: await client.app.freshCode(),
    });
    expect(given.error).toBeNull();
    const token = given.data?.access_token ?? "";
    const before = testBackend.withToken(token);
    expect(await asked(before, client.shipmentId)).toMatchObject({
      viewer: { has_aal2: true },
      shipment: { name: "Tea" },
    });
    expect((await client.supabase.auth.mfa.unenroll({ factorId: client.factorId })).error).toBeNull();

    expect(JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())).toMatchObject({ aal: "aal2" });
    expect(await asked(before, client.shipmentId)).toMatchObject({
      ...{ viewer: { has_aal2: false, factors: [{ id: other.factorId }] }, shipments: [], shipment: null },
    });
    expect((await before.from("documents").select("id")).data).toEqual([]);
    expect(await asked(client.supabase)).toMatchObject({ viewer: { has_aal2: true }, shipments: [{ name: "Tea" }] });
  });

  test("nothing to a visitor", async () => {
    for (const name of ["portal_page", "get_viewer"] as const) {
      expect((await testBackend.anonymous().rpc(name, {}, { get: true })).error?.code).toBe("42501");
    }
  });
});

test("a token that claims aal2 under another secret opens nothing", async () => {
  const client = await newProtectedClient();
  const half = await logIn(client.email);
  const token = (await half.auth.getSession()).data.session?.access_token ?? "";
  const [header = "", payload = ""] = token.split(".");
  const claims: object = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  const forgedPayload = Buffer.from(JSON.stringify({ ...claims, aal: "aal2" })).toString("base64url");
  const signature = createHmac("sha256", "guessed").update(`${header}.${forgedPayload}`).digest("base64url");
  for (const forged of [
    `${header}.${forgedPayload}.${signature}`,
    `${header}.${forgedPayload}.${token.split(".")[2]}`,
  ]) {
    const response = await testBackend.backend.fetch(
      new Request("http://backend.local/rest/v1/shipments?select=id", {
        headers: { apikey: testBackend.publishableKey, authorization: `Bearer ${forged}` },
      }),
    );
    expect(response.status).toBe(401);
  }
});

test("the company lists and removes an account's factors; a client's token cannot", async () => {
  const client = await newProtectedClient();
  expect((await client.supabase.auth.admin.mfa.listFactors({ userId: client.id })).error).not.toBeNull();
  const listed = await testBackend.serviceRole.auth.admin.mfa.listFactors({ userId: client.id });
  expect(listed.data?.factors.map(({ id }) => id)).toEqual([client.factorId]);
  const removed = await testBackend.serviceRole.auth.admin.mfa.deleteFactor({ userId: client.id, id: client.factorId });
  expect(removed.error).toBeNull();
  const again = await runStaffAction(testBackend.serviceRole, "remove_second_factors", { account_id: client.id });
  expect(again).toEqual({ reason: "This account has no second factor.", status: 409 });
  const supabase = await logIn(client.email);
  expect((await supabase.from("shipments").select("id")).data).toHaveLength(1);
  const log = await testBackend.backend.db.query<{ payload: { action: string } }>(
    "select payload from auth.audit_log_entries where payload -> 'traits' ->> 'factor_id' = $1",
    [client.factorId],
  );
  expect(log.rows.map(({ payload }) => payload.action)).toEqual(["factor_deleted"]);
});
