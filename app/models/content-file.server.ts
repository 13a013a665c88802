import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import type { z } from "zod";
import { projectRoot } from "../../supabase/contract/data-dir.ts";

/** Returns the content of a data file. Staff commands and background jobs can call this function, because it needs no Vite. */
export function readContentFile<T>(name: string, schema: z.ZodType<T>): T {
  const file = `content/data/${name}.yaml`;
  return checkContent(file, schema, parse(readFileSync(path.join(projectRoot, file), "utf8")));
}

export function checkContent<T>(file: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new Error(`${file}: ${issue?.path.join(".") || "the file"}: ${issue?.message}`);
}
