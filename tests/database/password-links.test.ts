import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { callRepeatedly } from "../support/staff-members.ts";
import { setUpTeam } from "../support/team-suite.ts";

const { testBackend, client, lead, query, callRpc, issueLink, readLink } = setUpTeam();
const redeemLink = (token: string) => callRpc("redeem_password_link", { token }, testBackend.serviceRole);

describe("password links", () => {
  test("Reading a password link returns the account, whether it is staff, and its second factors, without redeeming the link.", async () => {
    const leadToken = await issueLink(lead.id);
    expect(leadToken).toMatch(/^[0-9a-f]{64}$/);
    const factors = [{ id: lead.factorId, name: "Phone" }];
    for (let time = 0; time < 2; time += 1) {
      expect(await readLink(leadToken)).toEqual({
        ...{ account_id: lead.id, email: lead.email, is_staff: true, is_invite: false, factors },
      });
    }
    expect(await readLink(await issueLink(client.id))).toEqual({
      ...{ account_id: client.id, email: client.email, is_staff: false, is_invite: false, factors: [] },
    });
  });

  test("A password link that is valid for seven days is an invitation.", async () => {
    expect(await readLink(await issueLink(lead.id, 7 * 24))).toMatchObject({ account_id: lead.id, is_invite: true });
    expect(await readLink(await issueLink(lead.id))).toMatchObject({ account_id: lead.id, is_invite: false });
  });

  test("A password link can be redeemed only once.", async () => {
    const token = await issueLink();
    expect(await redeemLink(token)).toBe(true);
    expect(await redeemLink(token)).toBe(false);
    expect(await readLink(token)).toBeNull();
  });

  test("A redeemed password link can be restored within two minutes.", async () => {
    const token = await issueLink();
    await redeemLink(token);
    await callRpc("restore_password_link", { token }, testBackend.serviceRole);
    expect(await readLink(token)).toMatchObject({ account_id: client.id });
    expect(await redeemLink(token)).toBe(true);
    await query(
      "update private.password_links set redeemed_at = now() - interval '3 minutes' where redeemed_at is not null",
    );
    await callRpc("restore_password_link", { token }, testBackend.serviceRole);
    expect([await readLink(token), await redeemLink(token)]).toEqual([null, false]);
  });

  test("Of eight parallel redemptions of a password link, only one succeeds.", async () => {
    const args = { token: await issueLink() };
    const results = await callRepeatedly(testBackend, 8, { name: "redeem_password_link", args });
    expect(results.filter(({ result }) => result === true)).toHaveLength(1);
    expect(results.filter(({ result }) => result === false)).toHaveLength(7);
  });

  test("A new password link invalidates earlier links of the same account, even in parallel, but no links of other accounts.", async () => {
    const leadToken = await issueLink(lead.id);
    const [first, second] = [await issueLink(), await issueLink()];
    expect([await readLink(first), await redeemLink(first)]).toEqual([null, false]);
    expect(await readLink(second)).toMatchObject({ account_id: client.id });
    const args = { account_id: client.id, valid_hours: 1 };
    const issued = await callRepeatedly(testBackend, 6, { name: "issue_password_link", args });
    const links = await Promise.all(issued.map(({ result }) => readLink(String(result))));
    expect(links.filter(Boolean)).toHaveLength(1);
    expect(await readLink(leadToken)).toMatchObject({ account_id: lead.id });
  });

  test("A password link is valid for the given number of hours.", async () => {
    const token = await issueLink(client.id, 168);
    const rows = await query(
      `select expires_at > now() + interval '167 hours' and expires_at <= now() + interval '168 hours' as is_in_time
       from private.password_links where account_id = $1`,
      [client.id],
    );
    expect(rows).toEqual([{ is_in_time: true }]);
    await query("update private.password_links set expires_at = now() where account_id = $1", [client.id]);
    expect([await readLink(token), await redeemLink(token)]).toEqual([null, false]);
  });

  test("A wrong token redeems no password link, and the database stores only the token's hash.", async () => {
    const token = await issueLink();
    const [stored] = await query<{ token_hash: string }>(
      "select token_hash from private.password_links where account_id = $1",
      [client.id],
    );
    expect(JSON.stringify(await query("select * from private.password_links"))).not.toContain(token);
    for (const guess of ["", "%", token.slice(0, 63), token.toUpperCase(), `${token} `, stored?.token_hash ?? ""]) {
      expect([await readLink(guess), await redeemLink(guess)], guess).toEqual([null, false]);
    }
    expect(await readLink(token)).not.toBeNull();
  });

  test("Closing an account invalidates its password links, and a new link of a closed account is invalid.", async () => {
    const before = await issueLink();
    await callRpc("close_account", { account_id: client.id, reason: "They asked" });
    const after = await issueLink();
    for (const token of [before, after]) expect(await readLink(token)).toBeNull();
    await callRpc("reopen_account", { account_id: client.id, reason: "They called" });
    expect(await readLink(before)).toBeNull();
  });
});

describe("email claims", () => {
  const claimEmail = (request: string, sent_to = "a@company.example") =>
    callRpc("claim_email", { idempotency_key: request, sent_to }, testBackend.serviceRole);
  const releaseEmail = (request: string) =>
    callRpc("release_email", { idempotency_key: request, sent_to: "a@company.example" }, testBackend.serviceRole);

  test("One of eight parallel requests claims the email of a form, separately for each address.", async () => {
    const args = { idempotency_key: randomUUID(), sent_to: "a@company.example" };
    const results = await callRepeatedly(testBackend, 8, { name: "claim_email", args });
    expect(results.filter(({ result }) => result === true)).toHaveLength(1);
    expect(await claimEmail(args.idempotency_key)).toBe(false);
    expect(await claimEmail(args.idempotency_key, "b@company.example")).toBe(true);
  });

  test("The email of a form can be claimed again after its release or after two minutes.", async () => {
    const request = randomUUID();
    expect([await claimEmail(request), await claimEmail(request)]).toEqual([true, false]);
    await releaseEmail(request);
    expect([await claimEmail(request), await claimEmail(request)]).toEqual([true, false]);
    await query("update private.email_claims set claimed_at = now() - interval '121 seconds'");
    expect([await claimEmail(request), await claimEmail(request)]).toEqual([true, false]);
  });
});
