import { beforeAll, expect, test } from "vitest";
import { type AccessRole, accessRoles, newAccessRoles, outsiders } from "../support/access-roles.ts";
import { setUpTestBackend } from "../support/database-suite.ts";
import { readDeskState } from "../support/staff-members.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const { testBackend, query } = setUpTestBackend();

/** All functions of the schema public. The functions of a group have the same callers and the same first check. */
const functions = {
  "staff action": [
    "announce(text,uuid,text)",
    "close_account(uuid,text,text)",
    "correct_stage(uuid,integer,text,boolean,integer,uuid,text)",
    "end_announcement(text)",
    "issue_client_ids(integer,text,text,uuid,text)",
    "move_shipment(uuid,text,text,boolean,boolean,integer,uuid,text)",
    "move_shipments(jsonb,text,uuid,text)",
    "open_document(uuid,uuid,text)",
    "reject_document(uuid,text,integer,uuid,text)",
    "reject_erasure(uuid,text,text)",
    "remove_second_factors(uuid,text,text)",
    "reopen_account(uuid,text,text)",
    "request_password_link(uuid,text)",
    "resolve_failed_email(uuid,text)",
    "save_arrival(uuid,text,date,integer,date,integer,uuid,text)",
    "save_shipment_numbers(uuid,text,text[],text,integer,uuid,text)",
    "send_client_id(text,uuid,text)",
    "send_note(uuid,text,uuid,text)",
    "set_charge(uuid,text,numeric,text,date,text,integer,uuid,text)",
    "set_charge_paid(uuid,text,boolean,text,integer,uuid,text)",
    "start_erasure(uuid,text,text)",
    "unverify_document(uuid,text,integer,uuid,text)",
    "verify_document(uuid,text,text,integer,uuid,text)",
    "withdraw_client_id(text,text,text)",
  ],
  "lead action": [
    "change_staff_role(uuid,text,text)",
    "invite_staff_member(text,text,text,uuid,text)",
    "remove_staff_member(uuid,text,text)",
  ],
  "desk page": [
    "desk_clients(text,integer,uuid)",
    "desk_invitations(integer)",
    "desk_log(text,text,text,uuid,date,integer,timestamp with time zone,uuid)",
    "desk_move_result(uuid[])",
    "desk_shipments(text,integer,text,boolean,integer,uuid)",
    "desk_shipments_export(text,integer,text,boolean,timestamp with time zone,uuid)",
    "desk_today()",
  ],
  "lead page": ["desk_team()"],
  "client action": [
    "change_shipment(uuid,text,text,text[],integer)",
    "create_share_link(uuid,uuid,text)",
    "remove_file(uuid,integer)",
    "revoke_share_link(uuid)",
  ],
  "client request": ["set_erasure_request(boolean)"],
  "own page": ["data_export(timestamp with time zone,uuid)", "portal_account()"],
  "page of the viewer's rows": [
    "get_viewer()",
    "portal_file(uuid,uuid)",
    "portal_page(integer,uuid,text,integer,text)",
    "portal_shipments_export(text,integer,text,timestamp with time zone,uuid)",
    "require_upload_allowed(uuid)",
  ],
  "server task": [
    "admit_sign_up(text,text)",
    "beyond_retention()",
    "cancel_email_change(uuid)",
    "claim_email(uuid,text)",
    "claim_shipment_emails(integer)",
    "clear_email_hashes(text)",
    "consume_rate_limit(jsonb,uuid[])",
    "count_upload_chunk(uuid)",
    "count_expired_audit_entries()",
    "delete_expired_audit_entries()",
    "delete_expired_links()",
    "delete_orphaned_auth_log()",
    "email_backlog()",
    "email_change(text)",
    "extend_shipment_retention(uuid,date,text)",
    "find_account_id(text)",
    "finish_shipment_emails(uuid[],boolean)",
    "issue_password_link(uuid,integer)",
    "list_staff_members()",
    "list_upload_chunks(uuid,timestamp with time zone)",
    "mark_password_proven(text,text)",
    "password_link(text)",
    "record_audit_entry(text,text,uuid,uuid,uuid,jsonb,jsonb,text)",
    "record_failed_email(text,text,uuid,text)",
    "redeem_client_id(text,text)",
    "redeem_email_change(text)",
    "redeem_password_link(text)",
    "refund_rate_limits(uuid[])",
    "release_email(uuid,text)",
    "restore_email_change(text)",
    "restore_password_link(text)",
    "revoke_account_links(uuid)",
    "set_shipment_emails_enabled(uuid,boolean)",
    "shared_shipment(text)",
    "start_email_change(uuid,text)",
  ],
};
type FunctionKind = keyof typeof functions;
const kinds = Object.keys(functions) as FunctionKind[];

