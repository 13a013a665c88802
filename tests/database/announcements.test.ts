import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { getRejection, invisibleCharacters, setUpDesk } from "../support/database-suite.ts";
import { readDeskState } from "../support/staff-members.ts";

const { testBackend, owner, clerk, lead, query, callRpc, runConcurrently } = setUpDesk();

const listCurrent = async () => (await owner.supabase.from("announcements").select("text").is("ended_at", null)).data;
const listActions = () =>
  query(
    "select action, before, after, actor_name from public.audit_log where action like 'announcement%' order by created_at",
  );

test("Clients see one announcement at a time until it ends, and the log has each change.", async () => {
  await callRpc("end_announcement", {});
  const before = (await listActions()).length;
  const request = randomUUID();
  await callRpc("announce", { text: " Customs system down since 09:10 ", idempotency_key: request });
  await callRpc("announce", { text: " Customs system down since 09:10 ", idempotency_key: request });
  expect(await listCurrent()).toEqual([{ text: "Customs system down since 09:10" }]);
  await callRpc("announce", { text: "It is up again", idempotency_key: request }, lead.supabase);
  expect(await listCurrent()).toEqual([{ text: "It is up again" }]);
  await callRpc("end_announcement", {});
  await callRpc("end_announcement", {});
  expect(await listCurrent()).toEqual([]);
  expect((await listActions()).slice(before)).toEqual([
    {
      action: "announcement set",
      before: null,
      after: { text: "Customs system down since 09:10" },
      actor_name: clerk.name,
    },
    { action: "announcement set", before: null, after: { text: "It is up again" }, actor_name: lead.name },
    { action: "announcement end", before: { text: "It is up again" }, after: null, actor_name: clerk.name },
  ]);
});

test("An announcement that is empty, longer than 200 characters or contains an invisible character is rejected.", async () => {
  const before = await readDeskState(testBackend);
  expect(await getRejection(callRpc("announce", { text: "  " }))).toBe("400 Write the notice.");
  expect(await getRejection(callRpc("announce", { text: "x".repeat(201) }))).toMatch(/^400 /);
  for (const character of invisibleCharacters) {
    expect(await getRejection(callRpc("announce", { text: `Pay${character}here` })), character).toMatch(/^400 /);
  }
  expect(await readDeskState(testBackend)).toEqual(before);
});

test("Two parallel announcements leave one announcement.", async () => {
  const results = await runConcurrently([
    ["announce", { text: "One" }, clerk],
    ["announce", { text: "Two" }, lead],
  ]);
  expect(results).toEqual(["done", "done"]);
  expect(await query("select from public.announcements where ended_at is null")).toHaveLength(1);
});
