import { describe, expect, test } from "vitest";
import { clientIdInvalid, normalizeClientId } from "../../app/models/client-id.server.ts";
import { password, setUpSignUp } from "../support/sign-up-suite.ts";

const suite = setUpSignUp();
const { testBackend, query, newClientId, newEmailAddress, signUp, postJson, listEmailsTo, listUsers } = suite;
const { findUser, getClaimAccountId, isAdmitted, confirmEmail, extractToken } = suite;

test("A sign-up with an unused Client ID creates an account, uses up the Client ID and sends one email.", async () => {
  const clientId = await newClientId();
  const email = newEmailAddress();
  const { data, error } = await signUp(email, clientId);
  expect(error).toBeNull();
  expect(data.session).toBeNull();
  const user = await findUser(email);
  expect(user).toMatchObject({ id: data.user?.id, confirmed: false });
  expect(await getClaimAccountId(clientId)).toBe(user?.id);
  expect(listEmailsTo(email)).toHaveLength(1);
});

test("Sign-ups with a missing, unknown or used Client ID get the same error and cause no account and no email.", async () => {
  const used = await newClientId();
  await signUp(newEmailAddress(), used);
  const before = { users: await listUsers(), emails: testBackend.emails.length };
  const results = await Promise.all(
    [{}, { client_id: "" }, { client_id: "N0TH-1NG0-0F1T-HERE" }, { client_id: used }, { client_id: null }].map(
      (data) => postJson("/auth/v1/signup", { email: newEmailAddress(), password, data }),
    ),
  );
  results.push(await postJson("/auth/v1/signup", { email: newEmailAddress(), password }));
  for (const result of results) {
    expect(result.status).toBe(400);
    expect(await result.json()).toEqual({ code: 400, error_code: "unknown", msg: clientIdInvalid });
  }
  expect({ users: await listUsers(), emails: testBackend.emails.length }).toEqual(before);
});

test.each([
  ["a list that contains the ID", (id: string) => [id]],
  ["a pattern", () => "%"],
  ["the ID in lower case", (id: string) => id.toLowerCase()],
  ["the ID with a space after it", (id: string) => `${id} `],
  ["the ID with SQL after it", (id: string) => `${id}' or '1'='1`],
  ["an object", (id: string) => ({ client_id: id })],
  ["true", () => true],
])("A sign-up creates no account if its Client ID is sent as %s.", async (_how, send) => {
  const before = await listUsers();
  const form = { email: newEmailAddress(), password, data: { client_id: send(await newClientId()) } };
  expect((await postJson("/auth/v1/signup", form)).status).toBe(400);
  expect(await listUsers()).toEqual(before);
});

test("Fifty parallel sign-ups with the same Client ID create exactly one account.", async () => {
  const clientId = await newClientId();
  const before = await listUsers();
  const results = await Promise.all(Array.from({ length: 50 }, () => signUp(newEmailAddress(), clientId)));
  expect(results.filter(({ error }) => error === null)).toHaveLength(1);
  const rejections = results.flatMap(({ error }) => (error ? [error.message] : []));
  expect(new Set(rejections)).toEqual(new Set([clientIdInvalid]));
  const added = (await listUsers()).filter(({ id }) => !before.some((user) => user.id === id));
  expect(added).toHaveLength(1);
  expect(await getClaimAccountId(clientId)).toBe(added[0]?.id);
});

test("Two parallel sign-ups with the same email address and different Client IDs create only one account.", async () => {
  const email = newEmailAddress();
  const [first, second] = [await newClientId(), await newClientId()];
  await Promise.all([signUp(email, first), signUp(email, second)]);
  expect((await listUsers()).filter((user) => user.email === email)).toHaveLength(1);
  expect(
    [await getClaimAccountId(first), await getClaimAccountId(second)].filter((claim) => claim !== null),
  ).toHaveLength(1);
});

test("The database rejects a new user without an unused Client ID, even from the service role.", async () => {
  const used = await newClientId();
  await signUp(newEmailAddress(), used);
  const before = await listUsers();
  for (const data of [null, {}, { client_id: null }, { client_id: "" }, { client_id: "N0TH" }, { client_id: used }]) {
    await expect(
      testBackend.backend.db.query(
        "insert into auth.users (id, email, raw_user_meta_data) values (gen_random_uuid(), $1, $2::jsonb)",
        [newEmailAddress(), data && JSON.stringify(data)],
      ),
    ).rejects.toThrow(/Client ID/);
  }
  expect(await listUsers()).toEqual(before);
});

