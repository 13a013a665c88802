/** The rows of second factors, and when wrong codes pause one. */
import type { Database } from "./database.ts";
import { transaction } from "./migrate.ts";

export type Factor = {
  id: string;
  user_id: string;
  friendly_name: string | null;
  factor_type: string;
  status: "unverified" | "verified";
  secret: string;
  wrong_codes: number;
  paused: boolean;
  accepted_step: number;
};
/** Wrong codes in a row that pause a factor, and for how long, in minutes. */
const wrongCodes = 5;
const pause = 15;

/** Every factor of a user. */
export async function factorsOf(db: Database, userId: string): Promise<Factor[]> {
  const { rows } = await db.query<Factor>(
    `select id, user_id, friendly_name, factor_type, status, secret, wrong_codes, accepted_step,
       wrong_codes >= $2 and wrong_since > now() - make_interval(mins => $3) as paused
     from auth.mfa_factors where user_id = $1`,
    [userId, wrongCodes, pause],
  );
  return rows;
}

/** A factor of a user's, or null. */
export async function findFactor(db: Database, userId: string, id: string): Promise<Factor | null> {
  return (await factorsOf(db, userId)).find((factor) => factor.id === id) ?? null;
}

/** Counts a wrong code. */
export async function countWrongCode(db: Database, factorId: string): Promise<void> {
  await db.query(
    `update auth.mfa_factors set
       wrong_codes = case when wrong_since > now() - make_interval(mins => $2) then wrong_codes + 1 else 1 end,
       wrong_since = case when wrong_since > now() - make_interval(mins => $2) then wrong_since else now() end
     where id = $1`,
    [factorId, pause],
  );
}

/** Removes a factor and takes the sessions that it lifted back to AAL1. */
export async function remove(db: Database, factorId: string): Promise<void> {
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
