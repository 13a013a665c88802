import { type ComponentProps, lazy, Suspense } from "react";
import type { EmailDraftPanel } from "./email-draft-panel";

const importPanel = () => import("./email-draft-panel");
// If the browser cannot load the panel, the toast and the email app remain.
const Panel = import.meta.env.SSR
  ? (await importPanel()).EmailDraftPanel
  : lazy(() =>
      importPanel().then(
        ({ EmailDraftPanel }) => ({ default: EmailDraftPanel }),
        () => ({ default: () => <></> }),
      ),
    );

export function LazyEmailDraftPanel(props: ComponentProps<typeof EmailDraftPanel>) {
  return (
    <Suspense>
      <Panel {...props} />
    </Suspense>
  );
}
