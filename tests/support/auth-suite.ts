import type { AuthError } from "@supabase/supabase-js";
import { setUpTestBackend } from "./database-suite.ts";

export const password = "a good password";
export const otherPassword = "another good password";

/** Returns the HTTP status and the code of an auth error. */
export const getErrorStatus = ({ error }: { error: AuthError | null }) => [error?.status, error?.code];

export function setUpAuth() {
  const { testBackend, query, sendRequest } = setUpTestBackend();
  let accountCount = 0;

  function newEmailAddress(): string {
    accountCount += 1;
    return `staff-${accountCount}@company.example`;
  }

  async function createInvitationMetadata(email: string) {
    const [invitation] = await query(
      `insert into private.staff_invites (email, name, role, invited_by_name)
       values ($1, 'Ann', 'clerk', 'the company') returning id`,
      [email],
    );
    return { staff_invite_id: invitation?.id, full_name: "Ann" };
  }

  async function newStaffAccount() {
    const email = newEmailAddress();
    const user_metadata = await createInvitationMetadata(email);
    const account = { email, password, email_confirm: true, user_metadata };
    const created = await testBackend.serviceRole.auth.admin.createUser(account);
    if (created.error) throw created.error;
    return { email, id: created.data.user.id };
  }

  async function newSession(email: string, chosenPassword = password) {
    const supabase = testBackend.anonymous();
    const { data, error } = await supabase.auth.signInWithPassword({ email, password: chosenPassword });
    if (error) throw error;
    return { supabase, session: data.session };
  }

  async function createRecoveryToken(email: string): Promise<string> {
    const { data, error } = await testBackend.serviceRole.auth.admin.generateLink({ type: "recovery", email });
    if (error) throw error;
    return data.properties.hashed_token;
  }

  const redeemToken = (token_hash: string, type: "recovery" | "signup" = "recovery") =>
    testBackend.anonymous().auth.verifyOtp({ type, token_hash });

  async function banAccount(id: string, until = "now() + interval '1 hour'"): Promise<void> {
    await query(`update auth.users set banned_until = ${until} where id = $1`, [id]);
  }

  async function countAccountTraces(email: string) {
    return query(
      `select (select count(*) from auth.users where email = $1)::int as users,
       (select count(*) from auth.identities where email = $1)::int as identities,
       (select count(*) from auth.audit_log_entries where payload -> 'traits' ->> 'user_email' = $1)::int as log`,
      [email],
    );
  }

  async function listAuthLogEntries(id: string) {
    const rows = await query<{ payload: object }>(
      `select payload from auth.audit_log_entries
     where $1 in (payload ->> 'actor_id', payload -> 'traits' ->> 'user_id') order by created_at`,
      [id],
    );
    return rows.map(({ payload }) => payload);
  }

  return {
    ...{ testBackend, query, sendRequest, newEmailAddress, createInvitationMetadata, newStaffAccount, newSession },
    ...{ createRecoveryToken, redeemToken, banAccount, countAccountTraces, listAuthLogEntries },
  };
}
