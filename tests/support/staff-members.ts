import { decodeJwt } from "jose";
import postgres from "postgres";
import { inject } from "vitest";
import { enrollFactor } from "./client-sessions.ts";
import type { AppSupabaseClient, TestBackend } from "./test-backend.ts";

type TestStaffRole = "clerk" | "lead";

export const staffPassword = "a good password of the staff";

const toStaffName = (email: string) => `Team member ${email.split("@")[0]}`;

/**
 * Creates a team member. `supabase` is a Supabase client with a session at AAL2. `aal1` has a session that has not
 * passed the second factor.
 */
export async function newStaffMember(testBackend: TestBackend, role: TestStaffRole, email: string) {
  const { supabase, ...staffMember } = await newStaffMemberWithoutFactor(testBackend, role, email);
  const factor = await enrollFactor(supabase);
  // Logs in again, because verifying the second factor has ended the earlier sessions.
  const aal1 = await logIn(testBackend, email);
  return { supabase, aal1, ...staffMember, ...factor };
}

/** Creates a team member without a second factor and logs in with the password. */
export async function newStaffMemberWithoutFactor(testBackend: TestBackend, role: TestStaffRole, email: string) {
  const { rows } = await testBackend.backend.db.query<{ id: string }>(
    `insert into private.staff_invites (email, name, role, invited_by_name) values ($1, $2, $3, 'the command')
     returning id`,
    [email, toStaffName(email), role],
  );
  const id = await createStaffAccount(testBackend, email, rows[0]?.id ?? "");
  return { supabase: await logIn(testBackend, email), id, email, name: toStaffName(email) };
}

/** Logs in. Returns a Supabase client with a session at AAL1. Throws if the password is wrong. */
export async function logIn(
  testBackend: TestBackend,
  email: string,
  password = staffPassword,
): Promise<AppSupabaseClient> {
  const supabase = testBackend.anonymous();
  const { error } = await supabase.auth.signInWithPassword({ email, password });
  if (error) throw error;
  return supabase;
}

/** Creates an account with an invitation. Returns the account's ID. Throws if the invitation is invalid. */
export async function createStaffAccount(testBackend: TestBackend, email: string, invitation: string): Promise<string> {
  const { data, error } = await testBackend.serviceRole.auth.admin.createUser({
    email,
    password: staffPassword,
    email_confirm: true,
    user_metadata: { full_name: toStaffName(email), staff_invite_id: invitation },
  });
  if (error) throw error;
  return data.user.id;
}

const staffActionTables = [
  ...["public.audit_log", "public.announcements", "public.charges", "public.client_ids", "public.staff_members"],
  ...["public.documents", "public.shipments", "public.tracking_events", "public.failed_emails"],
  ...["public.email_outbox", "private.email_opt_outs", "private.erasure_requests", "private.share_links"],
  ...["auth.users", "auth.sessions", "auth.mfa_factors", "private.password_links", "private.staff_invites"],
  ...["private.email_changes", "private.client_phones", "private.stage_visits"],
];

/** Returns every row that a staff action could change, by table. */
export async function readDeskState(testBackend: TestBackend): Promise<Record<string, unknown[]>> {
  const parts = staffActionTables.map(
    (table) => `'${table}', (select coalesce(jsonb_agg(row order by row::text), '[]') from ${table} as row)`,
  );
  const select = `select jsonb_build_object(${parts.join(", ")}) as state`;
  const { rows } = await testBackend.backend.db.query<{ state: Record<string, unknown[]> }>(select);
  return rows[0]?.state ?? {};
}

/** A call of a database function with a user's access token, or as the service role if `token` is missing. */
type RpcCall = { name: string; args: Record<string, unknown>; token?: string };

/**
 * Runs calls in parallel, each in its own database session. Returns the result or the rejection's message of each
 * call.
 */
export async function callConcurrently(
  testBackend: TestBackend,
  calls: RpcCall[],
): Promise<{ result?: unknown; rejection?: string }[]> {
  let waiting = calls.length;
  let begin = () => {};
  const all = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const outcomes = await Promise.allSettled(
    calls.map(({ name, args, token }) =>
      runAsCaller(testBackend, token, async (session) => {
        waiting -= 1;
        if (waiting === 0) begin();
        await all;
        const named = Object.keys(args).map((key, index) => `${key} => $${index + 1}`);
        const text = `select public.${name}(${named.join(", ")}) as result`;
        const [row] = await session.unsafe(text, Object.values(args) as never[]);
        return row?.result;
      }),
    ),
  );
  return outcomes.map((outcome) =>
    outcome.status === "fulfilled" ? { result: outcome.value } : { rejection: String(outcome.reason.message) },
  );
}

export function callRepeatedly(testBackend: TestBackend, times: number, call: RpcCall) {
  return callConcurrently(testBackend, Array(times).fill(call));
}

/** Runs a transaction with the privileges of an access token, or of the service role if `token` is missing. */
export function runAsCaller<T>(
  testBackend: TestBackend,
  token: string | undefined,
  job: (session: postgres.TransactionSql) => Promise<T>,
) {
  return runInSession(testBackend, async (session) => {
    const claims = token ? decodeJwt(token) : { role: "service_role" };
    await session`
      select set_config('request.jwt.claims', ${JSON.stringify(claims)}, true),
        set_config('role', ${String(claims.role)}, true)`;
    return job(session);
  });
}

/** Runs a transaction in its own database session. The backend's session can run only one request at a time. */
export async function runInSession<T>(testBackend: TestBackend, job: (session: postgres.TransactionSql) => Promise<T>) {
  const { rows } = await testBackend.backend.db.query<{ name: string }>("select current_database() as name");
  const own = postgres(`${inject("postgres")}/${rows[0]?.name}`, { max: 1, onnotice: () => undefined });
  try {
    return await own.begin(job);
  } finally {
    await own.end();
  }
}
