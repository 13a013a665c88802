/** What a browser forgets when its person signs out, in this tab and in the others. */

const channelName = "signed-out";
const forgetters = new Set<() => void>();
let isToBeTold = false;

/** Registers `forget` to run when the person signs out in this tab or another, as long as the document lives. */
export function atSignOut(forget: () => void): void {
  forgetters.add(forget);
}

/** Forgets what this tab keeps; the other tabs are told once this one shows the next page. */
export function signedOut(): void {
  forgetAll();
  isToBeTold = true;
}

/**
 * Tells the other tabs once that this one has signed out: they load the login. If told earlier, they would take the
 * flash toast meant for this tab.
 */
export function tellOtherTabs(): void {
  if (!isToBeTold) return;
  isToBeTold = false;
  const channel = openChannel();
  channel?.postMessage("");
  channel?.close();
}

/** Calls back when another tab signs out, after this tab has forgotten what it keeps. Returns how to stop. */
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
  // The loader data of the document is still in its inline scripts.
  for (const script of document.querySelectorAll("script:not([src])")) script.textContent = "";
}

/** Null in browsers without BroadcastChannel. */
function openChannel(): BroadcastChannel | null {
  return "BroadcastChannel" in window ? new BroadcastChannel(channelName) : null;
}
