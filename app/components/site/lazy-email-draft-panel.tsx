import { type ComponentProps, lazy, Suspense } from "react";
import type { EmailDraftPanel } from "./email-draft-panel";

const importPanel = () => import("./email-draft-panel");
// If the module does not load, the panel stays empty. The email app still shows the email.
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
