import { randomUUID } from "node:crypto";
import { Secret, TOTP } from "otpauth";
import { renderSVG } from "uqr";
import type { SqlSession } from "../database/database.ts";
import { transaction } from "../database/migrations.ts";
import { authError } from "./errors.ts";
import {
  type AuthOptions,
  addFactorsToUser,
  authenticate,
  type Caller,
  createTokenResponse,
  type FactorRow,
  listFactors,
  readJsonBody,
  recordAmrClaim,
} from "./sessions.ts";

const challengeLifetimeSeconds = 300;
const unverifiedFactorLifetimeSeconds = 300;
const maxFactors = 10;

export async function handleFactorRequest(options: AuthOptions, request: Request): Promise<Response> {
  const [, factorId = "", action = ""] =
    /^\/auth\/v1\/factors(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(new URL(request.url).pathname) ?? [];
  const caller = await authenticate(options, request);
  if (caller instanceof Response) return caller;
  if (!factorId && request.method === "POST") return enrollFactor(options, request, caller);

  const factor = await findFactor(options.db, caller.user.id, factorId);
  if (!factor) return authError(404, "mfa_factor_not_found", "Factor not found");
  if (action === "challenge" && request.method === "POST") return challengeFactor(options.db, factor);
  if (action === "verify" && request.method === "POST") return verifyFactor(options, request, caller, factor);
  if (!action && request.method === "DELETE") return unenrollFactor(options.db, caller, factor);
  return new Response(null, { status: 405 });
}

async function enrollFactor(options: AuthOptions, request: Request, caller: Caller): Promise<Response> {
  const { db } = options;
  const input = await readJsonBody<{ factor_type?: string; friendly_name?: string; issuer?: string }>(request);
  if (input.factor_type === "phone" || input.factor_type === "webauthn") {
    return authError(422, `mfa_${input.factor_type}_enroll_not_enabled`, "Not enabled");
  }
  if (input.factor_type !== "totp") {
    return authError(400, "validation_failed", "factor_type needs to be totp, phone, or webauthn");
  }
  await db.query(
    "delete from auth.mfa_factors where status = 'unverified' and created_at < now() - make_interval(secs => $1)",
    [unverifiedFactorLifetimeSeconds],
  );
  const name = input.friendly_name ?? "";
  const factors = await listFactors(db, caller.user.id);
  if (factors.some((factor) => (factor.friendly_name ?? "") === name)) {
    const message = `A factor with the friendly name ${JSON.stringify(name)} for this user already exists`;
    return authError(422, "mfa_factor_name_conflict", message);
  }
  if (factors.length >= maxFactors) {
    const message = "Maximum number of verified factors reached, unenroll to continue";
    return authError(422, "too_many_enrolled_mfa_factors", message);
  }
  if (factors.some(({ status }) => status === "verified") && caller.aal !== "aal2") {
    return authError(403, "insufficient_aal", "AAL2 required to enroll a new factor");
  }

  const id = randomUUID();
  const totp = new TOTP({
    issuer: input.issuer || new URL(options.siteUrl).host,
    label: caller.user.email,
    secret: new Secret({ size: 20 }),
  });
  await db.query(
    `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret)
     values ($1, $2, $3, 'totp', 'unverified', $4)`,
    [id, caller.user.id, name, totp.secret.base32],
  );
  const uri = totp.toString();
  return Response.json({
    id,
    type: "totp",
    friendly_name: name,
    // Uses colour names instead of hex codes: supabase-js does not escape the SVG, and "#" would end the data URL.
    totp: { qr_code: renderSVG(uri, { whiteColor: "white", blackColor: "black" }), secret: totp.secret.base32, uri },
  });
}

async function challengeFactor(db: SqlSession, factor: FactorRow): Promise<Response> {
  const id = randomUUID();
  await db.query("insert into auth.mfa_challenges (id, factor_id) values ($1, $2)", [id, factor.id]);
  await db.query("update auth.mfa_factors set last_challenged_at = now() where id = $1", [factor.id]);
  return Response.json({ id, type: "totp", expires_at: Math.floor(Date.now() / 1000) + challengeLifetimeSeconds });
}

/** Accepts a code once, in its own 30 seconds or in the 30 seconds before or after. Ends the user's AAL1 sessions. */
async function verifyFactor(options: AuthOptions, request: Request, caller: Caller, factor: FactorRow) {
  const { db } = options;
  const { sessionId, user } = caller;
  const input = await readJsonBody<{ challenge_id?: string; code?: string }>(request);
  if (!input.code) return authError(400, "validation_failed", "Code needs to be non-empty");
  const challenge = await checkChallenge(db, factor.id, input.challenge_id ?? "");
  if (challenge !== "open") return challenge;

  const totp = new TOTP({ secret: Secret.fromBase32(factor.secret) });
  const delta = /^\d{6}$/.test(input.code) ? totp.validate({ token: input.code, window: 1 }) : null;
  const step = Math.floor(Date.now() / 30_000) + (delta ?? 0);
  if (delta === null || step <= factor.accepted_step)
    return authError(422, "mfa_verification_failed", "Invalid TOTP code entered");

  return transaction(db, async () => {
    await db.query("update auth.mfa_challenges set verified_at = now() where id = $1", [input.challenge_id]);
    await db.query(
      "update auth.mfa_factors set status = 'verified', updated_at = now(), accepted_step = $2 where id = $1",
      [factor.id, step],
    );
    await recordAmrClaim(db, sessionId, "totp");
    await db.query("update auth.sessions set aal = 'aal2', factor_id = $2 where id = $1", [sessionId, factor.id]);
    await db.query("delete from auth.sessions where user_id = $1 and coalesce(aal, 'aal1') = 'aal1'", [user.id]);
    await db.query("delete from auth.mfa_factors where user_id = $1 and status = 'unverified'", [user.id]);
    const { rows } = await db.query<{ token: string }>(
      "select token from auth.refresh_tokens where session_id = $1 and not revoked order by created_at desc limit 1",
      [sessionId],
    );
    return createTokenResponse(options, await addFactorsToUser(db, user), {
      id: sessionId,
      refreshToken: rows[0]?.token ?? "",
    });
  });
}

async function checkChallenge(db: SqlSession, factorId: string, id: string): Promise<"open" | Response> {
  const { rows } = await db.query<{ used: boolean; expired: boolean }>(
    `select verified_at is not null as used, created_at < now() - make_interval(secs => $3) as expired
     from auth.mfa_challenges where id::text = $1 and factor_id = $2`,
    [id, factorId, challengeLifetimeSeconds],
  );
  const [challenge] = rows;
  if (!challenge) return authError(422, "mfa_factor_not_found", "MFA factor with the provided challenge ID not found");
  if (challenge.used) return authError(422, "mfa_ip_address_mismatch", "Challenge and verify IP addresses mismatch.");
  if (challenge.expired) {
    await db.query("delete from auth.mfa_challenges where id::text = $1", [id]);
    const message = `MFA challenge ${id} has expired, verify against another challenge or create a new challenge.`;
    return authError(422, "mfa_challenge_expired", message);
  }
  return "open";
}

async function unenrollFactor(db: SqlSession, caller: Caller, factor: FactorRow): Promise<Response> {
  if (factor.status === "verified" && caller.aal !== "aal2") {
    return authError(422, "insufficient_aal", "AAL2 required to unenroll verified factor");
  }
  await deleteFactor(db, factor.id);
  return Response.json({ id: factor.id });
}

export async function findFactor(db: SqlSession, userId: string, id: string): Promise<FactorRow | null> {
  return (await listFactors(db, userId)).find((factor) => factor.id === id) ?? null;
}

export async function deleteFactor(db: SqlSession, factorId: string): Promise<void> {
  await transaction(db, async () => {
    await db.query(
      `delete from auth.mfa_amr_claims where authentication_method = 'totp'
         and session_id in (select id from auth.sessions where factor_id = $1)`,
      [factorId],
    );
    await db.query("update auth.sessions set aal = 'aal1', factor_id = null where factor_id = $1", [factorId]);
    await db.query("delete from auth.mfa_factors where id = $1", [factorId]);
  });
}
