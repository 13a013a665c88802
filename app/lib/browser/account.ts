const storageKey = "account";
/** Other tabs load the login page with this delay, because the toast must appear in the tab that signed out. */
const signOutMs = 3000;

let tabAccount = "";
let hasLeft = false;
let isLoading = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Returns the hash of the signed-in account, "0" after a sign-out, or "" after an expired session. */
export function readAccountCookie(): string {
  const name = `${location.protocol === "https:" ? "__Host-" : ""}account=`;
  const cookie = document.cookie.split("; ").find((each) => each.startsWith(name));
  return cookie?.slice(name.length) ?? "";
}

export function onAccountCheck(check: () => void, signal?: AbortSignal): void {
  for (const type of ["focus", "pageshow", "visibilitychange"]) addEventListener(type, check, { signal });
  window.cookieStore?.addEventListener("change", check, { signal });
}

export function openTabStorage(): void {
  addEventListener("pageshow", () => {
    isLoading = false;
  });
  try {
    tabAccount = sessionStorage.getItem(storageKey) ?? "";
    if (!isOtherAccount()) return;
    tabAccount = "";
    sessionStorage.clear();
  } catch {}
}

/** Records the tab's account. Must be called before a page stores account data in sessionStorage. */
export function claimTab(account: string): void {
  if (tabAccount && tabAccount !== account) leave("/login");
  tabAccount = account;
  try {
    sessionStorage.setItem(storageKey, account);
  } catch {}
}

/** Returns true and hides the page if the tab's account has signed out or another account has logged in. */
export function leaveOtherAccount(address?: string): boolean {
  const isOther = hasLeft || isOtherAccount();
  if (isOther) leave(address);
  return isOther;
}

function isOtherAccount(): boolean {
  const account = readAccountCookie();
  return tabAccount !== "" && account !== "" && account !== tabAccount;
}

function leave(address?: string): void {
  hasLeft = true;
  const delay = document.body.hidden ? 0 : signOutMs;
  document.body.hidden = true;
  try {
    sessionStorage.clear();
  } catch {}
  if (isLoading) return;
  clearTimeout(timer);
  if (address) {
    isLoading = true;
    // Without a delay, Firefox reports an error for a response that this page is still reading.
    setTimeout(() => location.assign(address), 100);
  } else if (!document.hidden) timer = setTimeout(leave, delay, "/login");
}
