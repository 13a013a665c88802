import { generateTypescript, sortGeneratorMetadata } from "@supabase/postgrest-typegen/generation";
import { introspect } from "@supabase/postgrest-typegen/introspection";
import { expect, test } from "vitest";
import { setUpTestBackend } from "../support/database-suite.ts";

const { testBackend } = setUpTestBackend();

// `npm run types` runs this test in the mode that overwrites app/lib/supabase/database.ts.
test("The types in app/lib/supabase/database.ts match the migrations (npm run types generates these types).", async () => {
  const schema = await introspect(testBackend.backend.db, { includedSchemas: ["public"] });
  const types = await generateTypescript(sortGeneratorMetadata(schema), { detectOneToOneRelationships: true });
  const header = "// Generated from supabase/migrations by `npm run types`. Do not edit.\n";
  await expect(header + types).toMatchFileSnapshot("../../app/lib/supabase/database.ts");
});
