import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestBackend } from "../support/test-backend.ts";

let testBackend: Awaited<ReturnType<typeof startTestBackend>>;

// These requests come first: at its first requests the library grants everything to clients unless told not to.
beforeAll(async () => {
  testBackend = await startTestBackend();
  const client = await testBackend.newClient("client@client.example");
  const tables = ["client_ids", "shipments", "documents", "tracking_events"] as const;
  for (const handle of [testBackend.anonymous(), client.handle, testBackend.company, client.handle]) {
    for (const table of tables) {
      await handle.from(table).select("*");
      await (handle as SupabaseClient).from(table).update({ verified: true }).eq("id", client.id);
    }
    await handle.rpc("issue_client_ids", { how_many: 0 });
    await handle.storage.from("documents").list("");
    await handle.storage.listBuckets();
  }
});
afterAll(() => testBackend.close());

test("row-level security is on for every table of public, private and storage", async () => {
  const tables = await query<{ name: string; secured: boolean }>(
    `select relname as name, relrowsecurity as secured
     from pg_class where relnamespace in ('public'::regnamespace, 'private'::regnamespace, 'storage'::regnamespace)
       and relkind in ('r', 'p')`,
  );
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "client_ids",
      "shipments",
      "documents",
      "tracking_events",
      "rate_limit_hits",
      "audit_log",
      "announcements",
      "charges",
      "staff_members",
      "failed_emails",
      "email_outbox",
      "email_opt_outs",
      "staff_invites",
      "password_links",
      "share_links",
      "email_changes",
      "erasure_requests",
      "objects",
      "buckets",
    ]),
  );
  expect(tables.filter(({ secured }) => !secured)).toEqual([]);
});

test("the public schema has no view, which would read past row-level security", async () => {
  expect(
    await query(
      "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('v', 'm', 'f')",
    ),
  ).toEqual([]);
});

test("visitors have no privilege on any table or column of public and private", async () => {
  expect(await listPrivileges("anon")).toEqual([]);
});

test("visitors may execute no function of public and private", async () => {
  expect(await listExecutableFunctions("anon")).toEqual([]);
});

test("visitors cannot look into the schema private", async () => {
  const [row] = await query<{ may: boolean }>("select has_schema_privilege('anon', 'private', 'usage, create') as may");
  expect(row?.may).toBe(false);
});

/** What a colleague does at the desk; each begins by asking who it is that calls. */
const staffActionFunctions = [
  "announce(text,uuid,text)",
  "request_password_link(uuid,text)",
  "start_erasure(uuid,text,text)",
  "change_staff_role(uuid,text,text)",
  "close_account(uuid,text,text)",
  "correct_stage(uuid,integer,text,integer,uuid,text)",
  "resolve_failed_email(uuid,text)",
  "end_announcement(text)",
  "invite_staff_member(text,text,text,uuid,text)",
  "issue_client_ids(integer,text,text,uuid,text)",
  "set_charge_paid(uuid,text,boolean,text,integer,uuid,text)",
  "move_shipment(uuid,text,text,boolean,integer,uuid,text)",
  "move_shipments(jsonb,text,uuid,text)",
  "reopen_account(uuid,text,text)",
  "open_document(uuid,uuid,text)",
  "reject_erasure(uuid,text,text)",
  "remove_staff_member(uuid,text,text)",
  "remove_second_factors(uuid,text,text)",
  "save_arrival(uuid,text,date,integer,date,integer,uuid,text)",
  "save_awb(uuid,text,text,integer,uuid,text)",
  "reject_document(uuid,text,integer,uuid,text)",
  "send_client_id(text,uuid,text)",
  "send_note(uuid,text,uuid,text)",
  "set_charge(uuid,text,numeric,text,date,text,integer,uuid,text)",
  "unverify_document(uuid,text,integer,uuid,text)",
  "verify_document(uuid,text,text,integer,uuid,text)",
  "withdraw_client_id(text,text,text)",
];
const deskPageFunctions = [
  "desk_clients(text,integer,uuid)",
  "desk_team()",
  "desk_invitations(integer)",
  "desk_log(text,text,text,uuid,date,integer,timestamp with time zone,uuid)",
  "desk_move_result(uuid[])",
  "desk_shipments(text,integer,text,boolean,integer,uuid)",
  "desk_shipments_export(text,integer,text,boolean,timestamp with time zone,uuid)",
  "desk_today()",
];
/** What clients do with what is theirs; each begins by asking whether the session is good for the account. */
const clientActionFunctions = [
  "set_erasure_request(boolean)",
  "change_shipment(uuid,text,text,integer)",
  "revoke_share_link(uuid)",
  "create_share_link(uuid,uuid,text)",
  "remove_file(uuid,integer)",
];
/** What shows clients what is theirs beyond the reach of their own rights. */
const clientPageFunctions = [
  "data_export(timestamp with time zone,uuid)",
  "portal_account()",
  "private.client_work()",
  "private.list_share_links(uuid)",
];
/** What the policies and the pages ask about the caller, and tell nobody else. */
const viewerFunctions = [
  "private.has_valid_session()",
  "private.viewer()",
  "private.is_client()",
  "private.is_staff()",
];