test("Only the sign-up endpoint of Supabase Auth creates accounts.", async () => {
  const before = await listUsers();
  const email = newEmailAddress();
  const endpoints: [string, object][] = [
    ["/auth/v1/otp", { email, create_user: true, data: { client_id: await newClientId() } }],
    ["/auth/v1/magiclink", { email, data: { client_id: await newClientId() } }],
    ["/auth/v1/recover", { email }],
    ["/auth/v1/resend", { type: "signup", email }],
    ["/auth/v1/signup", { data: { client_id: await newClientId() } }],
    ["/auth/v1/invite", { email }],
    ["/auth/v1/admin/users", { email, password, email_confirm: true }],
  ];
  for (const [endpoint, body] of endpoints) await postJson(endpoint, body);
  expect(await listUsers()).toEqual(before);
  expect(listEmailsTo(email)).toEqual([]);
});

test("A sign-up with an unknown Client ID is rejected for every spelling of the endpoint.", async () => {
  const before = await listUsers();
  const spellings = ["%73ignup", "signup/", "./signup", "SIGNUP", "signup?x=1", "/signup", "signup;x", "%2573ignup"];
  for (const at of [...spellings.map((name) => `v1/${name}`), "/v1/signup", "v1/x/%2e%2e/signup"]) {
    const form = { email: newEmailAddress(), password, data: { client_id: "N0TH-1NG0-0F1T-HERE" } };
    expect([400, 404], at).toContain((await postJson(`/auth/${at}`, form)).status);
  }
  expect(await listUsers()).toEqual(before);
});

test("If the confirmation email cannot be delivered, the account is deleted, and the same Client ID works later.", async () => {
  const [email, clientId] = [newEmailAddress(), await newClientId()];
  const send = () => postJson("/auth/v1/signup", { email, password, data: { client_id: clientId } });
  testBackend.rejectEmails(new Error("the SMTP server is unavailable"));
  const failed = await send();
  testBackend.rejectEmails(null);
  expect(failed.status).toBeGreaterThanOrEqual(500);
  expect(await failed.text()).not.toContain("SMTP server");
  expect(await findUser(email)).toBeUndefined();
  expect(await query("select from auth.identities where email = $1", [email])).toEqual([]);
  expect(await getClaimAccountId(clientId)).toBeNull();

  expect((await send()).status).toBe(200);
  expect(await getClaimAccountId(clientId)).toBe((await findUser(email))?.id);
});

test("A sign-up whose sender has closed the connection creates no account and sends no email.", async () => {
  const [email, clientId] = [newEmailAddress(), await newClientId()];
  const sender = new AbortController();
  const request = new Request("http://backend.local/auth/v1/signup", {
    method: "POST",
    headers: { apikey: testBackend.publishableKey, "Content-Type": "application/json" },
    body: JSON.stringify({ email, password, data: { client_id: clientId } }),
    signal: sender.signal,
  });
  const response = testBackend.backend.fetch(request);
  sender.abort();
  expect((await response).status).toBe(503);
  expect(await findUser(email)).toBeUndefined();
  expect(testBackend.emails.filter(({ to }) => to === email)).toEqual([]);
});

test.each([
  ...["<evil@c.test>", "Evil <evil@c.test>", "evil@c.test, other@c.test", "evil@c.test\nBcc: other@c.test", "evil"].map(
    (email) => ({ email }),
  ),
  ...[{ email: undefined }, { password: "short" }, { password: undefined }, { password: "x".repeat(73) }],
])("A sign-up with %j is rejected, and the Client ID remains unused.", async (change) => {
  const clientId = await newClientId();
  const before = await listUsers();
  const form = { email: newEmailAddress(), password, data: { client_id: clientId }, ...change };
  const result = await postJson("/auth/v1/signup", form);
  expect([400, 422]).toContain(result.status);
  expect(await listUsers()).toEqual(before);
  expect(await getClaimAccountId(clientId)).toBeNull();
});

test.each([
  ["a line end", "Amina\r\n5a000000  Gold"],
  ["an escape", "Amina\u001b[2K"],
  ["a C1 escape", "Amina\u009b2K"],
  ["a direction override", "Amina\u202eanimA"],
  ["101 characters", "x".repeat(101)],
])("A full name with %s is rejected during sign-up and in later changes.", async (_what, name) => {
  const clientId = await newClientId();
  const before = await listUsers();
  const form = { email: newEmailAddress(), password, data: { client_id: clientId, full_name: name } };
  expect((await postJson("/auth/v1/signup", form)).ok).toBe(false);
  expect(await listUsers()).toEqual(before);
  expect(await getClaimAccountId(clientId)).toBeNull();

  const client = await testBackend.newClient(newEmailAddress());
  const readName = async () => (await client.supabase.auth.getUser()).data.user?.user_metadata.full_name;
  const previous = await readName();
  expect((await client.supabase.auth.updateUser({ data: { full_name: name } })).error).not.toBeNull();
  expect(await readName()).toBe(previous);
  expect((await client.supabase.auth.updateUser({ data: { full_name: "أمينة Wanjirũ" } })).error).toBeNull();
  expect(await readName()).toBe("أمينة Wanjirũ");
});

