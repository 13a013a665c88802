/** What the event `lost` says: whether the part is gone for good. */
export type Lost = { isGone: boolean };

/** How long to wait before a part of a page is asked for another time, in milliseconds. */
const pause = 2000;

/**
 * The module at `address`, a part of a page that could not be imported, as soon as the line carries it. The window hears
 * `lost` at every attempt that fails. Where the module is gone, there is another version of the site by now: only a page
 * that is loaded as a whole has its parts, and what listens to `lost` goes there.
 */
export async function loadAgain(address: string): Promise<unknown> {
  // Firefox keeps the failure of an address: another one is asked for each time.
  const next = `${address}?`;
  const answer = await fetch(next).catch(() => null);
  if (answer?.ok) return import(/* @vite-ignore */ next);
  const isGone = answer?.status === 404;
  dispatchEvent(new CustomEvent<Lost>("lost", { detail: { isGone } }));
  if (isGone) return new Promise(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, pause));
  return loadAgain(next);
}