test("who is signed in may execute the pages, the acts of the desk, and what these and the policies call", async () => {
  expect(await listExecutableFunctions("authenticated")).toEqual(
    [
      ...[
        ...staffActionFunctions,
        ...deskPageFunctions,
        ...clientActionFunctions,
        ...clientPageFunctions,
        ...viewerFunctions,
      ],
      "portal_file(uuid,uuid)",
      "portal_page(integer,uuid,text,integer,text)",
      "portal_shipments_export(text,integer,text,timestamp with time zone,uuid)",
      "private.like_pattern(text)",
      "private.awb_pattern(text)",
      "private.id_prefix_range(text)",
      "private.is_one_line(text)",
      "private.is_plain_text(text)",
      "private.is_visible(text)",
      "private.list_client_shipments(text,integer,text,integer,integer,timestamp with time zone,uuid)",
      "private.check_upload_allowed(boolean,smallint)",
      "private.stage_name(smallint)",
      "private.word_patterns(text)",
      "require_upload_allowed(uuid)",
      "get_viewer()",
    ].sort(),
  );
});

test("every act of the desk asks first who acts, and every page of it whether they are a colleague", async () => {
  const bodies = await query<{ name: string; body: string }>(
    `select oid::regprocedure::text as name, prosrc as body
     from pg_proc where pronamespace = 'public'::regnamespace and oid::regprocedure::text = any ($1)`,
    [[...staffActionFunctions, ...deskPageFunctions]],
  );
  expect(bodies).toHaveLength(staffActionFunctions.length + deskPageFunctions.length);
  const refused = String.raw`then\s+return jsonb_build_object\('viewer', private\.viewer\(\)\);`;
  const page = (asked: string) => new RegExp(String.raw`^(\s*declare[\s\S]*?)?\s*begin\s+if ${asked}\s+${refused}`);
  const isNone = String.raw`not private\.is_staff\(\)`;
  const isNoLead = String.raw`not exists \(select from public\.staff_members where account_id = auth\.uid\(\) and role = 'lead'\)`;
  for (const { name, body } of bodies) {
    const ofPage = name === "desk_team()" ? page(String.raw`${isNone}\s+or ${isNoLead}`) : page(isNone);
    const first = staffActionFunctions.includes(name)
      ? /^\s*declare\s+actor private\.actor := private\.require_actor\(/
      : ofPage;
    expect(body, name).toMatch(first);
  }
});

test("every act of clients asks first whether the session is good for the account", async () => {
  const bodies = await query<{ name: string; body: string }>(
    `select oid::regprocedure::text as name, prosrc as body
     from pg_proc where pronamespace = 'public'::regnamespace and oid::regprocedure::text = any ($1)`,
    [clientActionFunctions],
  );
  expect(bodies).toHaveLength(clientActionFunctions.length);
  const first =
    /^(\s*declare[^$]*?)?\s*begin\s+if not private\.has_valid_session\(\)[^;]*? then\s+raise sqlstate 'PT403'/;
  for (const { name, body } of bodies) expect(body, name).toMatch(first);
});

test("every page of clients beyond their own rights asks whether the session is good for the account", async () => {
  const bodies = await query<{ name: string; body: string }>(
    `select oid::regprocedure::text as name, prosrc as body from pg_proc where oid::regprocedure::text = any ($1)`,
    [clientPageFunctions],
  );
  expect(bodies).toHaveLength(clientPageFunctions.length);
  for (const { name, body } of bodies) expect(body, name).toContain("private.has_valid_session()");
});

test("clients have exactly the privileges on tables and columns that the product needs", async () => {
  const granted = await listPrivileges("authenticated");
  expect(granted.map(({ relation, column, privilege }) => `${privilege} ${relation}.${column}`).sort()).toEqual(
    [
      ...qualifyColumns(
        "SELECT audit_log",
        "id, created_at, actor_name, staff_id, action, shipment_id, document_id, account_id, before, after, reason",
      ),
      ...qualifyColumns("SELECT audit_log", "idempotency_key"),
      ...qualifyColumns("SELECT announcements", "id, text, started_at, ended_at"),
      ...qualifyColumns("SELECT charges", "shipment_id, item, amount, currency, due_on, note, paid_at, version"),
      ...qualifyColumns("SELECT staff_members", "account_id, name, role, created_at, removed_at"),
      ...qualifyColumns("SELECT documents", "id, shipment_id, user_id, name, uploaded, verified, storage_path"),
      ...qualifyColumns("SELECT documents", "storage_version, sha256, file_name, file_size, media_type, uploaded_at"),
      ...qualifyColumns("SELECT documents", "version, rejected_at, rejection_reason"),
      ...qualifyColumns(
        "SELECT shipments",
        "id, user_id, idempotency_key, name, stage, status, awb, created_at, retention_ends_on",
      ),
      ...qualifyColumns("SELECT shipments", "waiting_on, waiting_since, changed_at, staff_action_at, version"),
      ...qualifyColumns("SELECT shipments", "arrival_place, arrived_on, container_size, free_storage_ends_on"),
      ...qualifyColumns("SELECT tracking_events", "id, shipment_id, kind, stage, status, location, note, created_at"),
      ...qualifyColumns("SELECT failed_emails", "id, failed_at, kind, sent_to, account_id, client_id, resolved_at"),
      ...qualifyColumns("INSERT shipments", "user_id, idempotency_key, name, stage, status, awb"),
    ].sort(),
  );
  const whole = await query<{ grant: string }>(
    `select privilege || ' ' || relname as grant
     from pg_class, unnest(array['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) as privilege
     where relnamespace = 'public'::regnamespace and relkind = 'r'
       and has_table_privilege('authenticated', pg_class.oid, privilege)`,
  );
  expect(whole).toEqual([]);
});

test.each(["anon", "authenticated"])(
  "%s has no privilege in the schemas of auth and of the migrations",
  async (role) => {
    const reachable = await query(
      `select nspname, relname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname in ('auth', 'supabase_migrations') and relkind in ('r', 'p', 'v')
       and (has_table_privilege($1, pg_class.oid, 'select, insert, update, delete')
         or has_any_column_privilege($1, pg_class.oid, 'select, insert, update'))`,
      [role],
    );
    expect(reachable).toEqual([]);
  },
);

test.each(["anon", "authenticated"])("%s cannot step over row-level security or become another role", async (role) => {
  const [row] = await query(
    `select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
       exists (select 1 from pg_auth_members where member = pg_roles.oid) as member
     from pg_roles where rolname = $1`,
    [role],
  );
  expect(row).toEqual({
    rolsuper: false,
    rolbypassrls: false,
    rolcreaterole: false,
    rolcreatedb: false,
    member: false,
  });
});

test.each(["anon", "authenticated"])("%s can create nothing in any schema", async (role) => {
  expect(await query("select nspname from pg_namespace where has_schema_privilege($1, oid, 'create')", [role])).toEqual(
    [],
  );
});

test("every function of public and private has an empty search path", async () => {
  const functions = await query<{ name: string; config: string[] | null }>(
    `select oid::regprocedure::text as name, proconfig as config
     from pg_proc where pronamespace in ('public'::regnamespace, 'private'::regnamespace)`,
  );
  expect(functions.length).toBeGreaterThan(0);
  expect(functions.filter(({ config }) => !config?.includes('search_path=""'))).toEqual([]);
});

test("of the functions that run with their owner's rights, who is signed in may execute those and visitors none", async () => {
  const definers = await query<{ name: string; anon: boolean; client: boolean }>(
    `select oid::regprocedure::text as name,
       has_function_privilege('anon', oid, 'execute') as anon,
       has_function_privilege('authenticated', oid, 'execute') as client
     from pg_proc where pronamespace in ('public'::regnamespace, 'private'::regnamespace) and prosecdef`,
  );
  expect(definers.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["admit_sign_up(text,text)", "private.redeem_client_id_or_invite()"]),
  );
  expect(definers.filter(({ anon }) => anon)).toEqual([]);
  const reachable = definers.filter(({ client }) => client).map(({ name }) => name);
  expect(reachable.sort()).toEqual(
    [
      ...staffActionFunctions,
      ...deskPageFunctions,
      ...clientActionFunctions,
      ...clientPageFunctions,
      ...viewerFunctions,
    ].sort(),
  );
});

