import type { SqlSession } from "../database/database.ts";
import { authError } from "./errors.ts";

type UserRow = Record<string, unknown>;
type AuthUser = UserRow & { id: string; email: string; app_metadata: object; user_metadata: Record<string, unknown> };

/** The columns of auth.users that toAuthUser needs. Identities and factors are sorted, oldest first. */
export const userColumns = `id, aud, role, email, email_confirmed_at, invited_at, coalesce(phone, '') as phone,
  confirmation_sent_at, confirmed_at, recovery_sent_at, last_sign_in_at, raw_app_meta_data as app_metadata,
  raw_user_meta_data as user_metadata, created_at, updated_at, banned_until, is_anonymous,
  (
    select coalesce(json_agg(identity), '[]') from (
      select id as identity_id, provider_id as id, user_id, identity_data, provider, last_sign_in_at, created_at,
        updated_at, email
      from auth.identities where user_id = users.id order by created_at
    ) as identity
  ) as identities,
  (
    select json_agg(factor) from (
      select id, friendly_name, factor_type, status, created_at, updated_at, last_challenged_at
      from auth.mfa_factors where user_id = users.id order by created_at
    ) as factor
  ) as factors`;

export async function getUser(db: SqlSession, id: string): Promise<AuthUser> {
  const { rows } = await db.query<UserRow>(`select ${userColumns} from auth.users where id = $1`, [id]);
  return toAuthUser(rows[0] ?? {});
}

export function toAuthUser(row: UserRow): AuthUser {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as AuthUser;
}

export async function findUserId(db: SqlSession, email: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>("select id from auth.users where email = lower($1)", [email]);
  return rows[0]?.id ?? null;
}

/** Supabase Auth's pattern for email addresses, from badoux/checkmail. */
const emailPattern =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** Returns the email address in lower case, or an error response if the address is invalid. */
export function parseEmail(value: unknown): string | Response {
  const email = typeof value === "string" ? value.toLowerCase() : "";
  if (!email) return authError(400, "validation_failed", "An email address is required");
  if (Buffer.byteLength(email) > 255) return authError(400, "validation_failed", "An email address is too long");
  if (emailPattern.test(email)) return email;
  return authError(400, "validation_failed", "Unable to validate email address: invalid format");
}
