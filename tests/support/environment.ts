import process from "node:process";

/** The environment of a site under test: what any program needs, and nothing of the site's own that is set around it. */
export function bareEnvironment(more: Record<string, string> = {}): Record<string, string> {
  const { PATH = "", HOME = "", TMPDIR, SystemRoot } = process.env;
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }), ...(SystemRoot && { SystemRoot }), ...more };
}
