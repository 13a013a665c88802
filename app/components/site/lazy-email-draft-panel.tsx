import { type ComponentProps, lazy, Suspense } from "react";
import type { EmailDraftPanel } from "./email-draft-panel";

const importPanel = () => import("./email-draft-panel");
// In a browser only who has sent a form needs it. Where its code does not come, the toast and the mail application remain.
const Panel = import.meta.env.SSR
  ? (await importPanel()).EmailDraftPanel
  : lazy(() =>
      importPanel().then(
        ({ EmailDraftPanel: MailReady }) => ({ default: MailReady }),
        () => ({ default: () => <></> }),
      ),
    );

/** MailReady on pages that are about something else: the server prints it at once, a browser fetches its code. */
export function LazyEmailDraftPanel(props: ComponentProps<typeof EmailDraftPanel>) {
  return (
    <Suspense>
      <Panel {...props} />
    </Suspense>
  );
}
