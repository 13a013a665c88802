import { z } from "zod";
import { toUserError, type UserError } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import type { Database } from "../lib/supabase/database.ts";
import { dataOrThrow, dataOrUserError, getResultError, parseOrUserError } from "../lib/supabase/result.server.ts";
import { type EmailResult, sendOnce, trySendEmail } from "./email-delivery.server.ts";
import { type EmailSender, passwordLinkEmail, staffInvitationEmail } from "./emails.ts";
import { isUuid } from "./shipment.server.ts";
import type { OpenItems } from "./shipment.ts";
import { OpenItemsRecord } from "./shipment-fields.server.ts";

type DatabaseFunctions = Database["public"]["Functions"];

/** `expected_version` is the record's version in the form. `actor_name` is the person who runs a staff command. */
export type StaffActionOptions = { expected_version?: number; idempotency_key?: string; actor_name?: string };

export type StaffActionCall = {
  supabase: AppSupabaseClient;
  serviceRole: () => AppSupabaseClient;
  emailSender: () => EmailSender;
  options: StaffActionOptions;
};

export type StaffActionResult<Result> = { result: Result };

/** Calls the database function of a staff action, which checks, performs and records the action in one transaction. */
export async function runStaffAction<Name extends keyof DatabaseFunctions>(
  supabase: AppSupabaseClient,
  name: Name,
  args: { [Key in keyof DatabaseFunctions[Name]["Args"]]?: DatabaseFunctions[Name]["Args"][Key] | null },
): Promise<StaffActionResult<DatabaseFunctions[Name]["Returns"]> | UserError> {
  // Omits null arguments, so that the database function uses its defaults.
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined && value !== null));
  const result = await supabase.rpc(name, given as never);
  return getResultError(result) ?? { result: result.data as DatabaseFunctions[Name]["Returns"] };
}

export function resultOrThrow<Result>(outcome: StaffActionResult<Result> | UserError): Result {
  if ("reason" in outcome) throw new Error(outcome.reason);
  return outcome.result;
}

/** "open" means that the team member must confirm the move, because documents are missing or an amount is due. */
export const BULK_MOVE_OUTCOMES = ["moved", "open", "closed", "withdrawn", "changed", "unknown"] as const;
export type BulkMoveOutcome = (typeof BULK_MOVE_OUTCOMES)[number];

const BulkMoveResult = z.object({ id: z.string(), failure: z.enum(BULK_MOVE_OUTCOMES).nullable() });
export type BulkMoveResult = z.infer<typeof BulkMoveResult>;

/** Moves up to 50 shipments to their next stage. A shipment that cannot move does not stop the others. */
export async function moveShipments(
  supabase: AppSupabaseClient,
  moves: { id: string; expected_version?: number; confirmed?: OpenItems }[],
  location: string | undefined,
  staffOptions: Omit<StaffActionOptions, "expected_version">,
): Promise<StaffActionResult<BulkMoveResult[]> | UserError> {
  const action = await runStaffAction(supabase, "move_shipments", { moves, location, ...staffOptions });
  if ("reason" in action) return action;
  const moved = parseOrUserError(z.array(BulkMoveResult), action.result);
  return "reason" in moved ? moved : { result: moved };
}

export function readBulkMoveOutcomes({ searchParams }: URL): Record<string, BulkMoveOutcome> {
  const of = (outcome: BulkMoveOutcome) => (searchParams.get(outcome) ?? "").split(",").filter(isUuid);
  return Object.fromEntries(
    BULK_MOVE_OUTCOMES.flatMap((outcome) => of(outcome).map((id) => [id, outcome])).slice(0, 50),
  );
}

export const BulkMovePageData = z.object({
  shipments: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      client_name: z.string(),
      stage: z.number(),
      status: z.string(),
      version: z.number(),
      open: OpenItemsRecord.nullable(),
    }),
  ),
});

const InvitationResult = z.union([z.object({ account_id: z.string() }), z.object({ invite_id: z.string() })]);

/** Emails a new team member an invitation. A member who has never logged in or was removed can be invited again. */
export async function inviteStaffMember(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  sender: EmailSender,
  member: { name: string; email: string; role: string },
  staffOptions: Omit<StaffActionOptions, "expected_version"> = {},
): Promise<EmailResult> {
  const invite = async () => {
    const action = await runStaffAction(supabase, "invite_staff_member", { ...member, ...staffOptions });
    return "reason" in action ? action : parseOrUserError(InvitationResult, action.result);
  };
  let invited = await invite();
  if ("invite_id" in invited) {
    const { data, error } = await serviceRole.auth.admin.createUser({
      email: member.email,
      email_confirm: true,
      user_metadata: { full_name: member.name, staff_invite_id: invited.invite_id },
    });
    if (error) {
      // A parallel submission of the same form may have created the account.
      invited = await invite();
      if ("invite_id" in invited) return toUserError(error);
    } else invited = { account_id: data.user.id };
  }
  if ("reason" in invited) return invited;
  const { name, email } = member;
  const to = { ...invited, name, email, kind: "team invite", hours: 7 * 24 } as const;
  return issuePasswordLink(serviceRole, sender, to, staffInvitationEmail, staffOptions.idempotency_key);
}

export async function sendPasswordLink(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  sender: EmailSender,
  account: string,
  staffOptions: Omit<StaffActionOptions, "expected_version"> = {},
): Promise<(StaffActionResult<string> & { sent: boolean }) | UserError> {
  const action = await runStaffAction(supabase, "request_password_link", { account_id: account, ...staffOptions });
  if ("reason" in action) return action;
  const to = { account_id: account, email: action.result, kind: "new password", hours: 1 } as const;
  const email = await issuePasswordLink(serviceRole, sender, to, passwordLinkEmail, staffOptions.idempotency_key);
  return "reason" in email ? email : { ...email, result: to.email };
}

async function issuePasswordLink(
  serviceRole: AppSupabaseClient,
  sender: EmailSender,
  to: { account_id: string; name?: string; email: string; kind: "team invite" | "new password"; hours: number },
  createEmail: typeof passwordLinkEmail,
  request?: string,
): Promise<EmailResult> {
  const { hours: valid_hours, ...recipient } = to;
  return sendOnce(serviceRole, request, recipient, async () => {
    const { account_id } = recipient;
    const token = dataOrUserError(await serviceRole.rpc("issue_password_link", { account_id, valid_hours }));
    if (typeof token !== "string") return token;
    return trySendEmail(serviceRole, sender, recipient, (sender, name) => createEmail(sender, name, token));
  });
}

export async function listStaffMembers(serviceRole: AppSupabaseClient) {
  return dataOrThrow(await serviceRole.rpc("list_staff_members"));
}

export async function findAccountId(serviceRole: AppSupabaseClient, email: string): Promise<string> {
  const account = dataOrThrow(await serviceRole.rpc("find_account_id", { email }));
  if (!account) throw new Error(`There is no account with the email address ${email}.`);
  return account;
}

/** Returns the current team members, ordered by name. The database lets only team members read them. */
export async function listCurrentStaff(supabase: AppSupabaseClient) {
  const members = supabase.from("staff_members").select("account_id, name").is("removed_at", null);
  return dataOrThrow(await members.order("name").order("account_id").retry(false));
}
