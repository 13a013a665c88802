import { describe, expect, test } from "vitest";
import { normalizeClientId } from "../../app/models/client-id.server.ts";
import { setUpSignUp } from "../support/sign-up-suite.ts";

const suite = setUpSignUp();
const { testBackend, query, newClientId, isAdmitted, signUp, confirmEmail, listEmailsTo, extractToken } = suite;
const confirmedClient = suite.setUpClient("confirmed@client.example");

test("A thousand Client IDs are all different, unclaimed, and in the format of the sign-up form.", async () => {
  const { data } = await testBackend.serviceRole.rpc("issue_client_ids", { how_many: 1000 });
  const ids = (data ?? []).map((row) => row.client_id);
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) {
    expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/);
    expect(normalizeClientId(id)).toBe(id);
  }
  expect(data?.every((row) => row.account_id === null && row.claimed_at === null)).toBe(true);
});

test("Every position of a Client ID can have each of 32 characters.", async () => {
  const rows = await query<{ different: number }>(
    `select place, count(distinct substr(replace(private.generate_client_id(), '-', ''), place, 1))::int as different
     from generate_series(1, 16) as place, generate_series(1, 1000) group by place`,
  );
  expect(rows).toHaveLength(16);
  expect(rows.every(({ different }) => different === 32)).toBe(true);
});

test("One call issues one Client ID by default, and at most 1000 Client IDs.", async () => {
  for (const [requested, expected] of [
    [{}, 1],
    [{ how_many: 1000 }, 1000],
  ] as const) {
    const before = await countClientIds();
    const { data, error } = await testBackend.serviceRole.rpc("issue_client_ids", requested);
    expect(error).toBeNull();
    expect(data).toHaveLength(expected);
    expect((await countClientIds()) - before).toBe(expected);
  }
});

test("An unused Client ID admits every address, and an unknown Client ID admits no address.", async () => {
  expect(await isAdmitted(await newClientId(), "new@client.example")).toBe(true);
  expect(await isAdmitted("N0TH-1NG0-0F1T-HERE", "new@client.example")).toBe(false);
  expect(await isAdmitted("", "new@client.example")).toBe(false);
  expect(await isAdmitted("%", "new@client.example")).toBe(false);
});

describe("used Client IDs", () => {
  const expectOnlyAdmits = async (client_id: string, email: string) => {
    expect(await isAdmitted(client_id, email)).toBe(true);
    expect(await isAdmitted(client_id, email.toUpperCase())).toBe(true);
    expect(await isAdmitted(client_id, "other@client.example")).toBe(false);
    expect(await redeemClientId(client_id, "other@client.example")).toBe(false);
    expect(await redeemClientId(client_id, email)).toBe(true);
    expect(await isAdmitted(client_id, email)).toBe(true);
  };

  test("A Client ID that created an account admits only this account's address, before and after confirmation.", async () => {
    const client_id = await newClientId();
    const email = "waiting@client.example";
    expect((await signUp(email, client_id)).error).toBeNull();
    await expectOnlyAdmits(client_id, email);
    expect((await confirmEmail(email, extractToken(listEmailsTo(email)[0]))).error).toBeNull();
    await expectOnlyAdmits(client_id, email);
  });

  test("A Client ID that was used for an existing account admits only this account's address.", async () => {
    const client_id = await newClientId();
    expect(await redeemClientId(client_id, confirmedClient.email)).toBe(true);
    await expectOnlyAdmits(client_id, confirmedClient.email);
    const rows = await query("select * from public.client_ids where client_id = $1", [client_id]);
    expect(rows).toEqual([expect.objectContaining({ account_id: null, claimed_at: null })]);
    expect(JSON.stringify(rows)).not.toContain("confirmed");
  });
});

test("Only one of fifty parallel requests with different addresses redeems a Client ID.", async () => {
  const client_id = await newClientId();
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, index) => redeemClientId(client_id, `known-${index}@client.example`)),
  );
  expect(results.filter(Boolean)).toHaveLength(1);
});

test("A used Client ID cannot be detached from its account, and its account cannot be deleted.", async () => {
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

async function countClientIds(): Promise<number> {
  return (await query("select from public.client_ids")).length;
}
