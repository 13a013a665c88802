/** Creates people and sessions of every kind that has its own database privileges. */
import { enrollFactor, newEndedSession } from "./client-sessions.ts";
import { logIn, newStaffMember, newStaffMemberWithoutFactor } from "./staff-members.ts";
import type { AppSupabaseClient, TestBackend } from "./test-backend.ts";

/** Signed-in users without the privileges of a team member who has passed the second factor. */
export const outsiders = [
  "a client",
  "a client at AAL2",
  "a client who has not entered the code",
  "an ended session",
  "a clerk who has not entered the code",
  "a lead who has not entered the code",
  "a clerk without a second factor",
  "a clerk whose second factor was removed",
  "a removed clerk",
  "a clerk after signing out",
] as const;
export const accessRoles = ["a visitor", ...outsiders, "a clerk", "a lead", "the service role"] as const;
export type AccessRole = (typeof accessRoles)[number];

/**
 * Creates a person for each of `accessRoles` that needs a person. Returns the people, and a Supabase client for each
 * role.
 */
export async function newAccessRoles(testBackend: TestBackend) {
  const client = await testBackend.newClient("client@client.example");
  const protectedClient = await testBackend.newClient("protected@client.example");
  await enrollFactor(protectedClient.supabase);
  const formerClient = await testBackend.newClient("signed-out@client.example");
  const clerk = await newStaffMember(testBackend, "clerk", "clerk@company.example");
  const lead = await newStaffMember(testBackend, "lead", "lead@company.example");
  const newcomer = await newStaffMemberWithoutFactor(testBackend, "clerk", "newcomer@company.example");
  const unprotected = await newStaffMember(testBackend, "clerk", "unprotected@company.example");
  const { admin } = testBackend.serviceRole.auth;
  await admin.mfa.deleteFactor({ userId: unprotected.id, id: unprotected.factorId });
  const removed = await newStaffMember(testBackend, "clerk", "removed@company.example");
  // Changes only the table row, because the removed team member's session must still be valid with AAL2.
  await testBackend.backend.db.query("update public.staff_members set removed_at = now() where account_id = $1", [
    removed.id,
  ]);
  const signedOut = await newStaffMember(testBackend, "clerk", "signed-out@company.example");
  await signedOut.supabase.auth.signOut({ scope: "local" });
  const clientsByRole: Record<AccessRole, AppSupabaseClient> = {
    "a visitor": testBackend.anonymous(),
    "a client": client.supabase,
    "a client at AAL2": protectedClient.supabase,
    "a client who has not entered the code": await logIn(testBackend, protectedClient.email, "a good password"),
    "an ended session": await newEndedSession(testBackend, formerClient.email),
    "a clerk who has not entered the code": clerk.aal1,
    "a lead who has not entered the code": lead.aal1,
    "a clerk without a second factor": newcomer.supabase,
    "a clerk whose second factor was removed": testBackend.withToken(unprotected.accessToken),
    "a removed clerk": removed.supabase,
    "a clerk after signing out": testBackend.withToken(signedOut.accessToken),
    "a clerk": clerk.supabase,
    "a lead": lead.supabase,
    "the service role": testBackend.serviceRole,
  };
  return { clientsByRole, client, protectedClient, clerk, lead, newcomer };
}
