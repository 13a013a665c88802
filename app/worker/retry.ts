/** The only script of an offline copy. Reloads the page when the site responds again. */
export {};

const [minRetryDelay, maxRetryDelay] = [5000, 5 * 60_000];

const reloadPage = () => location.reload();
addEventListener("online", reloadPage);
navigator.serviceWorker.onmessage = reloadPage;

const pollSite = (delay: number) =>
  setTimeout(async () => {
    const response = await fetch("/healthz", { cache: "no-store" }).catch(() => null);
    if (response && response.status < 500) reloadPage();
    else pollSite(Math.min(2 * delay, maxRetryDelay));
  }, delay);
pollSite(minRetryDelay);
