/** Detail of the window event `lost`: whether the module is gone for good. */
export type ModuleLoadFailure = { isGone: boolean };

declare global {
  interface Window {
    /** Called by react-router when the module of a route did not load (patches/). */
    reloadRouteModule: typeof retryModuleImport;
  }
}

/** How long to wait before retrying, in milliseconds. */
const retryDelay = 2000;

/**
 * Retries a module whose import failed until it loads. Fires `lost` on the window at every failed attempt. A 404 means
 * that a newer version of the site is deployed: the promise stays pending, and the listener of `lost` loads the page as
 * a document.
 */
export async function retryModuleImport(address: string): Promise<unknown> {
  // Firefox caches a failed import by URL: a new URL each time.
  const next = `${address}?`;
  const answer = await fetch(next).catch(() => null);
  if (answer?.ok) return import(/* @vite-ignore */ next);
  const isGone = answer?.status === 404;
  dispatchEvent(new CustomEvent<ModuleLoadFailure>("lost", { detail: { isGone } }));
  if (isGone) return new Promise(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, retryDelay));
  return retryModuleImport(next);
}
