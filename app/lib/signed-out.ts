/** What a browser forgets when its person signs out, in this tab and in the others. */

const channelName = "signed-out";
const forgetters = new Set<() => void>();
let isToBeTold = false;

/** Has something forgotten when the person signs out in this tab or another one; lasts as long as the document. */
export function atSignOut(forget: () => void): void {
  forgetters.add(forget);
}

/** Forgets what this tab keeps; the other tabs hear of it when this one has the page that follows. */
export function signedOut(): void {
  forgetAll();
  isToBeTold = true;
}

/**
 * Tells the other tabs that this one has signed out, once. They go to the login then: earlier they would take the
 * flash that is meant for this tab.
 */
export function tellOtherTabs(): void {
  if (!isToBeTold) return;
  isToBeTold = false;
  const channel = openChannel();
  channel?.postMessage("");
  channel?.close();
}

/** Calls back when another tab has signed out, after what this one keeps is forgotten. Returns how to stop. */
export function onSignedOutElsewhere(callback: () => void): () => void {
  const channel = openChannel();
  channel?.addEventListener("message", () => {
    forgetAll();
    callback();
  });
  return () => channel?.close();
}

function forgetAll(): void {
  for (const forget of forgetters) forget();
  // The data that the document came with stands in it, as script that has run.
  for (const script of document.querySelectorAll("script:not([src])")) script.textContent = "";
}

/** Null in a browser that has no such channels. */
function openChannel(): BroadcastChannel | null {
  return "BroadcastChannel" in window ? new BroadcastChannel(channelName) : null;
}
