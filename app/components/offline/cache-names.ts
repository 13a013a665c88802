/** Imported by the script of each offline copy, so this file imports no other files. */

/**
 * `own` is the prefix of one account's cache; the value of the account cookie follows. `open` is the cache of visitors without
 * a session. `form` is the prefix of all caches. The digit in each name is the version of the stored format. The service
 * worker deletes caches with another digit.
 */
export const cacheNames = {
  form: "offline1-",
  own: "offline1-account-",
  open: "offline1-open",
  worker: "offline1-worker",
} as const;

/** First deletes each entry, because browsers leave files on disk if only the whole cache is deleted. */
export async function deleteCaches(beginning: string): Promise<void> {
  const { caches: storage } = self;
  for (const name of await storage.keys()) {
    if (!name.startsWith(beginning)) continue;
    const cache = await storage.open(name);
    for (const request of await cache.keys()) await cache.delete(request);
    await storage.delete(name);
  }
}
