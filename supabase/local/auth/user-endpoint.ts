/** A person's own account, read and changed with the token of a session, as GoTrue has it; read from its source. */
import bcrypt from "bcryptjs";
import { authError, rollBackOnError } from "./errors.ts";
import {
  type AuthenticatedSession,
  type AuthOptions,
  addFactorsToUser,
  authenticate,
  listPublicFactors,
  readJsonBody,
} from "./sessions.ts";

type UserUpdateParams = {
  password?: unknown;
  current_password?: unknown;
  email?: unknown;
  phone?: unknown;
  app_metadata?: unknown;
};

/** Reads or changes the account of the caller, or signs out. A banned account may do none of it. */
export async function handleUserRequest(rules: AuthOptions, request: Request, route: string): Promise<Response> {
  const caller = await authenticate(rules, request);
  if (caller instanceof Response) return caller;
  if (route === "GET /auth/v1/user") return Response.json(await addFactorsToUser(rules.db, caller.user));
  if (route !== "PUT /auth/v1/user") return rules.next(request);

  const change = await readJsonBody<UserUpdateParams>(request.clone());
  const refused = await userUpdateError(rules, caller, change);
  if (refused) return refused;
  const response = await (change.password === undefined ? rules.next(request) : changePassword(rules, request, caller));
  return response.ok ? Response.json(await addFactorsToUser(rules.db, await response.json())) : response;
}

/**
 * GoTrue's refusal of a change: `app_metadata` is the company's alone; with a second factor a password or an address needs
 * its code first, and a new password a login of the last 24 hours and the one of now. Null where the change may go on.
 */
async function userUpdateError(
  rules: AuthOptions,
  caller: AuthenticatedSession,
  change: UserUpdateParams,
): Promise<Response | null> {
  // bcrypt reads no further.
  if (Buffer.byteLength(String(change.password ?? "")) > 72) {
    return authError(400, "validation_failed", "Password cannot be longer than 72 characters");
  }
  if (change.app_metadata) return authError(403, "not_admin", "Updating app_metadata requires admin privileges");
  const moves = Boolean(change.email) && change.email !== caller.user.email;
  const factors = await listPublicFactors(rules.db, caller.user.id);
  if (
    (moves || change.password || change.phone) &&
    caller.aal !== "aal2" &&
    factors.some(({ status }) => status === "verified")
  ) {
    const words = "AAL2 session is required to update email or password when MFA is enabled.";
    return authError(401, "insufficient_aal", words);
  }
  // No mail is sent for it here.
  if (moves)
    return authError(400, "email_address_not_authorized", "Email address cannot be used as it is not authorized");
  if (change.password !== undefined && rules.securePasswordChange && !caller.recent) {
    return authError(400, "reauthentication_needed", "Password update requires reauthentication");
  }
  return change.password && !caller.linked ? currentPasswordError(rules, caller, change.current_password) : null;
}

/** Refuses what is not the password of the caller; null when it is. */
async function currentPasswordError(
  { db }: AuthOptions,
  { user }: AuthenticatedSession,
  given: unknown,
): Promise<Response | null> {
  const words = "Current password required when setting new password.";
  if (!given) return authError(400, "current_password_required", words);
  const { rows } = await db.query<{ hash: string | null }>(
    "select encrypted_password as hash from auth.users where id = $1",
    [user.id],
  );
  const isIt = await bcrypt.compare(String(given), rows[0]?.hash ?? "");
  return isIt ? null : authError(400, "current_password_invalid", words);
}

/**
 * Whoever knew the old password keeps nothing of it: the account's other sessions end, and links in mails open nothing
 * more. The library changes the password, refuses the same one, and forgets the link to recover it.
 */
function changePassword(
  rules: AuthOptions,
  request: Request,
  { user, sessionId }: AuthenticatedSession,
): Promise<Response> {
  return rollBackOnError(rules.db, async () => {
    await rules.db.query("delete from auth.sessions where user_id = $1 and id <> $2", [user.id, sessionId]);
    await rules.db.query("update auth.users set confirmation_token = null, confirmation_sent_at = null where id = $1", [
      user.id,
    ]);
    return rules.next(request);
  });
}
