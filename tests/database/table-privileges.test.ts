import { beforeAll, expect, test } from "vitest";
import { type AccessRole, accessRoles, newAccessRoles } from "../support/access-roles.ts";
import { type DatabaseRow, setUpTestBackend } from "../support/database-suite.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const { testBackend, query, newShipment, uploadDocument } = setUpTestBackend();

/** The columns of each table that signed-in users may read. The table's policies then select the rows. */
const readableColumns = {
  announcements: "ended_at id started_at text",
  audit_log:
    "account_id action actor_name after before created_at document_id id idempotency_key reason shipment_id staff_id",
  charges: "amount currency due_on item note paid_at shipment_id version",
  documents:
    "added_from added_note file_name file_size id media_type name rejected_at rejection_reason sha256 shipment_id storage_path storage_version uploaded uploaded_at user_id verified version",
  failed_emails: "account_id client_id failed_at id kind resolved_at sent_to",
  shipments:
    "arrived_on awb cargo changed_at client_name container_numbers created_at document_count due_on free_storage_ends_on id idempotency_key name retention_ends_on search_codes search_words staff_action_at stage status storage_location uploaded_count user_id version waiting_on waiting_since withdrawal_reason withdrawn_at",
  staff_members: "account_id created_at name removed_at role",
  tracking_events: "created_at id kind location note shipment_id stage status",
};

/** The table and column privileges of each role. A role has no privileges on tables that the list does not contain. */
const grants: Record<string, Record<string, string>> = {
  anon: {},
  authenticated: {
    ...Object.fromEntries(Object.keys(readableColumns).map((table) => [`public.${table}`, "SELECT"])),
    "public.shipments": "SELECT, INSERT (awb container_numbers idempotency_key name stage status user_id)",
  },
  service_role: {
    "public.announcements": "SELECT",
    "public.audit_log": "SELECT",
    "public.charges": "SELECT",
    "public.client_ids": "DELETE, INSERT, SELECT",
    "public.documents": "DELETE, INSERT, SELECT, UPDATE",
    "public.failed_emails": "SELECT",
    "public.shipments": "DELETE, INSERT, SELECT, UPDATE",
    "public.staff_members": "SELECT",
    "public.tracking_events": "DELETE, INSERT, SELECT, UPDATE",
    "private.rate_limit_hits": "DELETE, INSERT, SELECT, UPDATE",
  },
};

const tables = [
  ...["staff_members", "failed_emails", "audit_log", "shipments", "documents", "tracking_events", "charges"],
  ...["announcements", "client_ids", "email_outbox"],
];
const staffRows = [...Array(8).fill("all"), "-", "-"];
const clientRows = [...Array(3).fill("none"), ...Array(4).fill("own"), "all", "-", "-"];
const noRows = [...Array(8).fill("none"), "-", "-"];
const announcementsOnly = [...Array(7).fill("none"), "all", "-", "-"];
/**
 * For each role, the rows that the role can read in each of `tables`: all, own, none, or "-" if the role has no
 * privilege.
 */
const expectedRows: Record<AccessRole, string[]> = {
  "a visitor": Array(10).fill("-"),
  "a client": clientRows,
  "a client at AAL2": clientRows,
  "a client who has not entered the code": noRows,
  "an ended session": noRows,
  "a clerk who has not entered the code": noRows,
  "a lead who has not entered the code": noRows,
  "a clerk without a second factor": announcementsOnly,
  "a clerk whose second factor was removed": announcementsOnly,
  "a removed clerk": announcementsOnly,
  "a clerk after signing out": noRows,
  "a clerk": staffRows,
  "a lead": staffRows,
  "the service role": [...Array(9).fill("all"), "-"],
};

let people: Awaited<ReturnType<typeof newAccessRoles>>;
beforeAll(async () => {
  people = await newAccessRoles(testBackend);
  for (const owner of [people.client, people.protectedClient]) {
    const shipment = await newShipment(owner);
    await uploadDocument(shipment);
    const charge = { shipment_id: shipment, item: "duties", amount: 99.5, currency: "KES" };
    await callAsServiceRole("move_shipment", { shipment_id: shipment, despite_missing: true });
    await callAsServiceRole("set_charge", charge);
  }
  await callAsServiceRole("announce", { text: "Customs system down since 09:10" });
  await callAsServiceRole("record_failed_email", { kind: "client ID", sent_to: "nobody@client.example" });
});

