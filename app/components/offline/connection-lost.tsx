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
import { leaveOtherAccount } from "~/lib/browser/account";
import {
  type ConnectionLostData,
  connectionLostError,
  continuesStep,
  createConnectionLostToast,
  fileChangedError,
  isConnectionLost,
  isReadable,
  retryStep,
} from "~/lib/browser/connection";
import type { ModuleLoadFailure as PartLost } from "~/lib/browser/module-retry";
import { showToast } from "../ui/toast-state";

export let router: NonNullable<ContextType<typeof RouterContext>>["router"];
/** The router state of the visible page. On slow phones, `router.state` changes noticeably earlier than the page. */
export let renderedState: ContextType<typeof StateContext>;
/** React Router's index of the rendered page in the tab's history (`history.state.idx`). */
let historyIndex: number;
let isReturning = false;
export let lostRequestCount = 0;
const retryDelayMs = 2000;
/** If the account has changed, the browser must fully reload the portal, the desk and the login page. */
const personalPaths = /^\/(portal|desk|login)/;

export const connectionLostMiddleware: MiddlewareFunction<Record<string, DataStrategyResult>> = async (
  { request },
  next,
) => {
  // After a cancelled navigation, the router returns to the rendered page, which needs no new data.
  if (isReturning) return {};
  const { pathname } = new URL(request.url);
  const isForm = request.method !== "GET";
  const isPersonal = personalPaths.test(location.pathname) || (!isForm && personalPaths.test(pathname));
  const address = isForm || pathname === location.pathname ? "/login" : request.url;
  if (isPersonal && leaveOtherAccount(address)) return new Promise(() => {});
  const results = await next();
  const failed = Object.keys(results).filter((id) => results[id]?.type === "error");
  const fieldErrors = isForm && failed.length > 0 ? await findChangedFiles() : {};
  const isFileChanged = Object.keys(fieldErrors).length > 0;
  const lost = failed.filter((id) => isFileChanged || isConnectionLost(unwrapError(results[id]?.result)));
  if (lost.length === 0 || request.signal.aborted) return results;
  // If an action succeeded but the next page did not load, the error page prevents a second submission.
  if (hasActionSucceeded()) return results;
  if (!isForm) {
    await handleConnectionLost();
    for (const id of lost) if (id in router.state.loaderData) delete results[id];
    return results;
  }
  // An action result with status 504 preserves the typed text and prevents React Router from reloading the page's data.
  if (isFormOfOtherPage() || pathname === "/actions/theme") await handleConnectionLost();
  const formError = connectionLostError;
  for (const id of lost)
    results[id] = {
      type: "data",
      result: data<ConnectionLostData>({ result: null, formError, fieldErrors }, { status: 504 }),
    };
  return results;
};

/** A browser cannot send a file that has changed on the device. Without a chosen file, a file field has a nameless file. */
async function findChangedFiles(): Promise<Record<string, string[]>> {
  const errors: Record<string, string[]> = {};
  for (const [name, file] of router.state.navigation.formData ?? [])
    if (file instanceof File && file.name !== "" && !(await isReadable(file))) errors[name] = [fileChangedError];
  return errors;
}

/** React Router wraps errors of actions, but not of loaders, in `data()`. */
const unwrapError = (result: unknown) => {
  const wrapped = (result as { data?: unknown } | null)?.data;
  return wrapped instanceof Error ? wrapped : result;
};

const isNavigatingAway = ({ location, navigation } = router.state) =>
  navigation.location !== undefined && createPath(navigation.location) !== createPath(location);

const isFormOfOtherPage = ({ location, navigation } = router.state) =>
  navigation.location !== undefined && navigation.location.pathname !== location.pathname;

const hasActionSucceeded = ({ navigation } = router.state) =>
  isNavigatingAway() && navigation.state === "loading" && navigation.formMethod === "POST";

/** Fully loads the next page if the server no longer has the page's script (lib/browser/module-retry.ts). */
function handleModuleLoadFailure(event: Event): void {
  const { isGone } = (event as CustomEvent<PartLost>).detail;
  const { navigation } = router.state;
  if (!isNavigatingAway() || isReturning) return;
  if (isGone && navigation.location) window.location.assign(createPath(navigation.location));
  else if (!hasActionSucceeded()) void handleConnectionLost();
}

async function handleConnectionLost(): Promise<void> {
  lostRequestCount += 1;
  const isLeaving = isNavigatingAway();
  const nextStep = isLeaving && !router.state.navigation.formMethod ? continuesStep : retryStep;
  showToast(createConnectionLostToast(nextStep));
  if (isLeaving) await cancelNavigation();
}

/** Cancels the navigation and restores the URL, because Back and Forward change the URL before the page loads. */
export async function cancelNavigation(): Promise<void> {
  const { location } = router.state;
  const { pathname, search, state } = location;
  const way = historyIndex - history.state?.idx;
  isReturning = true;
  if (way) await router.navigate(way);
  else await router.navigate({ pathname, search }, { replace: true, preventScrollReset: true, state });
  isReturning = false;
  // The hash is restored last, because a navigation to a hash scrolls the page.
  history.replaceState(history.state, "", createPath(location));
}

export async function revalidateUntilLoaded(): Promise<void> {
  const { pathname } = router.state.location;
  for (;;) {
    const before = lostRequestCount;
    await router.revalidate();
    if (lostRequestCount === before || router.state.location.pathname !== pathname) return;
    await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
  }
}

/** Preserves actionData, which React Router drops when only the hash or the `quote` parameter changes. */
export function RootOutlet() {
  const context = useContext(RouterContext);
  const state = useContext(StateContext);
  const [lastState, setLastState] = useState(state);
  useEffect(() => {
    if (context) router = context.router;
    addEventListener("lost", handleModuleLoadFailure);
  }, [context]);
  useEffect(() => {
    renderedState = state;
    if (state?.navigation.state === "idle") historyIndex = history.state?.idx;
  }, [state]);
  if (!state || !lastState) return null;
  const isSame =
    state.location.pathname === lastState.location.pathname && state.loaderData.root === lastState.loaderData.root;
  if (state !== lastState && (state.actionData || !isSame)) setLastState(state);
  return (
    <StateContext value={isSame && !state.actionData ? { ...state, actionData: lastState.actionData } : state}>
      <Outlet />
    </StateContext>
  );
}