/** The functions of the schema private that each role may execute. No API request reaches this schema. */
const privateFunctions = {
  authenticated: [
    "private.charges_json(uuid)",
    "private.code_pattern(text)",
    "private.documents_json(uuid)",
    "private.tracking_events_json(uuid,integer)",
    "private.client_work()",
    "private.has_valid_session()",
    "private.id_prefix_range(text)",
    "private.is_client()",
    "private.is_staff()",
    "private.like_pattern(text)",
    "private.list_client_shipments(text,integer,text,integer,integer,timestamp with time zone,uuid)",
    "private.list_share_links(uuid)",
    "private.shipment_conditions(text,boolean,integer,text,text,timestamp with time zone,uuid)",
    "private.shipment_json(shipments)",
    "private.viewer()",
    "private.word_patterns(text)",
  ],
  service_role: ["private.document_slug(text)", "private.generate_client_id()"],
  "authenticated and service_role": [
    "private.are_container_numbers(text[])",
    "private.check_upload_allowed(boolean,smallint)",
    "private.is_container_number(text)",
    "private.is_one_line(text)",
    "private.is_plain_text(text)",
    "private.is_visible(text)",
    "private.search_form(text)",
    "private.shipment_search_codes(text,text[])",
    "private.shipment_search_words(text,text,text[])",
    "private.stage_name(smallint)",
  ],
  supabase_auth_admin: [
    "private.before_user_created(jsonb)",
    "private.is_one_line(text)",
    "private.is_plain_text(text)",
  ],
};

const sharedKinds: FunctionKind[] = ["staff action", "lead action"];
const expectedGrants: Record<string, string[]> = {
  anon: [],
  authenticated: [
    ...kinds.filter((kind) => kind !== "server task").flatMap((kind) => functions[kind]),
    ...privateFunctions.authenticated,
    ...privateFunctions["authenticated and service_role"],
  ],
  service_role: [
    ...[...sharedKinds, "server task" as const].flatMap((kind) => functions[kind]),
    ...privateFunctions.service_role,
    ...privateFunctions["authenticated and service_role"],
  ],
  supabase_auth_admin: privateFunctions.supabase_auth_admin,
};

/** The name of the outcome for each error code and message. */
const outcomesByRejection: Record<string, string> = {
  "42501 denied": "-",
  "PT403 Only team members can take this action.": "staff only",
  "PT403 Only leads can take this action.": "leads only",
  "PT403 Log in again to continue.": "log in again",
};
const [runs, staff, leads, again, viewer] = ["runs", "staff only", "leads only", "log in again", "viewer only"];

/** The outcome of a call by each role, with one column for each group of `functions`, in the same order. */
const expectedOutcomes: Record<AccessRole, (string | undefined)[]> = {
  "a visitor": ["-", "-", "-", "-", "-", "-", "-", "-", "-"],
  "a client": [staff, staff, viewer, viewer, runs, runs, runs, runs, "-"],
  "a client at AAL2": [staff, staff, viewer, viewer, runs, runs, runs, runs, "-"],
  "a client who has not entered the code": [staff, staff, viewer, viewer, again, again, runs, runs, "-"],
  "an ended session": [staff, staff, viewer, viewer, again, again, runs, runs, "-"],
  "a clerk who has not entered the code": [staff, staff, viewer, viewer, again, again, runs, runs, "-"],
  "a lead who has not entered the code": [staff, staff, viewer, viewer, again, again, runs, runs, "-"],
  "a clerk without a second factor": [staff, staff, viewer, viewer, runs, again, runs, runs, "-"],
  "a clerk whose second factor was removed": [staff, staff, viewer, viewer, runs, again, runs, runs, "-"],
  "a removed clerk": [staff, staff, viewer, viewer, runs, again, runs, runs, "-"],
  "a clerk after signing out": [staff, staff, viewer, viewer, again, again, runs, runs, "-"],
  "a clerk": [runs, leads, runs, viewer, runs, again, runs, runs, "-"],
  "a lead": [runs, runs, runs, runs, runs, again, runs, runs, "-"],
  "the service role": [runs, runs, "-", "-", "-", "-", "-", "-", runs],
};

let people: Awaited<ReturnType<typeof newAccessRoles>>;
beforeAll(async () => {
  people = await newAccessRoles(testBackend);
});

test.each(Object.keys(expectedGrants))("The role %s can execute exactly the functions listed for it.", async (role) => {
  const rows = await query<{ name: string }>(
    `select oid::regprocedure::text as name from pg_proc
     where pronamespace in ('public'::regnamespace, 'private'::regnamespace) and has_function_privilege($1, oid, 'execute')`,
    [role],
  );
  expect(rows.map(({ name }) => name).sort()).toEqual(expectedGrants[role]?.sort());
});

