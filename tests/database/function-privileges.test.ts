import { beforeAll, expect, test } from "vitest";
import { type AccessRole, accessRoles, newAccessRoles, outsiders } from "../support/access-roles.ts";
import { setUpTestBackend } from "../support/database-suite.ts";
import { readDeskState } from "../support/staff-members.ts";
import { toUntypedClient } from "../support/test-backend.ts";

const { testBackend, query } = setUpTestBackend();

/** All functions of the schema public, in groups. All functions of one group may be called by the same roles. */
const functions = {
  "staff action": splitNames(`
    add_file announce close_account correct_stage remove_added_file remove_announcement issue_client_ids move_shipment
    move_shipments open_document reject_document reject_erasure remove_arrival remove_second_factors reopen_account
    request_password_link change_shipment_handler dismiss_failed_email find_repeated_numbers open_shipments save_arrival save_client_phone
    save_shipment_numbers send_client_id send_note set_charge set_charge_paid
    start_erasure unverify_document verify_document withdraw_client_id withdraw_shipment restore_shipment`),
  "lead action": splitNames("change_staff_role invite_staff_member remove_staff_member"),
  "desk page": splitNames(`
    desk_clients desk_document desk_invitations desk_log desk_move_result desk_report desk_shipments desk_shipments_export
    desk_today`),
  "lead page": splitNames("desk_team"),
  "client action": splitNames("change_shipment create_share_link remove_file revoke_share_link withdraw_own_shipment"),
  "client request": splitNames("set_erasure_request change_phone"),
  "own page": splitNames("data_export portal_account"),
  "page of the viewer's rows": splitNames(
    "get_viewer portal_file portal_page portal_shipments_export require_upload_allowed",
  ),
  "server task": splitNames(`
    admit_sign_up beyond_retention cancel_email_change claim_email claim_shipment_emails clear_email_hashes
    consume_rate_limit count_upload_chunk count_expired_audit_entries delete_expired_audit_entries
    delete_expired_links delete_orphaned_auth_log email_backlog email_change extend_shipment_retention
    find_account_id finish_shipment_emails issue_password_link list_staff_members list_upload_chunks
    mark_password_proven password_link read_report record_audit_entry record_failed_email record_upload
    redeem_client_id
    redeem_email_change redeem_password_link refund_rate_limits release_email restore_email_change
    restore_password_link revoke_account_links set_shipment_emails_enabled shared_shipment start_email_change`),
};
type FunctionKind = keyof typeof functions;
const kinds = Object.keys(functions) as FunctionKind[];

