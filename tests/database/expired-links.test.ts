import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { hashToken, setUpDesk } from "../support/database-suite.ts";

const { testBackend, owner, query, newShipment } = setUpDesk();

test("Retention deletes expired email changes and password links, and share links and shipment updates after a month.", async () => {
  const client = owner;
  const [secondClient, thirdClient] = [
    await testBackend.newClient("past-too@client.example"),
    await testBackend.newClient("live@client.example"),
  ];
  const shipment = await newShipment(client, "Rice");
  for (const table of [
    "private.share_links",
    "private.email_changes",
    "private.password_links",
    "public.email_outbox",
  ]) {
    await query(`delete from ${table}`);
  }
  const share =
    "insert into private.share_links (id, shipment_id, token_hash, expires_at) values ($1, $2, $3, now() + $4::interval)";
  const address =
    "insert into private.email_changes (account_id, token_hash, email, expires_at) values ($1, $2, 'x@y.example', now() + $3::interval)";
  const password =
    "insert into private.password_links (account_id, token_hash, expires_at, redeemed_at) values ($1, $2, now() + $3::interval, $4)";
  const update =
    "insert into public.email_outbox (account_id, shipment_id, kind, detail, created_at) values ($1, $2, 'note', $3, now() - $4::interval)";
  const minute = "1 minute";
  // An expired share link is stored for a month.
  for (const time of [minute, `-${minute}`, "-30 days -1 minute"])
    await query(share, [randomUUID(), shipment, hashToken(time), time]);
  await query(address, [client.id, hashToken("a"), minute]);
  await query(address, [secondClient.id, hashToken("b"), `-${minute}`]);
  await query(password, [client.id, hashToken("a"), minute, null]);
  await query(password, [thirdClient.id, hashToken("b"), minute, new Date().toISOString()]);
  await query(password, [secondClient.id, hashToken("c"), `-${minute}`, null]);
  await query(update, [client.id, shipment, "recent", "29 days 23 hours"]);
  await query(update, [client.id, shipment, "old", "30 days 1 hour"]);
  const countOtherRows = () =>
    query(
      `select (select count(*) from public.shipments) as shipments, (select count(*) from auth.users) as users,
         (select count(*) from public.audit_log) as audit_entries, (select count(*) from auth.sessions) as sessions,
         (select count(*) from private.erasure_requests) as requests, (select count(*) from public.tracking_events) as events`,
    );
  const before = await countOtherRows();
  expect((await testBackend.serviceRole.rpc("delete_expired_links")).data).toBe(4);
  const remaining = await query(
    `select (select array_agg(token_hash order by token_hash) from private.share_links) as shares,
       (select array_agg(account_id) from private.email_changes) as addresses,
       (select array_agg(token_hash order by token_hash) from private.password_links) as passwords,
       (select array_agg(detail) from public.email_outbox) as updates`,
  );
  expect(remaining).toEqual([
    {
      shares: [hashToken(minute), hashToken(`-${minute}`)].sort(),
      addresses: [client.id],
      passwords: [hashToken("a"), hashToken("b")].sort(),
      updates: ["recent"],
    },
  ]);
  expect(await countOtherRows()).toEqual(before);
  expect((await testBackend.serviceRole.rpc("delete_expired_links")).data).toBe(0);
});