test("no policy reads a file or a bucket: neither clients nor colleagues do with their own token", async () => {
  const reading = await query<{ policyname: string }>(
    `select policyname from pg_policies
     where permissive = 'PERMISSIVE' and cmd in ('SELECT', 'ALL') and schemaname = 'storage'`,
  );
  expect(reading).toEqual([]);
});

test("no policy lets a client write a document, or an object of any bucket", async () => {
  const writing = await query(
    `select tablename, policyname, cmd from pg_policies
     where permissive = 'PERMISSIVE' and cmd <> 'SELECT' and tablename in ('documents', 'objects', 'buckets')`,
  );
  expect(writing).toEqual([]);
});

test("every column that a policy looks rows up by leads an index", async () => {
  const used = await query<{ column: string; indexed: boolean }>(
    `select distinct attrelid::regclass || '.' || attname as column,
       exists (select 1 from pg_index where indrelid = attrelid and indkey[0] = attnum) as indexed
     from pg_policy
     join pg_depend on pg_depend.classid = 'pg_policy'::regclass and pg_depend.objid = pg_policy.oid
       and refclassid = 'pg_class'::regclass and refobjsubid > 0
     join pg_attribute on attrelid = refobjid and attnum = refobjsubid
     join pg_class on pg_class.oid = attrelid
     where relnamespace = 'public'::regnamespace and polqual is not null`,
  );
  expect(used.map(({ column }) => column)).toEqual(
    expect.arrayContaining(["shipments.user_id", "documents.user_id", "tracking_events.shipment_id"]),
  );
  expect(used.filter(({ indexed }) => !indexed)).toEqual([]);
});

