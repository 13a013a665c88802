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

export let router: NonNullable<ContextType<typeof RouterContext>>["router"];
/** The state of the rendered page. On a slow phone, the router's own state changes some time before it. */
export let renderedState: ContextType<typeof StateContext>;
/** The index in the tab's history. */
let historyIndex: number;
let isReturning = false;
export let lostRequestCount = 0;
/** Milliseconds. */
const retryDelay = 2000;

export const connectionLostMiddleware: MiddlewareFunction<Record<string, DataStrategyResult>> = async (
  { request },
  next,
) => {
  // Going back to the page in view needs no new data.
  if (isReturning) return {};
  const results = await next();
  const lost = Object.keys(results).filter((id) => isConnectionLost(results[id]?.result));
  if (lost.length === 0 || request.signal.aborted) return results;
  // The action succeeded and only the next page was lost. Its error page prevents a second submission.
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

/** Loads the document if the module is gone (lib/browser/module-retry.ts). */
function handleModuleLoadFailure(event: Event): void {
  const { isGone } = (event as CustomEvent<PartLost>).detail;
  const { navigation } = router.state;
  if (!isNavigatingAway() || isReturning) return;
  if (isGone && navigation.location) window.location.assign(createPath(navigation.location));
  else if (!hasActionSucceeded()) void handleConnectionLost();
}

async function handleConnectionLost(): Promise<void> {
  lostRequestCount += 1;
  showToast(createConnectionLostToast(isNavigatingAway() && !router.state.navigation.formMethod));
  if (isNavigatingAway()) await cancelNavigation();
}

/** Also restores the URL: Back and Forward change it when they start, other navigations when they finish. */
export async function cancelNavigation(): Promise<void> {
  const { location } = router.state;
  const { pathname, search, state } = location;
  const way = historyIndex - history.state?.idx;
  isReturning = true;
  if (way) await router.navigate(way);
  else await router.navigate({ pathname, search }, { replace: true, preventScrollReset: true, state });
  isReturning = false;
  // Restores the hash only now, because a navigation with a hash would scroll.
  history.replaceState(history.state, "", createPath(location));
}

export async function revalidateUntilLoaded(): Promise<void> {
  const { pathname } = router.state.location;
  for (;;) {
    const before = lostRequestCount;
    await router.revalidate();
    if (lostRequestCount === before || router.state.location.pathname !== pathname) return;
    await new Promise((resolve) => setTimeout(resolve, retryDelay));
  }
}

/** Stores actionData, because React Router drops it when only the hash or the quote form changes the URL. */
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
