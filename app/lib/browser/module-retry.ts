export type ModuleLoadFailure = { isGone: boolean };

declare global {
  interface Window {
    /** Called by React Router when a route's module did not load (patches/). */
    reloadRouteModule: typeof retryModuleImport;
  }
}

const retryDelayMs = 2000;

/** After a 404 a newer version is deployed: the promise stays pending, and the listener of `lost` reloads. */
export async function retryModuleImport(address: string): Promise<unknown> {
  // Firefox caches a failed import by its URL.
  const next = `${address}?`;
  const response = await fetch(next).catch(() => null);
  if (response?.ok) return import(/* @vite-ignore */ next);
  const isGone = response?.status === 404;
  dispatchEvent(new CustomEvent<ModuleLoadFailure>("lost", { detail: { isGone } }));
  if (isGone) return new Promise(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
  return retryModuleImport(next);
}
