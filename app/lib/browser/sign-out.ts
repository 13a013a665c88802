const channelName = "signed-out";
const signOutListeners = new Set<() => void>();
let hasPendingBroadcast = false;

export function onSignOut(forget: () => void): void {
  signOutListeners.add(forget);
}

export function clearOnSignOut(): void {
  clearTab();
  hasPendingBroadcast = true;
}

/** Must be called after the next page is shown. Otherwise the login page in another tab would show this tab's toast. */
export function broadcastSignOut(): void {
  if (!hasPendingBroadcast) return;
  hasPendingBroadcast = false;
  const channel = openChannel();
  channel?.postMessage("");
  channel?.close();
}

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
  // Inline scripts of the document contain loader data, such as the client's shipments.
  for (const script of document.querySelectorAll("script:not([src])")) script.textContent = "";
}

function openChannel(): BroadcastChannel | null {
  return "BroadcastChannel" in window ? new BroadcastChannel(channelName) : null;
}
