import { useEffect } from "react";
import { useIdleImport } from "./idle-import";
import { Banner, markHydrated, useToasts } from "./toast";

/** Renders toasts, once per document. Until the module for toasts has loaded, and if loading fails, a toast is a banner. */
export function Toaster() {
  const Region = useIdleImport(() => import("./toast-region"));
  const { current, isReady } = useToasts();
  useEffect(markHydrated, []);
  return Region ? <Region /> : !isReady && current && !current.bannerShown && <Banner toast={current.toast} />;
}
