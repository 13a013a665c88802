/** When the connection is lost during a request of the router, the page in view stays and a toast says so. */
import { type ContextType, useContext, useEffect, useState } from "react";
import {
  createPath,
  type DataStrategyResult,
  data,
  type MiddlewareFunction,
  Outlet,
  UNSAFE_DataRouterContext as RouterContext,
  UNSAFE_DataRouterStateContext as StateContext,
} from "react-router";
import { createConnectionLostToast, isConnectionLost } from "~/lib/browser/connection";
import type { ModuleLoadFailure as PartLost } from "~/lib/browser/module-retry";
import { showToast } from "../ui/toast-state";

/** The router of this document, set by Page. */
export let router: NonNullable<ContextType<typeof RouterContext>>["router"];
/** The state of the router that the page in view was drawn from: its own goes ahead while a slow phone draws. */
export let renderedState: ContextType<typeof StateContext>;
/** Index of the page in view in the tab's history. */
let historyIndex: number;
let isReturning = false;
/** How many requests of the router got no answer. */
export let lostRequestCount = 0;
/** How long to wait before revalidating again, in milliseconds. */
const retryDelay = 2000;

/** Runs around every request of the router: navigations, revalidations and actions. */
export const connectionLostMiddleware: MiddlewareFunction<Record<string, DataStrategyResult>> = async (
  { request },
  next,
) => {
  // Going back to the page in view needs no new data.
  if (isReturning) return {};
  const results = await next();
  const lost = Object.keys(results).filter((id) => isConnectionLost(results[id]?.result));
  if (lost.length === 0 || request.signal.aborted) return results;
  // The action succeeded and only the page after it was lost: its error page shows, so that nobody resubmits the form.
  if (hasActionSucceeded()) return results;
  await handleConnectionLost();
  for (const id of lost) {
    if (request.method !== "GET") results[id] = { type: "data", result: data(null, { status: 504 }) };
    else if (id in router.state.loaderData) delete results[id];
  }
  return results;
};

const isNavigatingAway = ({ location, navigation } = router.state) =>
  navigation.location !== undefined && createPath(navigation.location) !== createPath(location);

const hasActionSucceeded = ({ navigation } = router.state) =>
  isNavigatingAway() && navigation.state === "loading" && navigation.formMethod === "POST";

/** A module of the next page failed to load (lib/browser/module-retry.ts): stays here, or loads the document if it is gone. */
function handleModuleLoadFailure(event: Event): void {
  const { isGone } = (event as CustomEvent<PartLost>).detail;
  const { navigation } = router.state;
  if (!isNavigatingAway() || isReturning) return;
  if (isGone && navigation.location) window.location.assign(createPath(navigation.location));
  else if (!hasActionSucceeded()) void handleConnectionLost();
}

/** Says that no answer came, and undoes the navigation under way. */
async function handleConnectionLost(): Promise<void> {
  lostRequestCount += 1;
  showToast(createConnectionLostToast(isNavigatingAway() && !router.state.navigation.formMethod));
  if (isNavigatingAway()) await cancelNavigation();
}

/**
 * Undoes the navigation under way: the page in view stays. Back and Forward have changed the address already; other
 * navigations change it when they finish.
 */
export async function cancelNavigation(): Promise<void> {
  const { location } = router.state;
  const { pathname, search, state } = location;
  const way = historyIndex - history.state?.idx;
  isReturning = true;
  if (way) await router.navigate(way);
  else await router.navigate({ pathname, search }, { replace: true, preventScrollReset: true, state });
  isReturning = false;
  // Restores the hash, left out above so as not to scroll.
  history.replaceState(history.state, "", createPath(location));
}

/** Revalidates the page in view, again and again until an answer comes or the page is left. */
export async function revalidateUntilLoaded(): Promise<void> {
  const { pathname } = router.state.location;
  for (;;) {
    const before = lostRequestCount;
    await router.revalidate();
    if (lostRequestCount === before || router.state.location.pathname !== pathname) return;
    await new Promise((resolve) => setTimeout(resolve, retryDelay));
  }
}

/**
 * The page, with its actionData kept. React Router drops actionData whenever the address changes, also when nothing is
 * loaded: for a hash, for the quote form over the page, for a navigation that was undone.
 */
export function RootOutlet() {
  const context = useContext(RouterContext);
  const state = useContext(StateContext);
  const [kept, keep] = useState(state);
  useEffect(() => {
    if (context) router = context.router;
    addEventListener("lost", handleModuleLoadFailure);
  }, [context]);
  useEffect(() => {
    renderedState = state;
    if (state?.navigation.state === "idle") historyIndex = history.state?.idx;
  }, [state]);
  if (!state || !kept) return null;
  const isSame = state.location.pathname === kept.location.pathname && state.loaderData.root === kept.loaderData.root;
  if (state !== kept && (state.actionData || !isSame)) keep(state);
  return (
    <StateContext value={isSame && !state.actionData ? { ...state, actionData: kept.actionData } : state}>
      <Outlet />
    </StateContext>
  );
}
