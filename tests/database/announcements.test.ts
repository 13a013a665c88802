import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { setUpDesk } from "../support/database-suite.ts";

const { owner, clerk, lead, query, callRpc, runConcurrently } = setUpDesk();

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
  const started = { action: "announcement set", before: null };
  expect((await listActions()).slice(before)).toEqual([
    { ...started, after: { text: "Customs system down since 09:10" }, actor_name: clerk.name },
    { ...started, after: { text: "It is up again" }, actor_name: lead.name },
    { action: "announcement end", before: { text: "It is up again" }, after: null, actor_name: clerk.name },
  ]);
});

test("Two parallel announcements leave one announcement.", async () => {
  const results = await runConcurrently([
    ["announce", { text: "One" }, clerk],
    ["announce", { text: "Two" }, lead],
  ]);
  expect(results).toEqual(["done", "done"]);
  expect(await query("select from public.announcements where ended_at is null")).toHaveLength(1);
});
