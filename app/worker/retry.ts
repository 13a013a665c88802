/** The one script of a kept page: shows the page itself once there is a connection, or once its answer came after all. */
export {};

/** How long to wait before asking again whether the site answers, in milliseconds: at first, and at most. */
const [minRetryDelay, maxRetryDelay] = [5000, 5 * 60_000];

const reloadPage = () => location.reload();
addEventListener("online", reloadPage);
navigator.serviceWorker.onmessage = reloadPage;

const pollSite = (pause: number) =>
  setTimeout(async () => {
    const answer = await fetch("/healthz", { cache: "no-store" }).catch(() => null);
    if (answer && answer.status < 500) reloadPage();
    else pollSite(Math.min(2 * pause, maxRetryDelay));
  }, pause);
pollSite(minRetryDelay);
