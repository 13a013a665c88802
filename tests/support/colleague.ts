import postgres from "postgres";
import { inject } from "vitest";
import { Authenticator } from "./authenticator.ts";
import type { Handle, memoryBackend } from "./memory-backend.ts";

type World = Awaited<ReturnType<typeof memoryBackend>>;
type Role = "clerk" | "lead";

/** The password of every colleague of the tests. */
export const colleaguePassword = "a good password of a colleague";

/** What a colleague of the tests is called at the desk. */
const nameOf = (email: string) => `Colleague ${email.split("@")[0]}`;

/** A colleague with a session that has given the code of their factor, `handle`, and one that has not, `aal1`. */
export async function newColleague(world: World, role: Role, email: string) {
  const { handle, ...colleague } = await colleagueWithoutFactor(world, role, email);
  const enrolled = await handle.auth.mfa.enroll({ factorType: "totp", friendlyName: "Phone" });
  if (enrolled.error) throw enrolled.error;
  const { id: factorId, totp } = enrolled.data;
  const app = new Authenticator(totp.secret);
  const verified = await handle.auth.mfa.challengeAndVerify({ factorId, code: await app.freshCode() });
  if (verified.error) throw verified.error;
  // A session from before the factor ends with it.
  const aal1 = await signIn(world, email);
  return { handle, aal1, ...colleague, accessToken: verified.data.access_token, factorId, app };
}

/** A colleague who has not set a second factor up, signed in with the password. */
export async function colleagueWithoutFactor(world: World, role: Role, email: string) {
  const { rows } = await world.backend.db.query<{ id: string }>(
    `insert into private.colleague_invitations (email, name, role, by_name) values ($1, $2, $3, 'the command')
     returning id`,
    [email, nameOf(email), role],
  );
  const id = await makeAccount(world, email, rows[0]?.id ?? "");
  return { handle: await signIn(world, email), id, email, name: nameOf(email) };
}

/** A new session of a colleague, with the password alone. */
export async function signIn(world: World, email: string, password = colleaguePassword): Promise<Handle> {
  const handle = world.anonymous();
  const { error } = await handle.auth.signInWithPassword({ email, password });
  if (error) throw error;
  return handle;
}

/** The account of an invitation, as the company makes it. Throws when it is not taken. */
export async function makeAccount(world: World, email: string, invitation: string): Promise<string> {
  const { data, error } = await world.company.auth.admin.createUser({
    email,
    password: colleaguePassword,
    email_confirm: true,
    user_metadata: { full_name: nameOf(email), colleague_invitation: invitation },
  });
  if (error) throw error;
  return data.user.id;
}

const changed = [
  ...["public.acts", "public.announcements", "public.charges", "public.client_ids", "public.colleagues"],
  ...["public.documents", "public.shipments", "public.tracking_events", "public.undelivered_mails"],
  ...[
    "public.notices",
    "private.notice_refusals",
    "private.erasure_requests",
    "private.shares",
    "private.email_changes",
  ],
  ...["auth.users", "auth.sessions", "auth.mfa_factors", "private.password_links", "private.colleague_invitations"],
];

/** Everything that an act of the desk could change, by table, to be compared. */
export async function deskState(world: World): Promise<Record<string, unknown[]>> {
  const parts = changed.map(
    (table) => `'${table}', (select coalesce(jsonb_agg(row order by row::text), '[]') from ${table} as row)`,
  );
  const { rows } = await world.backend.db.query<{ state: Record<string, unknown[]> }>(
    `select jsonb_build_object(${parts.join(", ")}) as state`,
  );
  return rows[0]?.state ?? {};
}

/** A call of a function as somebody: with the access token of a colleague, or with none as the company. */
type Call = { name: string; args: Record<string, unknown>; token?: string };

/** What calls that come at the same time answer, or why they are refused: each in a session of its own. */
export async function atOnce(world: World, calls: Call[]): Promise<{ answer?: unknown; refused?: string }[]> {
  let waiting = calls.length;
  let begin = () => {};
  const all = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const outcomes = await Promise.allSettled(
    calls.map(({ name, args, token }) =>
      inSession(world, async (session) => {
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
export async function inSession<T>(world: World, job: (session: postgres.TransactionSql) => Promise<T>) {
  const { rows } = await world.backend.db.query<{ name: string }>("select current_database() as name");
  const own = postgres(`${inject("postgres")}/${rows[0]?.name}`, { max: 1, onnotice: () => undefined });
  try {
    return await own.begin(job);
  } finally {
    await own.end();
  }
}
