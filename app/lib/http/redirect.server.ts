/** Redirect targets must match a path pattern of this site, so that no link can redirect to another site. */

const listFilter = /(?:q=[\w%+.*-]{0,1000}|stage=\d{0,2}|waiting=[a-z]{0,8}|page=\d{0,6})/.source;
const portalPathPattern = new RegExp(`^/portal(/[0-9A-Za-z-]{1,64}){0,3}(\\?${listFilter}(&${listFilter}){0,3})?$`);
const deskPathPattern = /^\/desk(\/(?!\.{1,2}(\/|\?|$))[0-9A-Za-z.-]{1,64}){0,4}(\?[\w=&%+.*~!'()-]{0,1500})?$/;

export function toViewerPath(value: unknown): string {
  return typeof value === "string" && (portalPathPattern.test(value) || deskPathPattern.test(value))
    ? value
    : "/portal";
}

export function toSitePath(value: unknown): string {
  return typeof value === "string" &&
    /^\/([0-9A-Za-z-]{1,100}(\/[0-9A-Za-z-]{1,100}){0,4})?(\?[\w=&%+./-]{0,300})?$/.test(value)
    ? value
    : "/";
}
