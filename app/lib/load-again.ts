/** How long to wait before a part of a page is asked for another time, in milliseconds. */
const pause = 2000;

/**
 * The module at `address`, a part of a page that could not be imported, as soon as the line carries it. The window hears
 * `lost` at every attempt that fails. Where an answer comes, and not the module, there is another version of the site by
 * now: the page in view is loaded anew.
 */
export async function loadAgain(address: string): Promise<unknown> {
  // Firefox keeps the failure of an address: another one is asked for each time.
  const next = `${address}?`;
  const answer = await fetch(next).catch(() => null);
  if (answer && !answer.ok) location.reload();
  if (answer?.ok) return import(/* @vite-ignore */ next);
  dispatchEvent(new Event("lost"));
  await new Promise((resolve) => setTimeout(resolve, pause));
  return loadAgain(next);
}
