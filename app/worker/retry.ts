/** The only script in an offline copy. Reloads the page when the site responds again or the account has changed. */
import { deleteCaches, cacheNames as names } from "../components/offline/cache-names.ts";
import { onAccountCheck, readAccountCookie } from "../lib/browser/account.ts";

const [minRetryDelay, maxRetryDelay] = [5000, 5 * 60_000];

const reloadPage = () => location.reload();

/** The accounts with offline copies. This script compares them with a cookie that the service worker cannot read. */
const accounts = document.currentScript?.dataset.accounts;
function checkAccount(): void {
  if (!accounts || accounts === readAccountCookie()) return;
  document.documentElement?.remove();
  void deleteCaches(names.own).then(reloadPage);
}
checkAccount();
onAccountCheck(checkAccount);

addEventListener("online", reloadPage);
navigator.serviceWorker.onmessage = reloadPage;

const pollSite = (delay: number) =>
  setTimeout(async () => {
    const response = await fetch("/healthz", { cache: "no-store" }).catch(() => null);
    if (response && response.status < 500) reloadPage();
    else pollSite(Math.min(2 * delay, maxRetryDelay));
  }, delay);
pollSite(minRetryDelay);
