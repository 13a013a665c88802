/** The rows of second factors. */
import type { SqlSession } from "../database/database.ts";
import { transaction } from "../database/migrations.ts";

export type FactorRow = {
  id: string;
  user_id: string;
  friendly_name: string | null;
  factor_type: string;
  status: "unverified" | "verified";
  secret: string;
  accepted_step: number;
};

/** Every factor of a user. */
export async function listFactors(db: SqlSession, userId: string): Promise<FactorRow[]> {
  const { rows } = await db.query<FactorRow>(
    `select id, user_id, friendly_name, factor_type, status, secret, accepted_step
     from auth.mfa_factors where user_id = $1`,
    [userId],
  );
  return rows;
}

/** A factor of a user's, or null. */
export async function findFactor(db: SqlSession, userId: string, id: string): Promise<FactorRow | null> {
  return (await listFactors(db, userId)).find((factor) => factor.id === id) ?? null;
}

/** Removes a factor and takes the sessions that it lifted back to AAL1. */
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
