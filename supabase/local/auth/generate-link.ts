import { createHash, randomInt } from "node:crypto";
import { transaction } from "../database/migrations.ts";
import { recordAuthLogEntry } from "./audit-log.ts";
import { authError } from "./errors.ts";
import { type AuthOptions, readJsonBody } from "./sessions.ts";
import { findUserId, getUser, parseEmail } from "./users.ts";

/** Returns a one-time password, and the hash by which @supabase/lite finds the password's account. */
export function createOneTimeToken(email: string, digits: number): { otp: string; tokenHash: string } {
  const otp = Array.from({ length: digits }, () => randomInt(10)).join("");
  const tokenHash = createHash("sha256")
    .update(email + otp)
    .digest("hex");
  return { otp, tokenHash };
}

export async function generateRecoveryLink(options: AuthOptions, request: Request): Promise<Response> {
  const { db, issuer, otpLength, siteUrl } = options;
  type LinkParams = { type: unknown; email: unknown; redirect_to: unknown };
  const { type, email: requestedEmail, redirect_to: requestedTarget } = await readJsonBody<LinkParams>(request);
  const email = parseEmail(requestedEmail);
  if (email instanceof Response) return email;
  if (type !== "recovery") {
    return authError(400, "validation_failed", `Invalid email action link type requested: ${type ?? ""}`);
  }
  const id = await findUserId(db, email);
  if (!id) return authError(404, "user_not_found", "User with this email not found");

  const { otp, tokenHash } = createOneTimeToken(email, otpLength);
  const user = await transaction(db, async () => {
    await db.query(
      "update auth.users set recovery_token = $1, recovery_sent_at = now(), updated_at = now() where id = $2",
      [tokenHash, id],
    );
    const account = await getUser(db, id);
    const actor = { id, name: account.email, fullName: account.user_metadata.full_name };
    await recordAuthLogEntry(db, actor, "user_recovery_requested");
    return account;
  });
  const target = String(requestedTarget || new URL(request.url).searchParams.get("redirect_to"));
  const isSite = URL.canParse(target) && new URL(target).origin === new URL(siteUrl).origin;
  const redirect_to = isSite ? target : siteUrl;
  const escaped = /[&=#]/.test(redirect_to) ? encodeURIComponent(redirect_to) : redirect_to;
  const action_link = `${issuer}/verify?token=${tokenHash}&type=${type}&redirect_to=${escaped}`;
  const link = { email_otp: otp, hashed_token: tokenHash, verification_type: type, action_link, redirect_to };
  return Response.json({ ...user, ...link });
}