test.each(accessRoles)("A call of each function by %s has the outcome listed for the role.", async (role) => {
  const before = await readDeskState(testBackend);
  const supabase = toUntypedClient(people.clientsByRole[role]);
  const parameters = await listParameters();
  const outcomes: Record<string, string[]> = {};
  for (const kind of kinds) {
    const outcomesOfKind = new Set<string>();
    for (const signature of functions[kind]) {
      const { data, error } = await supabase.rpc(signature.split("(")[0] ?? "", parameters.get(signature));
      const rejection = error?.code === "42501" ? "42501 denied" : `${error?.code} ${error?.message}`;
      const isViewerOnly = /^(desk|lead) page$/.test(kind) && Object.keys(data ?? {}).join() === "viewer";
      outcomesOfKind.add(outcomesByRejection[rejection] ?? (isViewerOnly ? "viewer only" : "runs"));
    }
    outcomes[kind] = [...outcomesOfKind];
  }
  expect(outcomes).toEqual(Object.fromEntries(kinds.map((kind, index) => [kind, [expectedOutcomes[role][index]]])));
  if (role === "a visitor" || outsiders.some((outsider) => outsider === role)) {
    expect(await readDeskState(testBackend)).toEqual(before);
  }
});

test.each(accessRoles.slice(1, -1))(
  "Every desk page names the viewer and their staff role when %s calls it.",
  async (role) => {
    const supabase = toUntypedClient(people.clientsByRole[role]);
    const { viewer: expected } = (await supabase.rpc("get_viewer", {}, { get: true })).data;
    const [staffRole = null] = role === "a clerk after signing out" ? [] : (/(?<=^a )(clerk|lead)\b/.exec(role) ?? []);
    expect(expected?.staff?.role ?? null).toBe(staffRole);
    const parameters = await listParameters();
    for (const signature of [...functions["desk page"], ...functions["lead page"]]) {
      const { data } = await supabase.rpc(signature.split("(")[0] ?? "", parameters.get(signature));
      expect(data.viewer, signature).toEqual(expected);
    }
  },
);

test.each(["remove_second_factors", "request_password_link"])(
  "Only a lead and the service role can call %s for a team member's account.",
  async (name) => {
    const args = { account_id: people.newcomer.id };
    const { error } = await toUntypedClient(people.clientsByRole["a clerk"]).rpc(name, args);
    expect([error?.code, error?.message]).toEqual(["PT403", "Only leads can take this action."]);
    for (const role of ["a lead", "the service role"] as const) {
      const { error: failure } = await toUntypedClient(people.clientsByRole[role]).rpc(name, args);
      expect(["PT403", "42501"], role).not.toContain(failure?.code);
    }
  },
);

test("Every function of public and private has an empty search path.", async () => {
  const rows = await query<{ name: string; config: string[] | null }>(
    `select oid::regprocedure::text as name, proconfig as config
     from pg_proc where pronamespace in ('public'::regnamespace, 'private'::regnamespace)`,
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ config }) => !config?.includes('search_path=""'))).toEqual([]);
});

test("Signed-in users can execute exactly the listed functions that run with their owner's rights.", async () => {
  const rows = await query<{ name: string }>(
    `select oid::regprocedure::text as name from pg_proc
     where pronamespace in ('public'::regnamespace, 'private'::regnamespace) and prosecdef
       and has_function_privilege('authenticated', oid, 'execute')`,
  );
  const checkedKinds = kinds.filter((kind) => kind !== "server task" && kind !== "page of the viewer's rows");
  const privateNames = ["client_work()", "has_valid_session()", "is_client()", "is_staff()", "list_share_links(uuid)"];
  expect(rows.map(({ name }) => name).sort()).toEqual(
    [
      ...checkedKinds.flatMap((kind) => functions[kind]),
      ...[...privateNames, "viewer()"].map((name) => `private.${name}`),
    ].sort(),
  );
});

/** Returns arguments for each function of the schema public, by signature. Every argument is null. */
async function listParameters(): Promise<Map<string, Record<string, null>>> {
  const rows = await query<{ signature: string; names: string[] | null }>(
    `select oid::regprocedure::text as signature, proargnames[1:pronargs] as names
     from pg_proc where pronamespace = 'public'::regnamespace`,
  );
  return new Map(
    rows.map(({ signature, names }) => [signature, Object.fromEntries((names ?? []).map((name) => [name, null]))]),
  );
}
