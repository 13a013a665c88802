import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { getRejection, invisibleCharacters, setUpDesk } from "../support/database-suite.ts";
import { readDeskState } from "../support/staff-members.ts";
import type { AppSupabaseClient } from "../support/test-backend.ts";

const { testBackend, owner, clerk, lead, query, callRpc } = setUpDesk();

const signUp = (email: string, client_id?: string) =>
  testBackend.anonymous().auth.signUp({
    email,
    password: "a good password",
    options: { data: { full_name: "New Client", client_id } },
  });
const issue = async (more: object = {}) => {
  const rows = (await callRpc("issue_client_ids", more)) as { client_id: string }[];
  return rows.map(({ client_id }) => client_id);
};
const withdraw = (client_id?: string, reason = "Sent to the wrong address") =>
  callRpc("withdraw_client_id", { client_id, reason });
const listActions = (name: string) =>
  query("select * from public.audit_log where action = $1 order by created_at", [name]);

test("Sending the form for Client IDs twice returns the same Client IDs. The audit log contains only the number of issued Client IDs.", async () => {
  const before = (await listActions("client-id issue")).length;
  const form = { how_many: 3, issued_for: " Tea Ltd ", sent_to: " Tea@Client.Example ", idempotency_key: randomUUID() };
  const first = await issue(form);
  expect(new Set(first).size).toBe(3);
  expect((await issue(form)).sort()).toEqual([...first].sort());
  const entries = (await listActions("client-id issue")).slice(before);
  expect(entries.map(({ after }) => after)).toEqual([{ count: 3 }]);
  for (const id of first) expect(JSON.stringify(entries)).not.toContain(id);
  const issued = await query("select issued_for, sent_to from public.client_ids where client_id = any ($1)", [first]);
  expect(issued).toEqual(first.map(() => ({ issued_for: "Tea Ltd", sent_to: "tea@client.example" })));
  expect(await issue({ ...form, idempotency_key: randomUUID() })).not.toEqual(first);
  expect(await issue({ ...form, issued_for: "Coffee Ltd" })).not.toEqual(first);
  const many = { how_many: 300, idempotency_key: randomUUID() };
  const [ids = [], sameIds = []] = await Promise.all([issue(many), issue(many)]);
  expect(ids).toHaveLength(300);
  expect(sameIds.sort()).toEqual(ids.sort());
});

test("Client IDs are not issued for an invalid recipient or an invalid number.", async () => {
  const before = await readDeskState(testBackend);
  for (const sent_to of [
    ...["a@client.example, b@client.example", "a@client.example,b@client.example", "a@client.example b@client.example"],
    ...["a@client.example;b@client.example", "Tea Ltd <a@client.example>", "a b@client.example", "a@client example"],
    ...["nobody", "@client.example", "a@", "a@b@client.example", '"a"@client.example', "list:a@client.example"],
    ...invisibleCharacters.flatMap((character) => [`a${character}b@client.example`, `a@client${character}.example`]),
    `${"x".repeat(250)}@b.ke`,
  ]) {
    expect(await getRejection(issue({ sent_to })), JSON.stringify(sent_to)).toMatch(/^400 /);
  }
  for (const how_many of [null, 0, -1, 1001])
    expect(await getRejection(issue({ how_many }))).toBe("400 Enter a number from 1 to 1,000.");
  expect(await readDeskState(testBackend)).toEqual(before);
});

