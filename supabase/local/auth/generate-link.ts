/**
 * Links that recover an account, made for the company alone: it mails them, and auth mails none. Each half of the answer
 * is made where its settings are: the token here behind the address that it leads to.
 */
import { createHash, randomInt } from "node:crypto";
import type { SqlSession } from "../database/database.ts";
import { transaction } from "../database/migrations.ts";
import { recordAuthLogEntry } from "./audit-log.ts";
import { authError } from "./errors.ts";
import { type AuthOptions, readJsonBody } from "./sessions.ts";
import { emailError, findUserId, getUser } from "./users.ts";

/** A new code of digits for an address, and the token of a link: the hash by which the library finds both. */
export function createOneTimeToken(email: string, digits: number): { otp: string; tokenHash: string } {
  const otp = Array.from({ length: digits }, () => randomInt(10)).join("");
  const tokenHash = createHash("sha256")
    .update(email + otp)
    .digest("hex");
  return { otp, tokenHash };
}

/** Gives an account a token to recover it, in place of the one before. The request's key has been looked at. */
export async function generateRecoveryToken(
  rules: { db: SqlSession; otpLength: number },
  request: Request,
): Promise<Response> {
  const { db, otpLength } = rules;
  const { type, email: asked } = await readJsonBody<{ type: unknown; email: unknown }>(request);
  const email = typeof asked === "string" ? asked.toLowerCase() : "";
  const refused = emailError(email);
  if (refused) return refused;
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

/** The answer about a new token with its link, which leads to the site, or to the page of it that is asked for. */
export async function addActionLink(rules: AuthOptions, request: Request): Promise<Response> {
  const { redirect_to: asked } = await readJsonBody<{ redirect_to: unknown }>(request.clone());
  const response = await rules.next(request);
  if (!response.ok) return response;
  const link = (await response.json()) as { hashed_token: string; verification_type: string };
  const target = String(asked || new URL(request.url).searchParams.get("redirect_to"));
  const isSite = URL.canParse(target) && new URL(target).origin === new URL(rules.siteUrl).origin;
  const redirect_to = isSite ? target : rules.siteUrl;
  const escaped = /[&=#]/.test(redirect_to) ? encodeURIComponent(redirect_to) : redirect_to;
  const asks = `token=${link.hashed_token}&type=${link.verification_type}&redirect_to=${escaped}`;
  return Response.json({ ...link, action_link: `${rules.issuer}/verify?${asks}`, redirect_to });
}
