import bcrypt from "bcryptjs";
import { authError, rollBackOnError } from "./errors.ts";
import {
  type AuthOptions,
  addFactorsToUser,
  authenticate,
  type Caller,
  listPublicFactors,
  readJsonBody,
} from "./sessions.ts";

type UserUpdateParams = Partial<Record<"password" | "current_password" | "email" | "phone" | "app_metadata", unknown>>;

export async function handleUserRequest(options: AuthOptions, request: Request): Promise<Response> {
  const caller = await authenticate(options, request);
  if (caller instanceof Response) return caller;
  if (request.method === "GET") return Response.json(await addFactorsToUser(options.db, caller.user));

  const change = await readJsonBody<UserUpdateParams>(request.clone());
  const error = await userUpdateError(options, caller, change);
  if (error) return error;
  const response = await (change.password === undefined
    ? options.next(request)
    : changePassword(options, request, caller));
  return response.ok ? Response.json(await addFactorsToUser(options.db, await response.json())) : response;
}

async function userUpdateError(options: AuthOptions, caller: Caller, change: UserUpdateParams) {
  if (Buffer.byteLength(String(change.password ?? "")) > 72) {
    return authError(400, "validation_failed", "Password cannot be longer than 72 characters");
  }
  if (change.app_metadata) return authError(403, "not_admin", "Updating app_metadata requires admin privileges");
  const changesEmail = Boolean(change.email) && change.email !== caller.user.email;
  const factors = await listPublicFactors(options.db, caller.user.id);
  if (
    (changesEmail || change.password || change.phone) &&
    caller.aal !== "aal2" &&
    factors.some(({ status }) => status === "verified")
  ) {
    const message = "AAL2 session is required to update email or password when MFA is enabled.";
    return authError(401, "insufficient_aal", message);
  }
  // Rejects the change, because the embedded backend cannot confirm a new email address.
  if (changesEmail)
    return authError(400, "email_address_not_authorized", "Email address cannot be used as it is not authorized");
  if (change.password !== undefined && options.securePasswordChange && !caller.recent) {
    return authError(400, "reauthentication_needed", "Password update requires reauthentication");
  }
  return change.password && !caller.linked ? currentPasswordError(options, caller, change.current_password) : null;
}

async function currentPasswordError({ db }: AuthOptions, { user }: Caller, password: unknown) {
  const message = "Current password required when setting new password.";
  if (!password) return authError(400, "current_password_required", message);
  const { rows } = await db.query<{ hash: string | null }>(
    "select encrypted_password as hash from auth.users where id = $1",
    [user.id],
  );
  const isCorrect = await bcrypt.compare(String(password), rows[0]?.hash ?? "");
  return isCorrect ? null : authError(400, "current_password_invalid", message);
}

/**
 * Ends the other sessions and deletes the confirmation link. @supabase/lite then sets the new password and deletes the
 * password link.
 */
function changePassword(options: AuthOptions, request: Request, { user, sessionId }: Caller): Promise<Response> {
  return rollBackOnError(options.db, async () => {
    await options.db.query("delete from auth.sessions where user_id = $1 and id <> $2", [user.id, sessionId]);
    await options.db.query(
      "update auth.users set confirmation_token = null, confirmation_sent_at = null where id = $1",
      [user.id],
    );
    return options.next(request);
  });
}
