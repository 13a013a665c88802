export type ModuleLoadFailure = { isGone: boolean };

declare global {
  interface Window {
    /** React Router calls `reloadRouteModule` when a route's module did not load. A patch in patches/ adds the call. */
    reloadRouteModule: typeof retryModuleImport;
  }
}

const retryDelayMs = 2000;

/** After status 404 (a new deployment) or 431 (too many cookies), the listener for `lost` fully loads the next page. */
export async function retryModuleImport(address: string): Promise<unknown> {
  // Firefox caches a failed import by its URL, so each attempt needs a new URL.
  const next = `${address}?`;
  const response = await fetch(next).catch(() => null);
  if (response?.ok) return import(/* @vite-ignore */ next);
  const isGone = response?.status === 404 || response?.status === 431;
  dispatchEvent(new CustomEvent<ModuleLoadFailure>("lost", { detail: { isGone } }));
  if (isGone) return new Promise(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
  return retryModuleImport(next);
}
