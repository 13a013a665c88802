import process from "node:process";

/** Makes password hashes cheap; tests/database/sign-up.test.ts checks their cost in the product. */
export const cheapPasswordHashes = { LITE_AUTH_BCRYPT_COST: "4" };

/** Deadlines for a machine on which other things run too. */
export const longDeadlines = { PAGE_SECONDS: "30", WRITE_SECONDS: "30", UPLOAD_SECONDS: "120" };

/** The environment of a site under test: what any program needs, without settings of the site from outside. */
export function createSiteEnvironment(more: Record<string, string> = {}): Record<string, string> {
  const { PATH = "", HOME = "", TMPDIR, SystemRoot } = process.env;
  return {
    PATH,
    HOME,
    ...(TMPDIR && { TMPDIR }),
    ...(SystemRoot && { SystemRoot }),
    ...cheapPasswordHashes,
    ...longDeadlines,
    ...more,
  };
}
