/** The pages that everybody sees, one of each kind. */
export const publicPages: readonly string[] = [
  "/",
  "/services",
  "/about",
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

/** Pages for everybody that send on who is signed in. */
export const doors: readonly string[] = ["/login", "/signup"];
