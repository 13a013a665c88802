import type { z } from "zod";
import { toUserError, type UserError, userErrorFromThrown } from "../http/user-error.server.ts";

type SupabaseError = Parameters<typeof toUserError>[0];
type SupabaseResult = { data: unknown; error: SupabaseError | null; status?: number };
type Data<Result> = Extract<Result, { error: null }> extends { data: infer Value } ? Value : never;

export function getResultError({ error, status }: SupabaseResult): UserError | null {
  // Errors of PostgREST do not contain the HTTP status, unlike errors of Supabase Auth and Supabase Storage.
  return error && toUserError(status === undefined ? error : { ...error, status });
}

export function dataOrUserError<Result extends SupabaseResult>(result: Result): Data<Result> | UserError {
  return getResultError(result) ?? (result.data as Data<Result>);
}

export function dataOrThrow<Result extends SupabaseResult>(result: Result): Data<Result> {
  const failure = getResultError(result);
  if (failure) throw new Error(failure.reason);
  return result.data as Data<Result>;
}

export function parseResult<Value>(schema: z.ZodType<Value>, result: SupabaseResult): Value | UserError {
  return getResultError(result) ?? parseOrUserError(schema, result.data);
}

export function parseOrUserError<Value>(schema: z.ZodType<Value>, value: unknown): Value | UserError {
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : userErrorFromThrown(parsed.error);
}

/** `maxRowsPerCall` must equal `max_rows` in supabase/config.toml. */
const maxRowsPerCall = 1000;

export async function* fetchPages<Row>(
  fetchRows: (
    first: number,
    last: number,
  ) => PromiseLike<{ data: Row[]; error: null } | { data: null; error: SupabaseError }>,
): AsyncGenerator<Row[]> {
  for (let first = 0; ; first += maxRowsPerCall) {
    const rows = dataOrThrow(await fetchRows(first, first + maxRowsPerCall - 1));
    yield rows;
    if (rows.length < maxRowsPerCall) return;
  }
}
