import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { runStaffAction } from "../../app/models/staff.server.ts";
import { enrollFactor, startEnrollment } from "../support/client-sessions.ts";
import { setUpTestBackend } from "../support/database-suite.ts";
import { logIn as logInAsStaff } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const { testBackend, query, newShipment, sendRequest, createAuthHeaders } = setUpTestBackend();
const password = "a good password";

let clientCount = 0;

/** Returns a new client with a shipment and a verified second factor. */
async function newProtectedClient() {
  clientCount += 1;
  const client = await testBackend.newClient(`factor-${clientCount}@client.example`, password);
  await newShipment(client);
  return { ...client, ...(await enrollFactor(client.supabase)) };
}

const logIn = (email: string) => logInAsStaff(testBackend, email, password);

async function readCredentials(id: string) {
  return query("select email, email_change, encrypted_password from auth.users where id = $1", [id]);
}

async function getAssuranceLevel(supabase: AppSupabaseClient): Promise<string | null | undefined> {
  return (await supabase.auth.mfa.getAuthenticatorAssuranceLevel()).data?.currentLevel;
}

describe("sessions without the code", () => {
  test("A session without the second factor's code can neither remove the second factor nor add a second factor.", async () => {
    const client = await newProtectedClient();
    const unverified = await logIn(client.email);
    expect((await unverified.auth.mfa.unenroll({ factorId: client.factorId })).error?.code).toBe("insufficient_aal");
    const added = await unverified.auth.mfa.enroll({ factorType: "totp", friendlyName: "Mine" });
    expect(added.error?.code).toBe("insufficient_aal");
  });

  test("A session without the second factor's code cannot change password, email or phone, for any spelling of the endpoint.", async () => {
    const client = await newProtectedClient();
    const unverified = await logIn(client.email);
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

  test("A session that has entered the second factor's code reads the client's data, also after a refresh.", async () => {
    const client = await newProtectedClient();
    const supabase = await logIn(client.email);
    await supabase.auth.mfa.challengeAndVerify({ factorId: client.factorId, code: await client.app.freshCode() });
    expect(await getAssuranceLevel(supabase)).toBe("aal2");
    expect((await supabase.from("shipments").select("id")).data).toHaveLength(1);
    await supabase.auth.refreshSession();
    expect(await getAssuranceLevel(supabase)).toBe("aal2");
    const claims = (await supabase.auth.getClaims()).data?.claims;
    const methods = claims?.amr?.map((entry) => (typeof entry === "string" ? entry : entry.method));
    expect(methods?.sort()).toEqual(["password", "totp"]);
  });
});

test("Changing the password needs a login within the last 24 hours.", async () => {
  const client = await testBackend.newClient("yesterday@client.example", password);
  await query("update auth.sessions set created_at = created_at - interval '25 hours' where user_id = $1", [client.id]);
  const change = { password: "another good password", current_password: password };
  const { error } = await client.supabase.auth.updateUser(change);
  expect(error?.code).toBe("reauthentication_needed");
  expect((await testBackend.anonymous().auth.signInWithPassword({ email: client.email, password })).error).toBeNull();
});

test("An account without a verified second factor needs no code.", async () => {
  const client = await testBackend.newClient("no-factor@client.example");
  await startEnrollment(client.supabase);
  const { error } = await client.supabase.from("shipments").insert({ name: "Tea", user_id: client.id });
  expect(error).toBeNull();
});

test("Verifying a new second factor ends the account's other sessions.", async () => {
  const client = await testBackend.newClient("sessions@client.example", password);
  const otherSession = await logIn(client.email);
  const { factorId, app } = await startEnrollment(client.supabase);
  await client.supabase.auth.mfa.challengeAndVerify({ factorId, code: await app.freshCode() });
  expect((await otherSession.auth.getUser()).error).not.toBeNull();
  expect((await otherSession.from("shipments").select("id")).error).not.toBeNull();
  expect((await otherSession.auth.refreshSession()).error).not.toBeNull();
  expect((await client.supabase.auth.getUser()).error).toBeNull();
});

describe("codes", () => {
  test("A used code and a code from some minutes ago are rejected.", async () => {
    const client = await newProtectedClient();
    const unverified = await logIn(client.email);
    for (const code of [await client.app.lastCode(), await client.app.expiredCode()]) {
      const { error } = await unverified.auth.mfa.challengeAndVerify({ factorId: client.factorId, code });
      expect(error?.code).toBe("mfa_verification_failed");
    }
  });

  test("The code of another account's factor is rejected, and so is a code for another account's factor.", async () => {
    const [first, second] = [await newProtectedClient(), await newProtectedClient()];
    const { factorId } = first;
    const code = await second.app.lastCode();
    const wrongSecret = await first.supabase.auth.mfa.challengeAndVerify({ factorId, code });
    expect(wrongSecret.error?.code).toBe("mfa_verification_failed");
    const wrongFactor = await first.supabase.auth.mfa.challenge({ factorId: second.factorId });
    expect(wrongFactor.error?.code).toBe("mfa_factor_not_found");
    const removal = await first.supabase.auth.mfa.unenroll({ factorId: second.factorId });
    expect(removal.error?.code).toBe("mfa_factor_not_found");
  });

  test("A code with an unknown, used, foreign or expired challenge is rejected.", async () => {
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

  test("Many wrong codes do not lock the account; the website limits the attempts.", async () => {
    const client = await newProtectedClient();
    const unverified = await logIn(client.email);
    const enterCode = (code: string) => unverified.auth.mfa.challengeAndVerify({ factorId: client.factorId, code });
    for (let wrong = 0; wrong < 7; wrong += 1) {
      expect((await enterCode(await client.app.wrongCode())).error?.code).toBe("mfa_verification_failed");
    }
    expect((await enterCode(await client.app.freshCode())).error).toBeNull();
  });
});

describe("setting up a second factor", () => {
  test("Setting up a second factor returns a QR code as a data URL, a secret and an otpauth URL.", async () => {
    const client = await testBackend.newClient("qr@client.example");
    const { totp } = await startEnrollment(client.supabase);
    expect(totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<svg /);
    expect(totp.qr_code).not.toContain("#");
    expect(new URL(totp.uri).searchParams.get("secret")).toBe(totp.secret);
    expect(totp.secret).toMatch(/^[A-Z2-7]{32}$/);
  });

  test("A second factor needs a unique name, and verifying a factor deletes the unverified factors.", async () => {
    const client = await testBackend.newClient("two-tabs@client.example");
    const first = await startEnrollment(client.supabase, "First");
    const duplicate = await client.supabase.auth.mfa.enroll({ factorType: "totp", friendlyName: "First" });
    expect(duplicate.error?.code).toBe("mfa_factor_name_conflict");
    expect((await client.supabase.auth.mfa.enroll({ factorType: "totp" })).error).toBeNull();
    const unnamed = await client.supabase.auth.mfa.enroll({ factorType: "totp" });
    expect(unnamed.error?.code).toBe("mfa_factor_name_conflict");
    await client.supabase.auth.mfa.challengeAndVerify({ factorId: first.factorId, code: await first.app.freshCode() });
    const { data } = await client.supabase.auth.mfa.listFactors();
    expect(data?.all.map(({ id, status }) => ({ id, status }))).toEqual([{ id: first.factorId, status: "verified" }]);
  });

  test("An unverified second factor expires after five minutes.", async () => {
    const client = await testBackend.newClient("expiry@client.example");
    await startEnrollment(client.supabase, "Old");
    await query("update auth.mfa_factors set created_at = now() - interval '6 minutes'");
    expect((await client.supabase.auth.mfa.enroll({ factorType: "totp", friendlyName: "Old" })).error).toBeNull();
  });

  test("An account can have at most ten second factors.", async () => {
    const client = await testBackend.newClient("many@client.example");
    for (let count = 0; count < 10; count += 1) await startEnrollment(client.supabase, `Factor ${count}`);
    const eleventh = await client.supabase.auth.mfa.enroll({ factorType: "totp", friendlyName: "Eleventh" });
    expect(eleventh.error?.code).toBe("too_many_enrolled_mfa_factors");
  });
});

test("A token that claims AAL2 with another signature is rejected.", async () => {
  const client = await newProtectedClient();
  const unverified = await logIn(client.email);
  const token = (await unverified.auth.getSession()).data.session?.access_token ?? "";
  const [header = "", payload = ""] = token.split(".");
  const claims: object = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  const forgedPayload = Buffer.from(JSON.stringify({ ...claims, aal: "aal2" })).toString("base64url");
  const signature = createHmac("sha256", "guessed").update(`${header}.${forgedPayload}`).digest("base64url");
  for (const forged of [
    `${header}.${forgedPayload}.${signature}`,
    `${header}.${forgedPayload}.${token.split(".")[2]}`,
  ]) {
    const response = await sendRequest("GET", "/rest/v1/shipments?select=id", createAuthHeaders(forged));
    expect(response.status).toBe(401);
  }
});

test("The service role lists and removes an account's second factors.", async () => {
  const client = await newProtectedClient();
  const listed = await testBackend.serviceRole.auth.admin.mfa.listFactors({ userId: client.id });
  expect(listed.data?.factors.map(({ id }) => id)).toEqual([client.factorId]);
  const removed = await testBackend.serviceRole.auth.admin.mfa.deleteFactor({ userId: client.id, id: client.factorId });
  expect(removed.error).toBeNull();
  const duplicate = await runStaffAction(testBackend.serviceRole, "remove_second_factors", { account_id: client.id });
  expect(duplicate).toEqual({ reason: "2FA is not set up on this account.", status: 409 });
  const supabase = await logIn(client.email);
  expect((await supabase.from("shipments").select("id")).data).toHaveLength(1);
  const log = await query(
    "select payload ->> 'action' as action from auth.audit_log_entries where payload -> 'traits' ->> 'factor_id' = $1",
    [client.factorId],
  );
  expect(log).toEqual([{ action: "factor_deleted" }]);
});
