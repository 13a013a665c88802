import { type ComponentProps, lazy, Suspense } from "react";
import type { MailReady } from "./mail-ready";

const load = () => import("./mail-ready");
// In a browser only who has sent a form needs it. Where its code does not come, the toast and the mail application remain.
const Ready = import.meta.env.SSR
  ? (await load()).MailReady
  : lazy(() =>
      load().then(
        ({ MailReady }) => ({ default: MailReady }),
        () => ({ default: () => <></> }),
      ),
    );

/** MailReady on pages that are about something else: the server prints it at once, a browser fetches its code. */
export function MailReadyLater(props: ComponentProps<typeof MailReady>) {
  return (
    <Suspense>
      <Ready {...props} />
    </Suspense>
  );
}
