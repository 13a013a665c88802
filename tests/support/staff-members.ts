import postgres from "postgres";
import { inject } from "vitest";
import { Authenticator } from "./authenticator.ts";
import type { AppSupabaseClient, startTestBackend } from "./test-backend.ts";

type TestBackend = Awaited<ReturnType<typeof startTestBackend>>;
type TestStaffRole = "clerk" | "lead";

/** The password of every colleague of the tests. */
export const staffPassword = "a good password of a colleague";

/** What a colleague of the tests is called at the desk. */
const toStaffName = (email: string) => `Colleague ${email.split("@")[0]}`;

/** A colleague with a session that has given the code of their factor, `handle`, and one that has not, `aal1`. */
export async function newStaffMember(world: TestBackend, role: TestStaffRole, email: string) {
  const { handle, ...colleague } = await newStaffMemberWithoutFactor(world, role, email);
  const enrolled = await handle.auth.mfa.enroll({ factorType: "totp", friendlyName: "Phone" });
  if (enrolled.error) throw enrolled.error;
  const { id: factorId, totp } = enrolled.data;
  const app = new Authenticator(totp.secret);
  const verified = await handle.auth.mfa.challengeAndVerify({ factorId, code: await app.freshCode() });
  if (verified.error) throw verified.error;
  // A session from before the factor ends with it.
  const aal1 = await logIn(world, email);
  return { handle, aal1, ...colleague, accessToken: verified.data.access_token, factorId, app };
}

/** A colleague who has not set a second factor up, signed in with the password. */
export async function newStaffMemberWithoutFactor(world: TestBackend, role: TestStaffRole, email: string) {
  const { rows } = await world.backend.db.query<{ id: string }>(
    `insert into private.staff_invites (email, name, role, invited_by_name) values ($1, $2, $3, 'the command')
     returning id`,
    [email, toStaffName(email), role],
  );
  const id = await createStaffAccount(world, email, rows[0]?.id ?? "");
  return { handle: await logIn(world, email), id, email, name: toStaffName(email) };
}

/** A new session of a colleague, with the password alone. */
export async function logIn(world: TestBackend, email: string, password = staffPassword): Promise<AppSupabaseClient> {
  const handle = world.anonymous();
  const { error } = await handle.auth.signInWithPassword({ email, password });
  if (error) throw error;
  return handle;
}

/** The account of an invitation, as the company makes it. Throws when it is not taken. */
export async function createStaffAccount(world: TestBackend, email: string, invitation: string): Promise<string> {
  const { data, error } = await world.company.auth.admin.createUser({
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
  ...[
    "public.email_outbox",
    "private.email_opt_outs",
    "private.erasure_requests",
    "private.share_links",
    "private.email_changes",
  ],
  ...["auth.users", "auth.sessions", "auth.mfa_factors", "private.password_links", "private.staff_invites"],
];

/** Everything that an act of the desk could change, by table, to be compared. */
export async function readDeskState(world: TestBackend): Promise<Record<string, unknown[]>> {
  const parts = staffActionTables.map(
    (table) => `'${table}', (select coalesce(jsonb_agg(row order by row::text), '[]') from ${table} as row)`,
  );
  const { rows } = await world.backend.db.query<{ state: Record<string, unknown[]> }>(
    `select jsonb_build_object(${parts.join(", ")}) as state`,
  );
  return rows[0]?.state ?? {};
}

/** A call of a function as somebody: with the access token of a colleague, or with none as the company. */
type RpcCall = { name: string; args: Record<string, unknown>; token?: string };

/** What calls that come at the same time answer, or why they are refused: each in a session of its own. */
export async function callConcurrently(
  world: TestBackend,
  calls: RpcCall[],
): Promise<{ answer?: unknown; refused?: string }[]> {
  let waiting = calls.length;
  let begin = () => {};
  const all = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const outcomes = await Promise.allSettled(
    calls.map(({ name, args, token }) =>
      runInSession(world, async (session) => {
        const claims = token ? Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8") : "{}";
        await session`
          select set_config('request.jwt.claims', ${claims}, true),
            set_config('request.jwt.claim.sub', ${JSON.parse(claims).sub ?? ""}, true),
            set_config('role', ${token ? "authenticated" : "service_role"}, true)`;
        waiting -= 1;
        if (waiting === 0) begin();
        await all;
        const named = Object.keys(args).map((key, index) => `${key} => $${index + 1}`);
        const text = `select public.${name}(${named.join(", ")}) as answer`;
        const [row] = await session.unsafe(text, Object.values(args) as never[]);
        return row?.answer;
      }),
    ),
  );
  return outcomes.map((outcome) =>
    outcome.status === "fulfilled" ? { answer: outcome.value } : { refused: String(outcome.reason.message) },
  );
}

/** Runs a transaction in a session of its own, beside the backend's, which answers one request at a time. */
export async function runInSession<T>(world: TestBackend, job: (session: postgres.TransactionSql) => Promise<T>) {
  const { rows } = await world.backend.db.query<{ name: string }>("select current_database() as name");
  const own = postgres(`${inject("postgres")}/${rows[0]?.name}`, { max: 1, onnotice: () => undefined });
  try {
    return await own.begin(job);
  } finally {
    await own.end();
  }
}