test("every user_id and shipment_id leads an index", async () => {
  const keys = await query<{ column: string; indexed: boolean }>(
    `select attrelid::regclass || '.' || attname as column,
       exists (select 1 from pg_index where indrelid = attrelid and indkey[0] = attnum) as indexed
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = 'public'::regnamespace and relkind = 'r' and attname in ('user_id', 'shipment_id')`,
  );
  expect(keys).toHaveLength(7);
  expect(keys.filter(({ indexed }) => !indexed)).toEqual([]);
});

test("every policy is for signed-in clients and asks who they are once, not for every row", async () => {
  const policies = await query<{ policyname: string; roles: string; rule: string }>(
    `select policyname, roles::text, concat(qual, ' ', with_check) as rule
     from pg_policies where schemaname in ('public', 'storage')`,
  );
  expect(policies.length).toBeGreaterThan(0);
  for (const { policyname, roles, rule } of policies) {
    expect(roles, policyname).toBe("{authenticated}");
    const perRow = rule.replaceAll(/\( ?SELECT (auth|private)\.\w+\(\)/g, "");
    expect(perRow, policyname).not.toMatch(/auth\.(uid|jwt|role)\(\)|private\.\w+\(\)/);
  }
});

test("every table and the bucket of clients ask for the second factor, whatever is done there", async () => {
  const policies = await query<{ place: string; rule: string; condition: string }>(
    `select schemaname || '.' || tablename as place, qual as rule, with_check as condition
     from pg_policies where permissive = 'RESTRICTIVE' and cmd = 'ALL' order by place`,
  );
  expect(policies.map(({ place }) => place)).toEqual([
    "public.announcements",
    "public.charges",
    "public.documents",
    "public.shipments",
    "public.tracking_events",
    "storage.objects",
  ]);
  for (const { place, rule, condition } of policies) {
    for (const asked of [rule, condition]) expect(asked, place).toContain("private.has_valid_session()");
  }
});

async function query<T = Record<string, unknown>>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await testBackend.backend.db.query<T>(text, values)).rows;
}

/** Every column of our tables on which a role may do something, with what it may do. */
function listPrivileges(role: string) {
  return query<{ schema: string; relation: string; column: string; privilege: string }>(
    `select nspname as schema, relname as relation, attname as column, privilege
     from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped,
       unnest(array['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) as privilege
     where nspname in ('public', 'private') and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
       and has_column_privilege($1, pg_class.oid, attnum, privilege)`,
    [role],
  );
}

async function listExecutableFunctions(role: string): Promise<string[]> {
  const rows = await query<{ name: string }>(
    `select oid::regprocedure::text as name
     from pg_proc where pronamespace in ('public'::regnamespace, 'private'::regnamespace)
       and has_function_privilege($1, oid, 'execute') order by 1`,
    [role],
  );
  return rows.map(({ name }) => name);
}

function qualifyColumns(what: string, names: string): string[] {
  return names.split(", ").map((name) => `${what}.${name}`);
}
