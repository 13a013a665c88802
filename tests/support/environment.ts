import process from "node:process";

/** Makes password hashes cheap. tests/database/sign-up-privacy.test.ts checks the real cost. */
export const cheapPasswordHashes = { LITE_AUTH_BCRYPT_COST: "4" };

/** Deadlines that the site also meets on a busy machine. */
export const longDeadlines = { PAGE_SECONDS: "30", WRITE_SECONDS: "30", UPLOAD_SECONDS: "120" };

/** Returns the environment of a site under test. Settings of the site in this process's environment are removed. */
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
