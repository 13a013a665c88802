/** Safe redirect targets: paths of this site, matched by pattern. */

/** A path under /portal as our own links write them, or `/portal`. */
export function portalPath(value: unknown): string {
  return typeof value === "string" && /^\/portal(\/[0-9A-Za-z-]{1,64}){0,3}(\?page=\d{1,6})?$/.test(value)
    ? value
    : "/portal";
}

/** A path of this site as our own links write them, or `/`. */
export function sitePath(value: unknown): string {
  return typeof value === "string" &&
    /^\/([0-9A-Za-z-]{1,100}(\/[0-9A-Za-z-]{1,100}){0,4})?(\?[\w=&%+./-]{0,300})?$/.test(value)
    ? value
    : "/";
}