test("More than 4000 bytes of metadata are rejected during sign-up and in later changes.", async () => {
  const much = "x".repeat(4000);
  const clientId = await newClientId();
  const before = await listUsers();
  const form = { email: newEmailAddress(), password, data: { client_id: clientId, full_name: "Amina", much } };
  expect((await postJson("/auth/v1/signup", form)).ok).toBe(false);
  expect(await listUsers()).toEqual(before);
  expect(await getClaimAccountId(clientId)).toBeNull();

  const client = await testBackend.newClient(newEmailAddress());
  const change = async (data: object) => (await client.supabase.auth.updateUser({ data })).error;
  const readMetadata = async () => (await client.supabase.auth.getUser()).data.user?.user_metadata ?? {};
  const previous = await readMetadata();
  // The limit applies to the total bytes of all metadata.
  for (const data of [{ much }, { much: "é".repeat(2000) }, { first: "x".repeat(2500), second: "x".repeat(2500) }]) {
    expect(await change(data)).not.toBeNull();
    expect(await readMetadata()).toEqual(previous);
  }
  expect(await change({ first: "x".repeat(2500) })).toBeNull();
  expect(await change({ second: "x".repeat(2500) })).not.toBeNull();
  expect(await readMetadata()).toEqual({ ...previous, first: "x".repeat(2500) });
  expect(await change({ first: null, second: "x".repeat(2500) })).toBeNull();
});

const confirmedClient = suite.setUpClient("confirmed@client.example");

test("A thousand new Client IDs are different and unused, have a valid format, and use all 32 characters at each position.", async () => {
  const { data } = await testBackend.serviceRole.rpc("issue_client_ids", { how_many: 1000 });
  const ids = (data ?? []).map((row) => row.client_id);
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) {
    expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/);
    expect(normalizeClientId(id)).toBe(id);
  }
  for (let position = 0; position < 19; position += 1)
    expect(new Set(ids.map((id) => id[position])).size, `${position}`).toBe((position + 1) % 5 === 0 ? 1 : 32);
  expect(data?.every((row) => row.account_id === null && row.claimed_at === null)).toBe(true);
});

test("An unused Client ID allows a sign-up with every email address. An unknown Client ID allows no sign-up.", async () => {
  expect(await isAdmitted(await newClientId(), "new@client.example")).toBe(true);
  for (const id of ["N0TH-1NG0-0F1T-HERE", "", "%"]) expect(await isAdmitted(id, "new@client.example")).toBe(false);
});

describe("Used Client IDs", () => {
  const expectOnlyAdmits = async (client_id: string, email: string) => {
    expect(await isAdmitted(client_id, email)).toBe(true);
    expect(await isAdmitted(client_id, email.toUpperCase())).toBe(true);
    expect(await isAdmitted(client_id, "other@client.example")).toBe(false);
    expect(await redeemClientId(client_id, "other@client.example")).toBe(false);
    expect(await redeemClientId(client_id, email)).toBe(true);
    expect(await isAdmitted(client_id, email)).toBe(true);
  };

  test("The Client ID of an account allows only sign-ups with this account's address, before and after confirmation.", async () => {
    const client_id = await newClientId();
    const email = "waiting@client.example";
    expect((await signUp(email, client_id)).error).toBeNull();
    await expectOnlyAdmits(client_id, email);
    expect((await confirmEmail(email, extractToken(listEmailsTo(email)[0]))).error).toBeNull();
    await expectOnlyAdmits(client_id, email);
  });

  test("A Client ID used for an address that has an account allows only sign-ups with this address.", async () => {
    const client_id = await newClientId();
    expect(await redeemClientId(client_id, confirmedClient.email)).toBe(true);
    await expectOnlyAdmits(client_id, confirmedClient.email);
    const rows = await query("select * from public.client_ids where client_id = $1", [client_id]);
    expect(rows).toEqual([expect.objectContaining({ account_id: null, claimed_at: null })]);
    expect(JSON.stringify(rows)).not.toContain("confirmed");
  });
});

test("Only one of fifty parallel requests with different email addresses uses up a Client ID.", async () => {
  const client_id = await newClientId();
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, index) => redeemClientId(client_id, `known-${index}@client.example`)),
  );
  expect(results.filter(Boolean)).toHaveLength(1);
});

test("A used Client ID always belongs to its account, and deleting the account is rejected.", async () => {
  const { id } = confirmedClient;
  const detached = query("update public.client_ids set claimed_at = null where account_id = $1", [id]);
  await expect(detached).rejects.toThrow(/check constraint/);
  await expect(query("delete from auth.users where id = $1", [id])).rejects.toThrow(/foreign key/);
});

async function redeemClientId(client_id: string, email: string): Promise<boolean> {
  const { data, error } = await testBackend.serviceRole.rpc("redeem_client_id", { client_id, email });
  if (error) throw error;
  return data;
}
