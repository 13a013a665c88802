/** What a browser forgets when its person signs out, in this tab and in the others. */

const channelName = "signed-out";
const signOutListeners = new Set<() => void>();
let hasPendingBroadcast = false;

/** Registers `forget` to run when the person signs out in this tab or another, as long as the document lives. */
export function onSignOut(forget: () => void): void {
  signOutListeners.add(forget);
}

/** Forgets what this tab keeps; the other tabs are told once this one shows the next page. */
export function clearOnSignOut(): void {
  clearTab();
  hasPendingBroadcast = true;
}

/**
 * Tells the other tabs once that this one has signed out: they load the login. If told earlier, they would take the
 * flash toast meant for this tab.
 */
export function broadcastSignOut(): void {
  if (!hasPendingBroadcast) return;
  hasPendingBroadcast = false;
  const channel = openChannel();
  channel?.postMessage("");
  channel?.close();
}

/** Calls back when another tab signs out, after this tab has forgotten what it keeps. Returns how to stop. */
export function onSignOutInOtherTab(callback: () => void): () => void {
  const channel = openChannel();
  channel?.addEventListener("message", () => {
    clearTab();
    callback();
  });
  return () => channel?.close();
}

function clearTab(): void {
  for (const forget of signOutListeners) forget();
  // The loader data of the document is still in its inline scripts.
  for (const script of document.querySelectorAll("script:not([src])")) script.textContent = "";
}

/** Null in browsers without BroadcastChannel. */
function openChannel(): BroadcastChannel | null {
  return "BroadcastChannel" in window ? new BroadcastChannel(channelName) : null;
}
