import { expect, test } from "vitest";
import { readPage, setUpDesk } from "../support/database-suite.ts";

const { owner, clerk, lead, query, callRpc, runConcurrently } = setUpDesk();

/** Returns the announcement that the portal and the page Today show, or null. */
const readCurrent = async () => {
  const { announcement } = await readPage(clerk.supabase, "desk_today");
  expect((await readPage(owner.supabase, "portal_page")).announcement?.text).toBe(announcement?.text);
  return announcement?.text ?? null;
};
const listActions = () =>
  query(
    "select action, before, after, actor_name from public.audit_log where action like 'announcement%' order by created_at",
  );

test("The portal and the page Today show only the latest announcement until its end, and the log has each change.", async () => {
  await callRpc("end_announcement", {});
  const before = (await listActions()).length;
  await callRpc("announce", { text: " Customs system down since 09:10 " });
  expect(await readCurrent()).toBe("Customs system down since 09:10");
  await callRpc("announce", { text: "It is up again" }, lead.supabase);
  expect(await readCurrent()).toBe("It is up again");
  await callRpc("end_announcement", {});
  await callRpc("end_announcement", {});
  expect(await readCurrent()).toBeNull();
  const started = { action: "announcement set", before: null };
  expect((await listActions()).slice(before)).toEqual([
    { ...started, after: { text: "Customs system down since 09:10" }, actor_name: clerk.name },
    { ...started, after: { text: "It is up again" }, actor_name: lead.name },
    { action: "announcement end", before: { text: "It is up again" }, after: null, actor_name: clerk.name },
  ]);
});

test("After two parallel announcements, only one announcement is open.", async () => {
  const results = await runConcurrently([
    ["announce", { text: "One" }, clerk],
    ["announce", { text: "Two" }, lead],
  ]);
  expect(results).toEqual(["done", "done"]);
  expect(await query("select from public.announcements where ended_at is null")).toHaveLength(1);
});
