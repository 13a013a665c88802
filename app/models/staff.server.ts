import { z } from "zod";
import { toUserError, type UserError, userErrorFromThrown } from "../lib/http/user-error.server.ts";
import type { AppSupabaseClient } from "../lib/supabase/client.server.ts";
import type { Database } from "../lib/supabase/database.ts";
import { type EmailResult, sendOnce, trySendEmail } from "./email-delivery.server.ts";
import { type EmailContent, type EmailSender, passwordLinkEmail, staffInvitationEmail } from "./emails.ts";
import { isUuid } from "./shipment.server.ts";

type DatabaseFunctions = Database["public"]["Functions"];

/** `expected_version` is the record's version when the form was rendered. `actor_name` names who runs a command. */
export type StaffActionOptions = { expected_version?: number; idempotency_key?: string; actor_name?: string };

export type StaffActionResult<Result> = { result: Result };

/** Calls the database function of a staff action, which checks, performs and records the action in one transaction. */
export async function runStaffAction<Name extends keyof DatabaseFunctions>(
  supabase: AppSupabaseClient,
  name: Name,
  args: { [Key in keyof DatabaseFunctions[Name]["Args"]]?: DatabaseFunctions[Name]["Args"][Key] | null },
): Promise<StaffActionResult<DatabaseFunctions[Name]["Returns"]> | UserError> {
  // The default of the function applies to an omitted argument.
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined && value !== null));
  const { data, error, status } = await supabase.rpc(name, given as never);
  return error ? toUserError({ ...error, status }) : { result: data as DatabaseFunctions[Name]["Returns"] };
}

/** Returns the result of an action. Throws an error with the reason of a UserError. */
export function resultOrThrow<Result>(outcome: StaffActionResult<Result> | UserError): Result {
  if ("reason" in outcome) throw new Error(outcome.reason);
  return outcome.result;
}

export const BULK_MOVE_OUTCOMES = ["moved", "missing", "closed", "changed", "unknown"] as const;
export type BulkMoveOutcome = (typeof BULK_MOVE_OUTCOMES)[number];

const BulkMoveResult = z.object({ id: z.string(), failure: z.enum(BULK_MOVE_OUTCOMES).nullable() });
export type BulkMoveResult = z.infer<typeof BulkMoveResult>;

/** Moves up to 50 shipments to their next stage. A shipment that cannot move does not stop the others. */
export async function moveShipments(
  supabase: AppSupabaseClient,
  moves: { id: string; expected_version?: number }[],
  location: string | undefined,
  signed: Omit<StaffActionOptions, "expected_version">,
): Promise<StaffActionResult<BulkMoveResult[]> | UserError> {
  const moved = await runStaffAction(supabase, "move_shipments", { moves, location, ...signed });
  if ("reason" in moved) return moved;
  const all = z.array(BulkMoveResult).safeParse(moved.result);
  return all.success ? { result: all.data } : userErrorFromThrown(all.error);
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
      missing: z.array(z.string()),
    }),
  ),
});

const invitationHours = 7 * 24;
const passwordLinkHours = 1;

const InvitationResult = z.union([z.object({ account_id: z.string() }), z.object({ invite_id: z.string() })]);

/** Invites a team member by email. An invitation can be repeated until the first login, and after a removal. */
export async function inviteStaffMember(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  head: EmailSender,
  who: { name: string; email: string; role: string },
  signed: Omit<StaffActionOptions, "expected_version"> = {},
): Promise<EmailResult> {
  const ask = async () => {
    const asked = await runStaffAction(supabase, "invite_staff_member", { ...who, ...signed });
    if ("reason" in asked) return asked;
    const invited = InvitationResult.safeParse(asked.result);
    return invited.success ? invited.data : userErrorFromThrown(invited.error);
  };
  let invited = await ask();
  if ("invite_id" in invited) {
    const made = await createStaffAccount(serviceRole, who, invited.invite_id);
    // The same form, sent twice in parallel, may have created the account.
    invited = "reason" in made ? await ask() : made;
    if ("invite_id" in invited) return made as UserError;
  }
  if ("reason" in invited) return invited;
  const to = { ...invited, email: who.email, kind: "team invite", hours: invitationHours } as const;
  return issuePasswordLink(
    serviceRole,
    head,
    to,
    (token) => staffInvitationEmail(head, who.name, token),
    signed.idempotency_key,
  );
}

async function createStaffAccount(
  serviceRole: AppSupabaseClient,
  { email, name }: { email: string; name: string },
  invitation: string,
): Promise<{ account_id: string } | UserError> {
  const { data, error } = await serviceRole.auth.admin.createUser({
    email,
    email_confirm: true,
    user_metadata: { full_name: name, staff_invite_id: invitation },
  });
  return error ? toUserError(error) : { account_id: data.user.id };
}

export async function sendPasswordLink(
  supabase: AppSupabaseClient,
  serviceRole: AppSupabaseClient,
  head: EmailSender,
  account: string,
  actor_name?: string,
): Promise<EmailResult> {
  const action = await runStaffAction(supabase, "request_password_link", { account_id: account, actor_name });
  if ("reason" in action) return action;
  const to = { account_id: account, email: action.result, kind: "new password", hours: passwordLinkHours } as const;
  return issuePasswordLink(serviceRole, head, to, (token) => passwordLinkEmail(head, token));
}

async function issuePasswordLink(
  serviceRole: AppSupabaseClient,
  head: EmailSender,
  to: { account_id: string; email: string; kind: "team invite" | "new password"; hours: number },
  letter: (token: string) => EmailContent,
  request?: string,
): Promise<EmailResult> {
  const { account_id, email, kind, hours } = to;
  return sendOnce(serviceRole, request, email, async () => {
    const token = await serviceRole.rpc("issue_password_link", { account_id, valid_hours: hours });
    if (token.error) return toUserError({ ...token.error, status: token.status });
    return trySendEmail(serviceRole, head, { account_id, email, kind }, letter(token.data));
  });
}

export async function listStaffMembers(serviceRole: AppSupabaseClient) {
  const { data, error, status } = await serviceRole.rpc("list_staff_members");
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  return data;
}

/** Throws if no account has the email address. */
export async function findAccountId(serviceRole: AppSupabaseClient, email: string): Promise<string> {
  const { data, error, status } = await serviceRole.rpc("find_account_id", { email });
  if (error) throw new Error(toUserError({ ...error, status }).reason);
  if (!data) throw new Error(`There is no account with the email address ${email}.`);
  return data;
}
