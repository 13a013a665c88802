/** The public pages, one of each kind; the last is a 404. */
export const publicPages: readonly string[] = [
  "/",
  "/services",
  "/about",
  "/resources/cost",
  "/resources/faq",
  "/resources/feeds",
  "/resources/blog",
  "/resources/blog/importing-a-car-to-kenya",
  "/contact",
  "/careers",
  "/privacy",
  "/terms",
  "/legal",
  "/additional-info",
  "/cookie-settings",
  "/no-such-page",
];

/** Public pages that redirect clients who are signed in. */
export const authPages: readonly string[] = ["/login", "/signup"];
