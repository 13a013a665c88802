import process from "node:process";

/** A low bcrypt cost, which saves time. tests/database/sign-up-privacy.test.ts checks the real cost. */
export const cheapPasswordHashes = { LITE_AUTH_BCRYPT_COST: "4" };

/** Deadlines that are long enough for a busy machine. */
export const longDeadlines = { PAGE_SECONDS: "30", WRITE_SECONDS: "30", UPLOAD_SECONDS: "120" };

/**
 * Returns the environment variables for a site under test, and the variables in `more`. Does not copy the site's
 * settings from the environment of this process.
 */
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
