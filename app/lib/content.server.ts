/** Content of the site, from content/: read at start, checked, and refused with the name of the file and the field. */
import { parse } from "yaml";
import { z } from "zod";
import company from "../../content/data/company.yaml?raw";

const Office = z.object({
  name: z.string().min(1),
  address: z.string().min(1),
  map: z.url(),
  phone: z.string().regex(/^\+[\d ]{9,20}$/, "must be an international number such as +254 700 000 001"),
  email: z.email(),
});

const Company = z.object({
  name: z.string().min(1),
  short_name: z.string().min(1).max(20),
  founded: z.number().int(),
  taglines: z.array(z.string().min(1)).length(2),
  offices: z.array(Office).length(2),
  copyright_year: z.number().int(),
});

export type Company = z.infer<typeof Company>;

/** The company's own data: content/data/company.yaml. */
export const theCompany: Company = check("content/data/company.yaml", Company, parse(company));

/** Returns the value in the schema's shape, or throws an error that names file and field. */
export function check<T>(file: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new Error(`${file}: ${issue?.path.join(".") || "the file"}: ${issue?.message}`);
}