/** The functions of the schema private that each role may execute. The API does not expose this schema. */
const privateFunctions = {
  authenticated: splitNames(`
    charges_json code_pattern documents_json file_adder tracking_events_json client_work has_valid_session id_prefix_range
    is_client is_staff like_pattern list_client_shipments list_share_links shipment_conditions shipment_json
    viewer word_patterns`),
  service_role: splitNames("document_slug generate_client_id"),
  "authenticated and service_role": splitNames(`
    are_container_numbers can_arrive check_upload_allowed is_container_number is_one_line is_plain_text is_visible
    search_form shipment_search_codes shipment_search_words stage_name`),
  supabase_auth_admin: splitNames("before_user_created is_one_line is_plain_text"),
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

/** Short names of the outcomes of a call, by error code and message. */
const outcomesByRejection: Record<string, string> = {
  "42501 denied": "-",
  "PT403 Only team members can take this action.": "staff only",
  "PT403 Only leads can take this action.": "leads only",
  "PT403 Log in again to continue.": "log in again",
};
const [runs, staff, leads, again, viewer] = ["runs", "staff only", "leads only", "log in again", "viewer only"];

const sessionWithoutRights = [staff, staff, viewer, viewer, again, again, runs, runs, "-"];
const clientSession = [staff, staff, viewer, viewer, runs, runs, runs, runs, "-"];
const staffWithoutFactor = [staff, staff, viewer, viewer, runs, again, runs, runs, "-"];
/** The outcomes of calls by each role: one outcome for each group of `functions`, in the order of the groups. */
const expectedOutcomes: Record<AccessRole, (string | undefined)[]> = {
  "a visitor": Array(9).fill("-"),
  "a client": clientSession,
  "a client at AAL2": clientSession,
  "a client who has not entered the code": sessionWithoutRights,
  "an ended session": sessionWithoutRights,
  "a clerk who has not entered the code": sessionWithoutRights,
  "a lead who has not entered the code": sessionWithoutRights,
  "a clerk without a second factor": staffWithoutFactor,
  "a clerk whose second factor was removed": staffWithoutFactor,
  "a removed clerk": staffWithoutFactor,
  "a clerk after signing out": sessionWithoutRights,
  "a clerk": [runs, leads, runs, viewer, runs, again, runs, runs, "-"],
  "a lead": [runs, runs, runs, runs, runs, again, runs, runs, "-"],
  "the service role": [runs, runs, "-", "-", "-", "-", "-", "-", runs],
};

let people: Awaited<ReturnType<typeof newAccessRoles>>;
beforeAll(async () => {
  people = await newAccessRoles(testBackend);
});

/**
 * Returns the names of our functions that `role` can execute and that meet the SQL condition `condition`. The name of
 * an overloaded function is listed twice.
 */
async function listExecutable(role: string, condition = "true"): Promise<string[]> {
  const rows = await query<{ name: string }>(
    `select proname as name from pg_proc
     where pronamespace in ('public'::regnamespace, 'private'::regnamespace)
       and has_function_privilege($1, oid, 'execute') and ${condition} order by proname collate "C"`,
    [role],
  );
  return rows.map(({ name }) => name);
}

test.each(Object.keys(expectedGrants))(
  "The role %s can execute exactly the functions that this test lists for the role.",
  async (role) => {
    expect(await listExecutable(role)).toEqual(expectedGrants[role]?.sort());
  },
);

test.each(accessRoles)(
  "Each function called by %s has the listed outcome, and the functions of desk pages return the viewer.",
  async (role) => {
    const before = await readDeskState(testBackend);
    const supabase = toUntypedClient(people.clientsByRole[role]);
    const expectedViewer = (await supabase.rpc("get_viewer", {}, { get: true })).data?.viewer;
    const [staffRole] = role === "a clerk after signing out" ? [] : (/(?<=^a )(clerk|lead)\b/.exec(role) ?? []);
    expect(expectedViewer?.staff?.role).toBe(staffRole);
    const parameters = await listParameters();
    const outcomes: Record<string, string[]> = {};
    for (const kind of kinds) {
      const calls = functions[kind].map(async (name) => {
        const { data, error } = await supabase.rpc(name, parameters.get(name));
        const rejection = error?.code === "42501" ? "42501 denied" : `${error?.code} ${error?.message}`;
        const isDeskPage = /^(desk|lead) page$/.test(kind);
        if (isDeskPage && !error) expect(data.viewer, name).toEqual(expectedViewer);
        const isViewerOnly = isDeskPage && Object.keys(data ?? {}).join() === "viewer";
        return outcomesByRejection[rejection] ?? (isViewerOnly ? "viewer only" : "runs");
      });
      outcomes[kind] = [...new Set(await Promise.all(calls))];
    }
    expect(outcomes).toEqual(Object.fromEntries(kinds.map((kind, index) => [kind, [expectedOutcomes[role][index]]])));
    if (role === "a visitor" || outsiders.some((outsider) => outsider === role)) {
      expect(await readDeskState(testBackend)).toEqual(before);
    }
  },
);

test.each(["remove_second_factors", "request_password_link"])(
  "Only a lead and the service role can apply %s to a team member's account.",
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

test("Every function of the schemas public and private has an empty search path.", async () => {
  const rows = await query<{ name: string; config: string[] | null }>(
    `select oid::regprocedure::text as name, proconfig as config
     from pg_proc where pronamespace in ('public'::regnamespace, 'private'::regnamespace)`,
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ config }) => !config?.includes('search_path=""'))).toEqual([]);
});

test("Signed-in users can execute exactly the security definer functions that this test lists.", async () => {
  const checkedKinds = kinds.filter((kind) => kind !== "server task" && kind !== "page of the viewer's rows");
  const privateNames = ["client_work", "has_valid_session", "is_client", "is_staff", "list_share_links", "viewer"];
  expect(await listExecutable("authenticated", "prosecdef")).toEqual(
    [...checkedKinds.flatMap((kind) => functions[kind]), ...privateNames].sort(),
  );
});

/** Returns the arguments for a call of each function of the schema public, by function name. All values are null. */
async function listParameters(): Promise<Map<string, Record<string, null>>> {
  const rows = await query<{ name: string; names: string[] | null }>(
    `select proname as name, proargnames[1:pronargs] as names
     from pg_proc where pronamespace = 'public'::regnamespace`,
  );
  return new Map(rows.map(({ name, names }) => [name, Object.fromEntries((names ?? []).map((key) => [key, null]))]));
}

function splitNames(names: string): string[] {
  return names.trim().split(/\s+/);
}
