/** Each offline copy contains this file's code in its HTML, so this file must not import other files. */

/**
 * Every cache name starts with `form`. The service worker deletes all other caches, so a new data format needs a new
 * digit in each name. An account's cache has the name `own` plus the value of the account cookie. Visitors without a
 * session use the cache `open`.
 */
export const cacheNames = {
  form: "offline1-",
  own: "offline1-account-",
  open: "offline1-open",
  worker: "offline1-worker",
} as const;

/**
 * Deletes the caches whose names start with `beginning`. Deletes their entries first, because browsers leave the files
 * of a deleted cache on the disk.
 */
export async function deleteCaches(beginning: string): Promise<void> {
  const { caches: storage } = self;
  for (const name of await storage.keys()) {
    if (!name.startsWith(beginning)) continue;
    const cache = await storage.open(name);
    for (const request of await cache.keys()) await cache.delete(request);
    await storage.delete(name);
  }
}
