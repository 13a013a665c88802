import { createHash, randomInt } from "node:crypto";
import type { SqlSession } from "../database/database.ts";
import { transaction } from "../database/migrations.ts";
import { recordAuthLogEntry } from "./audit-log.ts";
import { authError } from "./errors.ts";
import { type AuthOptions, readJsonBody } from "./sessions.ts";
import { findUserId, getUser, parseEmail } from "./users.ts";

/** Returns a one-time password, and the hash by which @supabase/lite finds its account. */
export function createOneTimeToken(email: string, digits: number): { otp: string; tokenHash: string } {
  const otp = Array.from({ length: digits }, () => randomInt(10)).join("");
  const tokenHash = createHash("sha256")
    .update(email + otp)
    .digest("hex");
  return { otp, tokenHash };
}

/** Replaces an account's recovery token. The caller must have checked the secret key. */
export async function generateRecoveryToken(
  options: { db: SqlSession; otpLength: number },
  request: Request,
): Promise<Response> {
  const { db, otpLength } = options;
  const { type, email: requestedEmail } = await readJsonBody<{ type: unknown; email: unknown }>(request);
  const email = parseEmail(requestedEmail);
  if (email instanceof Response) return email;
  if (type !== "recovery") {
    return authError(400, "validation_failed", `Invalid email action link type requested: ${type ?? ""}`);
  }
  const id = await findUserId(db, email);
  if (!id) return authError(404, "user_not_found", "User with this email not found");

  const { otp, tokenHash } = createOneTimeToken(email, otpLength);
  return transaction(db, async () => {
    await db.query(
      "update auth.users set recovery_token = $1, recovery_sent_at = now(), updated_at = now() where id = $2",
      [tokenHash, id],
    );
    const user = await getUser(db, id);
    await recordAuthLogEntry(
      db,
      { id, name: user.email, fullName: user.user_metadata.full_name },
      "user_recovery_requested",
    );
    return Response.json({ ...user, email_otp: otp, hashed_token: tokenHash, verification_type: "recovery" });
  });
}

export async function addActionLink(options: AuthOptions, request: Request): Promise<Response> {
  const { redirect_to: requestedTarget } = await readJsonBody<{ redirect_to: unknown }>(request.clone());
  const response = await options.next(request);
  if (!response.ok) return response;
  const link = (await response.json()) as { hashed_token: string; verification_type: string };
  const target = String(requestedTarget || new URL(request.url).searchParams.get("redirect_to"));
  const isSite = URL.canParse(target) && new URL(target).origin === new URL(options.siteUrl).origin;
  const redirect_to = isSite ? target : options.siteUrl;
  const escaped = /[&=#]/.test(redirect_to) ? encodeURIComponent(redirect_to) : redirect_to;
  const query = `token=${link.hashed_token}&type=${link.verification_type}&redirect_to=${escaped}`;
  return Response.json({ ...link, action_link: `${options.issuer}/verify?${query}`, redirect_to });
}