test.each(Object.keys(grants))(
  "The role %s has exactly the table and column privileges that this test lists for the role.",
  async (role) => {
    const rows = await query<{ relation: string; privileges: string }>(
      `select relation, string_agg(privilege || columns, ', ' order by privilege desc, columns) as privileges
     from (
       select pg_class.oid::regclass::text as relation, privilege,
         case when has_table_privilege($1, pg_class.oid, privilege) then ''
           else ' (' || (
             select string_agg(attname, ' ' order by attname) from pg_attribute
             where attrelid = pg_class.oid and attnum > 0 and not attisdropped
               and privilege in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
               and has_column_privilege($1, pg_class.oid, attnum, privilege)
           ) || ')' end as columns
       from pg_class, unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) as privilege
       where relnamespace in ('public'::regnamespace, 'private'::regnamespace) and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
     ) as granted
     where columns is not null group by relation`,
      [role],
    );
    const toList = (privileges = "") => privileges.split(", ").sort();
    const expected = Object.entries(grants[role] ?? {}).map(([relation, privileges]) => [relation, toList(privileges)]);
    expect(Object.fromEntries(rows.map((row) => [toQualifiedName(row.relation), toList(row.privileges)]))).toEqual(
      Object.fromEntries(expected),
    );
  },
);

test("Signed-in users can read exactly the columns that this test lists for each table.", async () => {
  const rows = await query<{ relation: string; columns: string }>(
    `select relname as relation, string_agg(attname, ' ' order by attname) as columns
     from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
     where relnamespace in ('public'::regnamespace, 'private'::regnamespace) and relkind = 'r'
       and has_column_privilege('authenticated', pg_class.oid, attnum, 'SELECT')
     group by relname`,
  );
  expect(Object.fromEntries(rows.map(({ relation, columns }) => [relation, columns]))).toEqual(readableColumns);
});

test.each(accessRoles)("In each table, %s can read exactly the rows that this test lists.", async (role) => {
  const seen = [];
  for (const table of tables) {
    const { length: count } = await query(`select from public.${table}`);
    expect(count, table).toBeGreaterThan(0);
    const rest = toUntypedClient(people.clientsByRole[role]).from(table);
    const { data, error, count: visible } = await rest.select("*", { count: "exact" });
    if (error) expect([data, error.code], table).toEqual([null, "42501"]);
    else expect(data, table).toHaveLength(visible ?? 0);
    seen.push(error ? "-" : visible === count ? "all" : visible === 0 ? "none" : "own");
  }
  expect(seen).toEqual(expectedRows[role]);
});

const writers = [
  "a visitor",
  "a client",
  "a client who has not entered the code",
  "a clerk",
  "a lead",
  "the service role",
];
test.each(writers as AccessRole[])(
  "If %s tries to write to a table without the privilege, the rows of the table do not change.",
  async (role) => {
    const supabase = toUntypedClient(people.clientsByRole[role]);
    const serviceTables = ["shipments", "documents", "tracking_events", "client_ids"];
    for (const table of tables.filter((name) => role !== "the service role" || !serviceTables.includes(name))) {
      const before = await query(`select * from public.${table} order by 1, 2`);
      const [column = ""] = Object.keys(before[0] ?? {});
      const emptyColumn = { [column]: null };
      const row: DatabaseRow = table === "shipments" ? { name: "Gold", user_id: people.newcomer.id } : emptyColumn;
      const attempts = await Promise.all([
        supabase.from(table).insert(row),
        supabase.from(table).update(emptyColumn).not(column, "is", null),
        supabase.from(table).delete().not(column, "is", null),
      ]);
      expect(
        attempts.map(({ error }) => error?.code),
        table,
      ).toEqual(["42501", "42501", "42501"]);
      expect(await query(`select * from public.${table} order by 1, 2`)).toEqual(before);
    }
  },
);

test("For a team member, the portal lists no shipments and rejects new shipments and files.", async () => {
  const [document] = await query<{ id: string; shipment_id: string }>(
    "select id, shipment_id from public.documents where uploaded limit 1",
  );
  for (const role of ["a clerk without a second factor", "a clerk", "a lead", "a removed clerk"] as const) {
    const supabase = toUntypedClient(people.clientsByRole[role]);
    const page = await supabase.rpc("portal_page", { opened_id: document?.shipment_id }, { get: true });
    expect(page.data, role).toMatchObject({ shipments: [], shipment: null });
    const upload = await supabase.rpc("require_upload_allowed", { document_id: document?.id });
    expect(upload.error?.code, role).toBe("PT404");
  }
  for (const { supabase, id } of [people.newcomer, people.clerk, people.lead]) {
    for (const user_id of [id, people.client.id]) {
      expect((await supabase.from("shipments").insert({ name: "Tea", user_id })).error?.code).toBe("42501");
    }
  }
});

