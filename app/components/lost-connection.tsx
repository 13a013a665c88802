/** What happens when the line breaks under a request of the router: what stood there stays, and a toast says so. */
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
import { isLost, noAnswer } from "~/lib/connection";
import type { Lost as PartLost } from "~/lib/load-again";
import { showToast } from "./flash";

let router: NonNullable<ContextType<typeof RouterContext>>["router"];
/** The place of the page in view in the history of the tab. */
let entry: number;
let isReturning = false;
let losses = 0;
/** How long to wait before the data of a page is asked for another time, in milliseconds. */
const pause = 2000;

/** Before every request of the router: for a page, for the page in view once more, to an action. */
export const stayOnPage: MiddlewareFunction<Record<string, DataStrategyResult>> = async ({ request }, next) => {
  // The page in view has what it needs.
  if (isReturning) return {};
  const results = await next();
  const lost = Object.keys(results).filter((id) => isLost(results[id]?.result));
  if (lost.length === 0 || request.signal.aborted) return results;
  // The page that follows a form that was taken says itself that it did not come: that form is not sent again.
  if (isTaken()) return results;
  await lose();
  for (const id of lost) {
    if (request.method !== "GET") results[id] = { type: "data", result: data(null, { status: 504 }) };
    else if (id in router.state.loaderData) delete results[id];
  }
  return results;
};

const isLeaving = ({ location, navigation } = router.state) =>
  navigation.location !== undefined && createPath(navigation.location) !== createPath(location);

const isTaken = ({ navigation } = router.state) =>
  isLeaving() && navigation.state === "loading" && navigation.formMethod === "POST";

/** Part of a page did not come (lib/load-again.ts): nobody waits for it. One that is gone for good comes with its page. */
function partLost(event: Event): void {
  const { isGone } = (event as CustomEvent<PartLost>).detail;
  const { navigation } = router.state;
  if (!isLeaving() || isReturning) return;
  if (isGone && navigation.location) window.location.assign(createPath(navigation.location));
  else if (!isTaken()) void lose();
}

/**
 * Says that no answer came, and ends a navigation where it began. Back and Forward have changed the address at once,
 * anything else does at its end.
 */
async function lose(): Promise<void> {
  losses += 1;
  showToast(noAnswer());
  if (!isLeaving()) return;
  const { location } = router.state;
  const { pathname, search, state } = location;
  const way = entry - history.state?.idx;
  isReturning = true;
  if (way) await router.navigate(way);
  else await router.navigate({ pathname, search }, { replace: true, preventScrollReset: true, state });
  isReturning = false;
  // The place on the page, which would have scrolled it.
  history.replaceState(history.state, "", createPath(location));
}

/** Asks for the data of the page in view once more, and again until an answer comes or the page is left. */
export async function renew(): Promise<void> {
  const { pathname } = router.state.location;
  for (;;) {
    const before = losses;
    await router.revalidate();
    if (losses === before || router.state.location.pathname !== pathname) return;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/**
 * The page, with what its form was answered. The framework drops the answer when the address changes, also where it
 * asks for nothing: with a place on the page, with the quote form over it, with a way that led nowhere.
 */
export function Page() {
  const context = useContext(RouterContext);
  const state = useContext(StateContext);
  const [kept, keep] = useState(state);
  useEffect(() => {
    if (context) router = context.router;
    addEventListener("lost", partLost);
  }, [context]);
  useEffect(() => {
    if (state?.navigation.state === "idle") entry = history.state?.idx;
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
