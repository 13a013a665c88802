import { beforeAll, describe, expect, test } from "vitest";
import { normalizeClientId } from "../../app/models/client-id.server.ts";
import { setUpTestBackend, type TestClient } from "../support/database-suite.ts";

const { testBackend } = setUpTestBackend();
let confirmedClient: TestClient;
beforeAll(async () => {
  confirmedClient = await testBackend.newClient("confirmed@client.example");
});

test("The service role issues one client ID if it names no number.", async () => {
  const { data, error } = await testBackend.serviceRole.rpc("issue_client_ids", {});
  expect(error).toBeNull();
  expect(data).toEqual([
    expect.objectContaining({ client_id: expect.any(String), account_id: null, claimed_at: null }),
  ]);
});

test("A thousand client IDs are all different, unclaimed, and in the format of the sign-up form.", async () => {
  const { data } = await testBackend.serviceRole.rpc("issue_client_ids", { how_many: 1000 });
  const ids = (data ?? []).map((row) => row.client_id);
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) {
    expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/);
    expect(normalizeClientId(id)).toBe(id);
  }
  expect(data?.every((row) => row.account_id === null && row.claimed_at === null)).toBe(true);
});

test("Every place of a client ID can be each of 32 characters.", async () => {
  const { rows } = await testBackend.backend.db.query<{ place: number; different: number }>(
    `select place, count(distinct substr(replace(private.generate_client_id(), '-', ''), place, 1))::int as different
     from generate_series(1, 16) as place, generate_series(1, 1000) group by place`,
  );
  expect(rows).toHaveLength(16);
  expect(rows.every(({ different }) => different === 32)).toBe(true);
});

test("One call issues at most 1000 client IDs, and none for zero or less.", async () => {
  for (const [requested, expected] of [
    [1001, 1000],
    [0, 0],
    [-5, 0],
  ] as const) {
    const before = await countClientIds();
    const { data, error } = await testBackend.serviceRole.rpc("issue_client_ids", { how_many: requested });
    expect(error).toBeNull();
    expect(data).toHaveLength(expected);
    expect((await countClientIds()) - before).toBe(expected);
  }
});

test("An unused client ID admits every address, and an unknown client ID admits no address.", async () => {
  expect(await isAdmitted(await newClientId(), "new@client.example")).toBe(true);
  expect(await isAdmitted("N0TH-1NG0-0F1T-HERE", "new@client.example")).toBe(false);
  expect(await isAdmitted("", "new@client.example")).toBe(false);
  expect(await isAdmitted("%", "new@client.example")).toBe(false);
});

describe("used client IDs", () => {
  const expectOnlyAdmits = async (client_id: string, email: string) => {
    expect(await isAdmitted(client_id, email)).toBe(true);
    expect(await isAdmitted(client_id, email.toUpperCase())).toBe(true);
    expect(await isAdmitted(client_id, "other@client.example")).toBe(false);
    expect(await redeemClientId(client_id, "other@client.example")).toBe(false);
    expect(await redeemClientId(client_id, email)).toBe(true);
    expect(await isAdmitted(client_id, email)).toBe(true);
  };

  test("A client ID that created an account admits only this account's address, before and after confirmation.", async () => {
    const client_id = await newClientId();
    const email = "waiting@client.example";
    const { error } = await testBackend.anonymous().auth.signUp({
      email,
      password: "a good password",
      options: { data: { client_id } },
    });
    expect(error).toBeNull();
    await expectOnlyAdmits(client_id, email);
    const token = /token_hash=([0-9a-f]+)/.exec(testBackend.emails.at(-1)?.html ?? "")?.[1] ?? "";
    await testBackend.serviceRole.rpc("mark_password_proven", { email, token });
    expect((await testBackend.anonymous().auth.verifyOtp({ token_hash: token, type: "signup" })).error).toBeNull();
    await expectOnlyAdmits(client_id, email);
  });

  test("A client ID that was used for an existing account admits only this account's address.", async () => {
    const client_id = await newClientId();
    expect(await redeemClientId(client_id, confirmedClient.email)).toBe(true);
    await expectOnlyAdmits(client_id, confirmedClient.email);
    const { rows } = await testBackend.backend.db.query<object>(
      "select * from public.client_ids where client_id = $1",
      [client_id],
    );
    expect(rows).toEqual([expect.objectContaining({ account_id: null, claimed_at: null })]);
    expect(JSON.stringify(rows)).not.toContain("confirmed");
  });
});

test("Fifty parallel addresses redeem one client ID once.", async () => {
  const client_id = await newClientId();
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, index) => redeemClientId(client_id, `known-${index}@client.example`)),
  );
  expect(results.filter(Boolean)).toHaveLength(1);
});

test("A used client ID cannot be detached from its account, and its account cannot be deleted.", async () => {
  await expect(
    testBackend.backend.db.query("update public.client_ids set claimed_at = null where account_id = $1", [
      confirmedClient.id,
    ]),
  ).rejects.toThrow(/check constraint/);
  await expect(
    testBackend.backend.db.query("delete from auth.users where id = $1", [confirmedClient.id]),
  ).rejects.toThrow(/foreign key/);
});

async function isAdmitted(client_id: string, email: string): Promise<boolean> {
  const { data, error } = await testBackend.serviceRole.rpc("admit_sign_up", { client_id, email });
  if (error) throw error;
  return data;
}

async function redeemClientId(client_id: string, email: string): Promise<boolean> {
  const { data, error } = await testBackend.serviceRole.rpc("redeem_client_id", { client_id, email });
  if (error) throw error;
  return data;
}

async function newClientId(): Promise<string> {
  const { data, error } = await testBackend.serviceRole.rpc("issue_client_ids", {});
  if (error) throw error;
  return data[0]?.client_id ?? "";
}

async function countClientIds(): Promise<number> {
  const { rows } = await testBackend.backend.db.query("select 1 from public.client_ids");
  return rows.length;
}