test("Row-level security is enabled on every table of the schemas public, private and storage.", async () => {
  const rows = await query<{ name: string; secured: boolean }>(
    `select relname as name, relrowsecurity as secured
     from pg_class where relnamespace in ('public'::regnamespace, 'private'::regnamespace, 'storage'::regnamespace)
       and relkind in ('r', 'p')`,
  );
  expect(rows.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      ...tables,
      "rate_limit_hits",
      "share_links",
      "stage_visits",
      "password_links",
      "objects",
      "buckets",
    ]),
  );
  expect(rows.filter(({ secured }) => !secured)).toEqual([]);
});

test.each(["anon", "authenticated"])(
  "The role %s has no privileges in the schemas auth and supabase_migrations, and cannot create objects or bypass policies.",
  async (role) => {
    const reachable = await query(
      `select nspname, relname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where nspname in ('auth', 'supabase_migrations') and relkind in ('r', 'p', 'v')
         and (has_table_privilege($1, pg_class.oid, 'select, insert, update, delete')
           or has_any_column_privilege($1, pg_class.oid, 'select, insert, update'))`,
      [role],
    );
    expect(reachable).toEqual([]);
    const [row] = await query(
      `select rolsuper or rolbypassrls or rolcreaterole or rolcreatedb as privileged,
         exists (select 1 from pg_auth_members where member = pg_roles.oid) as member,
         (select count(*)::integer from pg_namespace where has_schema_privilege($1, oid, 'create')) as schemas,
         has_schema_privilege('anon', 'private', 'usage') as is_private_open
       from pg_roles where rolname = $1`,
      [role],
    );
    expect(row).toEqual({ privileged: false, member: false, schemas: 0, is_private_open: false });
  },
);

test("Every column in a policy, and every user_id and shipment_id column, is the first column of an index.", async () => {
  const columns = await query<{ column: string; indexed: boolean }>(
    `select distinct attrelid::regclass || '.' || attname as column,
       exists (select 1 from pg_index where indrelid = attrelid and indkey[0] = attnum) as indexed
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = 'public'::regnamespace and relkind = 'r' and (attname in ('user_id', 'shipment_id') or exists (
       select from pg_policy join pg_depend on classid = 'pg_policy'::regclass and objid = pg_policy.oid
       where refclassid = 'pg_class'::regclass and refobjid = attrelid and refobjsubid = attnum and polqual is not null
     ))`,
  );
  expect(columns.length).toBeGreaterThanOrEqual(7);
  expect(columns.filter(({ indexed }) => !indexed)).toEqual([]);
});

test("Every policy applies to signed-in users and reads the user's identity once per query. No policy applies to the file storage.", async () => {
  const policies = await query<Record<"schemaname" | "policyname" | "permissive" | "roles" | "rule", string>>(
    `select schemaname, policyname, permissive, roles::text, concat(qual, ' ', with_check) as rule
     from pg_policies where schemaname in ('public', 'storage')`,
  );
  expect(policies.length).toBeGreaterThan(0);
  // Without a policy, no user can read or write stored objects and buckets.
  expect(policies.filter((policy) => policy.schemaname === "storage" && policy.permissive === "PERMISSIVE")).toEqual(
    [],
  );
  for (const { policyname, roles, rule } of policies) {
    expect(roles, policyname).toBe("{authenticated}");
    const perRow = rule.replaceAll(/\( ?SELECT (auth|private)\.\w+\(\)/g, "");
    expect(perRow, policyname).not.toMatch(/auth\.(uid|jwt|role)\(\)|private\.\w+\(\)/);
  }
});

/** Returns the table name `relation` with its schema. Postgres omits a schema of the search path from a regclass. */
function toQualifiedName(relation: string): string {
  return relation.includes(".") ? relation : `public.${relation}`;
}

async function callAsServiceRole(name: string, args: object): Promise<void> {
  const { error } = await toUntypedClient(testBackend.serviceRole).rpc(name, args);
  if (error) throw error;
}