describe("Emails with Client IDs", () => {
  const send = (client_id: string | undefined, more: object = {}, supabase?: AppSupabaseClient) =>
    callRpc("send_client_id", { client_id, ...more }, supabase);
  const unavailable =
    "409 You can send a Client ID again only if it is unused and was issued with an email address. Issue a new Client ID.";
  const listFailedEmails = (id: string) =>
    query<{ open: boolean }>(
      "select resolved_at is null as open from public.failed_emails where client_id = $1 order by failed_at",
      [id],
    );

  test("A Client ID is emailed to its recipient's address, and sending the form twice sends only one email.", async () => {
    const [id = ""] = await issue({ sent_to: "tea@client.example" });
    const before = (await listActions("client-id send")).length;
    const request = randomUUID();
    for (const _twice of [1, 2]) expect(await send(id, { idempotency_key: request })).toBe("tea@client.example");
    await send(id, { idempotency_key: randomUUID() }, lead.supabase);
    for (const _twice of [1, 2]) await send(id, { actor_name: "Otieno" }, testBackend.serviceRole);
    const lines = (await listActions("client-id send")).slice(before);
    expect(lines.map(({ actor_name }) => actor_name)).toEqual([clerk.name, lead.name, "Otieno", "Otieno"]);
    // The audit log is stored longer than the client's data, so an entry must not contain an email address. Nor may an
    // entry contain a Client ID, because a reader of the audit log could sign up with an unused Client ID.
    for (const secret of ["tea@client.example", id]) expect(JSON.stringify(lines)).not.toContain(secret);
  });

  test("A Client ID can be emailed only if it exists, is unused and has a recipient's address.", async () => {
    const [used = "", withdrawn = "", sendable = ""] = await issue({ how_many: 3, sent_to: "tea@client.example" });
    const [spent = ""] = await issue({ sent_to: "spent@client.example" });
    const [silent] = await issue();
    await signUp("uses-mailed@client.example", used);
    await testBackend.serviceRole.rpc("redeem_client_id", { client_id: spent, email: owner.email });
    await withdraw(withdrawn);
    const before = await readDeskState(testBackend);
    for (const id of [used, spent, withdrawn, silent, "N0TH-1NG0-0F1T-HERE", "", "%", null]) {
      const attempt = send(id as string, { idempotency_key: randomUUID() });
      expect(await getRejection(attempt), String(id)).toBe(unavailable);
    }
    expect(await readDeskState(testBackend)).toEqual(before);
    expect(await send(sendable)).toBe("tea@client.example");
  });

  test("Emailing a Client ID again resolves its failed emails, and the desk lists a later failure again.", async () => {
    const [id = "", secondId = ""] = await issue({ how_many: 2, sent_to: "bounced@client.example" });
    const failure = { kind: "client ID", sent_to: "bounced@client.example" };
    const recordFailure = (client_id: string) =>
      testBackend.serviceRole.rpc("record_failed_email", { ...failure, client_id });
    await recordFailure(id);
    await recordFailure(secondId);
    const request = randomUUID();
    await send(id, { idempotency_key: request });
    expect(await listFailedEmails(id)).toEqual([{ open: false }]);
    await recordFailure(id);
    expect(await listFailedEmails(id)).toEqual([{ open: false }, { open: true }]);
    // A repeated form sends the email again if the first attempt failed (models/email-delivery.server.ts).
    await send(id, { idempotency_key: request });
    expect(await listFailedEmails(id)).toEqual([{ open: false }, { open: false }]);
    await recordFailure(id);
    await send(id, { idempotency_key: randomUUID() });
    expect((await listFailedEmails(id)).filter(({ open }) => open)).toEqual([]);
    expect(await listFailedEmails(secondId)).toEqual([{ open: true }]);
    await send(secondId);
    expect(await listFailedEmails(secondId)).toEqual([{ open: false }]);
  });
});

test("A withdrawn Client ID cannot create an account, and only an unused Client ID can be withdrawn.", async () => {
  const [withdrawn, used, redeemed = ""] = await issue({ how_many: 3 });
  await withdraw(withdrawn);
  expect((await listActions("client-id withdraw")).at(-1)).toMatchObject({
    ...{ before: { client_id: withdrawn }, reason: "Sent to the wrong address", actor_name: clerk.name },
  });
  expect((await signUp("withdrawn@client.example", withdrawn)).error).not.toBeNull();
  expect(await query("select from auth.users where email = 'withdrawn@client.example'")).toEqual([]);
  expect((await signUp("withdrawn@client.example", used)).error).toBeNull();
  await testBackend.serviceRole.rpc("redeem_client_id", { client_id: redeemed, email: owner.email });
  for (const id of [withdrawn, used, redeemed])
    expect(await getRejection(withdraw(id))).toBe("409 This Client ID is unknown or has already been used.");
  expect(await query("select from public.client_ids where client_id = any ($1)", [[used, redeemed]])).toHaveLength(2);
});
