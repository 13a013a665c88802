import process from "node:process";

/** What makes a hash of a password cost next to nothing; what it costs in the product is a test of its own. */
export const cheapHashes = { LITE_AUTH_BCRYPT_COST: "4" };

/** Deadlines for a machine on which other things run too. */
export const patience = { PAGE_SECONDS: "30", WRITE_SECONDS: "30", UPLOAD_SECONDS: "120" };

/** The environment of a site under test: what any program needs, and nothing of the site's own that is set around it. */
export function bareEnvironment(more: Record<string, string> = {}): Record<string, string> {
  const { PATH = "", HOME = "", TMPDIR, SystemRoot } = process.env;
  return {
    PATH,
    HOME,
    ...(TMPDIR && { TMPDIR }),
    ...(SystemRoot && { SystemRoot }),
    ...cheapHashes,
    ...patience,
    ...more,
  };
}
