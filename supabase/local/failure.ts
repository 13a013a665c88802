/** Refusals in GoTrue's form, and what they undo. */
import type { Database } from "./database.ts";
import { transaction } from "./migrate.ts";

/** A refusal with its code, in the body and in the header. */
export function failure(status: number, code: string, message: string): Response {
  return Response.json(
    { code: status, error_code: code, msg: message },
    { status, headers: { "X-Sb-Error-Code": code } },
  );
}

/** The refusal of a banned account. */
export function banned(status: 400 | 403, message = "User is banned"): Response {
  return failure(status, "user_banned", message);
}

/** The answer of `job`, run in one transaction that a refusal undoes. */
export async function unlessRefused(db: Database, job: () => Promise<Response>): Promise<Response> {
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
