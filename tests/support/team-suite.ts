import { createRpcCaller, setUpDesk } from "./database-suite.ts";
import type { AppSupabaseClient } from "./test-backend.ts";

type InvitationResult = { invite_id?: string; account_id?: string };

/**
 * Calls setUpDesk, and adds a client, functions for the team, and a `callRpc` that uses the lead's session by default.
 */
export function setUpTeam() {
  const suite = setUpDesk();
  const { testBackend, lead, query } = suite;
  const client = suite.setUpClient("client@client.example");
  const callRpc = createRpcCaller(() => lead.supabase);

  function invite(more: object, supabase: AppSupabaseClient = lead.supabase): Promise<InvitationResult> {
    const args = { name: "Nekesa", role: "clerk", ...more };
    return callRpc("invite_staff_member", args, supabase) as Promise<InvitationResult>;
  }

  function removeMember(account: string, supabase: AppSupabaseClient = lead.supabase, reason = "They left") {
    return callRpc("remove_staff_member", { account_id: account, reason }, supabase);
  }

  async function findStaffMember(account: string) {
    return (await query("select * from public.staff_members where account_id = $1", [account]))[0];
  }

  async function issueLink(account = client.id, hours = 1): Promise<string> {
    const args = { account_id: account, valid_hours: hours };
    return String(await callRpc("issue_password_link", args, testBackend.serviceRole));
  }

  const readLink = (token: string) => callRpc("password_link", { token }, testBackend.serviceRole);

  return { ...suite, client, callRpc, invite, removeMember, findStaffMember, issueLink, readLink };
}
