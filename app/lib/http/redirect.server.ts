/** Safe redirect targets: paths of this site, matched by pattern. */

/** One part of the list's filter, as models/desk.ts writes it, or as its form does, where what is not asked for is empty. */
const listFilter = /(?:q=[\w%+.*-]{0,1000}|stage=\d{0,2}|waiting=[a-z]{0,8}|page=\d{0,6})/.source;
const portalPathPattern = new RegExp(`^/portal(/[0-9A-Za-z-]{1,64}){0,3}(\\?${listFilter}(&${listFilter}){0,3})?$`);
const deskPathPattern = /^\/desk(\/(?!\.{1,2}(\/|\?|$))[0-9A-Za-z.-]{1,64}){0,4}(\?[\w=&%+.*~!'()-]{0,1500})?$/;

/** A path under /portal or /desk as our own links write them, or `/portal`. */
export function toViewerPath(value: unknown): string {
  return typeof value === "string" && (portalPathPattern.test(value) || deskPathPattern.test(value))
    ? value
    : "/portal";
}

/** A path of this site as our own links write them, or `/`. */
export function toSitePath(value: unknown): string {
  return typeof value === "string" &&
    /^\/([0-9A-Za-z-]{1,100}(\/[0-9A-Za-z-]{1,100}){0,4})?(\?[\w=&%+./-]{0,300})?$/.test(value)
    ? value
    : "/";
}
