import type { SqlSession } from "../database/database.ts";
import { transaction } from "../database/migrations.ts";

export function authError(status: number, code: string, message: string): Response {
  return Response.json(
    { code: status, error_code: code, msg: message },
    { status, headers: { "X-Sb-Error-Code": code } },
  );
}

export function userBannedError(status: 400 | 403, message = "User is banned"): Response {
  return authError(status, "user_banned", message);
}

export async function rollBackOnError(db: SqlSession, job: () => Promise<Response>): Promise<Response> {
  try {
    return await transaction(db, async () => {
      const response = await job();
      if (!response.ok) throw response;
      return response;
    });
  } catch (error) {
    if (error instanceof Response) return error;
    throw error;
  }
}
