import { randomBytes, randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { runWithSecondFactor } from "../support/client-sessions.ts";
import { callRpcOrGetRejection as callRpc, hashToken, readPage, setUpDesk } from "../support/database-suite.ts";
import { callConcurrently, callRepeatedly, runAsCaller } from "../support/staff-members.ts";
import { type AppSupabaseClient, toUntypedClient } from "../support/test-backend.ts";

const { testBackend, owner, clerk, query, addVersion, setUpClient, newShipment } = setUpDesk();
const stranger = setUpClient("stranger@client.example");
const unknownShipmentError = "404 Shipment not found.";

let shipment: string;
beforeEach(async () => {
  shipment = await newShipment(owner);
});
const limitReached = "409 This shipment already has 5 share links, which is the maximum. End one of these links first.";
const newToken = () => randomBytes(20).toString("base64url");
const form = (token = newToken(), more: object = {}) => ({
  ...{ id: randomUUID(), shipment_id: shipment, token_hash: hashToken(token) },
  ...more,
});
const create = (args: object = form(), supabase: AppSupabaseClient = owner.supabase) =>
  callRpc("create_share_link", args, supabase);
const revoke = (id: string, supabase: AppSupabaseClient = owner.supabase) =>
  callRpc("revoke_share_link", { id }, supabase);
const readShared = async (token: string | null) =>
  (await toUntypedClient(testBackend.serviceRole).rpc("shared_shipment", { token })).data;
const listLinks = () =>
  query("select * from private.share_links where shipment_id = $1 order by created_at, id", [shipment]);
const listShownLinks = async () =>
  (await readPage(owner.supabase, "portal_page", { opened_id: shipment })).shipment.share_links;
const expire = (id: string) =>
  query("update private.share_links set expires_at = now() - interval '1 second' where id = $1", [id]);

test("The owner creates a share link and sees the link for 30 days. The database stores only the token's hash.", async () => {
  const token = newToken();
  const link = form(token);
  expect(await create(link)).toBeNull();
  expect(await readShared(token)).toMatchObject({ name: "Tea", stage: 1, status: "Client Onboarding" });
  expect(JSON.stringify(await listLinks())).not.toContain(token);
  expect(await listShownLinks()).toEqual([
    { id: link.id, token_hash: link.token_hash, created_at: expect.any(String), expires_at: expect.any(String) },
  ]);
  const [{ days } = { days: "" }] = await query<{ days: string }>(
    "select (expires_at - created_at)::text as days from private.share_links where id = $1",
    [link.id],
  );
  expect(days).toBe("30 days");
});

test("Only the owner of a shipment can create a share link, which needs a valid token hash and an ID.", async () => {
  for (const supabase of [stranger.supabase, clerk.supabase])
    expect(await create(form(), supabase)).toBe(unknownShipmentError);
  expect(await create(form(newToken(), { shipment_id: randomUUID() }))).toBe(unknownShipmentError);
  for (const token_hash of ["", "0".repeat(63), "G".repeat(64), `${"0".repeat(64)}\n`, null])
    expect(await create(form(newToken(), { token_hash }))).toMatch(/^400 /);
  expect(await create(form(newToken(), { id: null }))).toMatch(/^400 /);
  expect(await listLinks()).toEqual([]);
});

test("Sending the form for a share link ten times in parallel creates only one share link.", async () => {
  const link = form();
  const call = { name: "create_share_link", args: link, token: owner.accessToken };
  const results = await callRepeatedly(testBackend, 10, call);
  expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual([]);
  const before = await listLinks();
  expect(before).toHaveLength(1);
  expect(await create(link)).toBeNull();
  // A share link with the ID or hash of another share link is rejected.
  const foreignShipment = await newShipment(stranger);
  expect(await create({ ...link, token_hash: hashToken("another") })).toMatch(/^409 /);
  expect(await create({ ...link, shipment_id: foreignShipment }, stranger.supabase)).toMatch(/^409 /);
  expect(await create(form(newToken(), { token_hash: link.token_hash }))).toMatch(/^409 /);
  expect(await listLinks()).toEqual(before);
  expect(await query("select from private.share_links where shipment_id = $1", [foreignShipment])).toEqual([]);
});

test("A shipment can have five valid share links, even after parallel requests. Revoked and expired links do not count.", async () => {
  const calls = Array.from({ length: 8 }, () => ({
    name: "create_share_link",
    token: owner.accessToken,
    args: form(),
  }));
  const results = await callConcurrently(testBackend, calls);
  expect(results.flatMap(({ rejection }) => rejection ?? [])).toEqual(Array(3).fill(limitReached.slice(4)));
  const links = calls.flatMap(({ args }, index) => (results[index]?.rejection ? [] : [args]));
  expect(await create(links[0])).toBeNull();
  await revoke(links[0]?.id ?? "");
  // Sending the form of a revoked share link again does not create the share link again.
  expect(await create(links[0])).toMatch(/^409 This share link has ended\./);
  expect(await create()).toBeNull();
  expect(await create()).toBe(limitReached);
  await expire(links[1]?.id ?? "");
  const shownLinks = await listShownLinks();
  expect(shownLinks).toHaveLength(4);
  expect(shownLinks).not.toContainEqual(expect.objectContaining({ id: links[1]?.id }));
  expect(await create()).toBeNull();
  expect(await create()).toBe(limitReached);
  expect(await listShownLinks()).toHaveLength(5);
  // The limit of five share links applies to each shipment separately.
  shipment = await newShipment(owner);
  expect(await create()).toBeNull();
});

test("Only the owner can revoke a share link, and a revoked link is invalid.", async () => {
  const token = newToken();
  const { id, ...more } = form(token);
  await create({ id, ...more });
  const before = await listLinks();
  for (const supabase of [stranger.supabase, clerk.supabase]) expect(await revoke(id, supabase)).toBeNull();
  expect(await revoke(randomUUID())).toBeNull();
  expect(await listLinks()).toEqual(before);
  expect(await readShared(token)).not.toBeNull();
  for (const _twice of [1, 2]) expect(await revoke(id)).toBeNull();
  expect(await listShownLinks()).toEqual([]);
  expect(await readShared(token)).toBeNull();
});

test("A share link is invalid with a wrong token, after 30 days, or while the account is closed.", async () => {
  const token = newToken();
  const link = form(token);
  await create(link);
  for (const wrong of [newToken(), "", link.token_hash, link.id, `${token} `, token.slice(1), "%", null]) {
    expect(await readShared(wrong)).toBeNull();
  }
  const closed = { account_id: owner.id, reason: "They asked" };
  expect(await callRpc("close_account", closed, clerk.supabase)).toBe(owner.email);
  try {
    expect(await readShared(token)).toBeNull();
  } finally {
    await callRpc("reopen_account", closed, clerk.supabase);
    // The owner needs a new session, because closing the account has ended the old session.
    await owner.supabase.auth.signInWithPassword({ email: owner.email, password: "a good password" });
    const { data } = await owner.supabase.auth.getSession();
    Object.assign(owner, { accessToken: data.session?.access_token });
  }
  expect(await readShared(token)).not.toBeNull();
  await expire(link.id);
  expect(await readShared(token)).toBeNull();
});

test("A share link shows a shipment's name, stage and history of stages, but no document, charge, note, number or person.", async () => {
  const call = async (name: string, args: object) => {
    const result = await callRpc(name, await addVersion(name, { shipment_id: shipment, ...args }), clerk.supabase);
    expect(String(result), name).not.toMatch(/^4/);
  };
  await call("send_note", { note: "Secret before any move" });
  await call("save_shipment_numbers", { awb: "MEDUX4471203", container_numbers: ["CSQU3054383"] });
  await call("move_shipment", { despite_missing: true, location: "Mombasa", note: "Secret with a move" });
  await call("send_note", { note: "Secret note" });
  await call("send_note", { note: "Secret note again" });
  await call("correct_stage", { stage: 6, reason: "Secret reason" });
  await call("move_shipment", { despite_missing: true, note: "Secret with another move" });
  await call("send_note", { note: "Secret last note" });
  await call("set_charge", { item: "duties", amount: 1234.5, currency: "KES", note: "Secret charge" });
  const arrival = {
    storage_location: "naivasha",
    day: "2026-03-01",
    cargo: "container-40",
    free_storage_ends_on: "2026-03-05",
  };
  await call("save_arrival", arrival);
  const token = newToken();
  await create(form(token));
  const shown = await readShared(token);
  expect(shown).toEqual({
    ...{ name: "Tea", stage: 7, status: "Inspection & Release", changed_at: expect.any(String) },
    tracking_events: [
      { status: "Inspection & Release", location: null, created_at: expect.any(String) },
      { status: "Moved to Cargo Tracking", location: null, created_at: expect.any(String) },
      { status: "Document Verification", location: "Mombasa", created_at: expect.any(String) },
    ],
  });
  const text = JSON.stringify(shown);
  for (const hidden of ["Secret", "Note", "MEDUX", "duties", "1234", "Packing", "naivasha", "2026-03", shipment]) {
    expect(text).not.toContain(hidden);
  }
  for (const { id, email } of [owner, clerk]) {
    for (const hidden of [id, email, email.split("@")[0] ?? ""]) expect(text).not.toContain(hidden);
  }
});

test("A share link shows the 15 newest stage changes, and nothing after the deletion of its shipment.", async () => {
  await query(
    `insert into public.tracking_events (shipment_id, kind, location, note, created_at)
       select $1, case when number % 3 = 0 then 'note' else 'stage' end, 'Place ' || number,
         case when number % 3 = 0 then 'A note' end, now() - number * interval '1 hour'
       from generate_series(1, 60) as number`,
    [shipment],
  );
  const token = newToken();
  await create(form(token));
  const events: { location: string }[] = (await readShared(token)).tracking_events;
  const moves = Array.from({ length: 60 }, (_, index) => index + 1).filter((number) => number % 3 !== 0);
  expect(events.map(({ location }) => location)).toEqual(moves.slice(0, 15).map((number) => `Place ${number}`));
  await query("delete from public.shipments where id = $1", [shipment]);
  expect(await readShared(token)).toBeNull();
});

test("Only the owner's page of a shipment lists the shipment's share links.", async () => {
  const token = newToken();
  await create(form(token));
  for (const supabase of [stranger.supabase, clerk.supabase]) {
    const { data } = await toUntypedClient(supabase).rpc("portal_page", { opened_id: shipment });
    expect(JSON.stringify(data)).not.toContain(hashToken(token));
  }
  const listed = [];
  for (const { accessToken } of [owner, stranger, clerk]) listed.push(await listLinksAs(accessToken));
  expect(listed).toEqual([[expect.objectContaining({ token_hash: hashToken(token) })], [], []]);
  await runWithSecondFactor(testBackend, owner.id, async () =>
    expect(await listLinksAs(owner.accessToken)).toEqual([]),
  );
});

/** Returns the shipment's share links that a request with the access token `token` can list. */
const listLinksAs = (token: string) =>
  runAsCaller(testBackend, token, async (session) => {
    const [row] = await session`select private.list_share_links(${shipment}) as links`;
    return row?.links;
  });
