/** The one script of a kept page: shows the page itself once there is a connection, or once its answer came after all. */
export {};

/** How long to wait before asking again whether the site answers, in milliseconds: at first, and at most. */
const [first, most] = [5000, 5 * 60_000];

const show = () => location.reload();
addEventListener("online", show);
navigator.serviceWorker.onmessage = show;

const ask = (pause: number) =>
  setTimeout(async () => {
    const answer = await fetch("/healthz", { cache: "no-store" }).catch(() => null);
    if (answer && answer.status < 500) show();
    else ask(Math.min(2 * pause, most));
  }, pause);
ask(first);
