/** The server renders each toast as a banner. Script turns it into a toast. */
import { X } from "lucide";
import { type RefObject, useEffect, useRef } from "react";
import { Icon } from "~/components/ui/icon";
import type { Toast } from "~/lib/http/toast";
import { useIdleImport } from "./idle-import";
import { closeButtonClass, ToastContent, toastClass } from "./toast-content";
import { closeBanner, showToast, showToastNext, toastState, useToasts } from "./toast-state";

let isHydrated = false;

/** Renders toasts, once per document. Until the module for toasts has loaded, and if loading fails, a toast is a banner. */
export function Toaster() {
  const Region = useIdleImport(() => import("./toast-region"));
  const { current, isReady } = useToasts();
  useEffect(() => {
    isHydrated = true;
  }, []);
  return Region ? <Region /> : !isReady && current && !current.bannerShown && <Banner toast={current.toast} />;
}

/** Renders a banner on the server and shows a toast once script runs. With `patient`, waits for the end of the visible toast. */
export function PageToast({ toast, patient = false }: { toast: Toast; patient?: boolean }) {
  const banner = useRef<HTMLDetailsElement>(null);
  const isShown = usePageToast(toast, patient, banner);
  return isShown ? null : <Banner toast={toast} patient={patient} ref={banner} />;
}

/** Shows a toast once script runs, and returns true from then on. Until then its caller shows it in the page. */
export function usePageToast(
  toast: Toast | undefined,
  patient = false,
  banner?: RefObject<HTMLDetailsElement | null>,
): boolean {
  const { isReady } = useToasts();
  useEffect(() => {
    if (!toast) return;
    if (banner?.current?.open === false) return closeBanner(toast);
    // In the initial HTML, screen readers announce an alert but no status. They announce both when added later.
    const bannerShown = !toastState.isReady;
    if (patient) showToastNext(toast);
    else showToast(toast, bannerShown, bannerShown && (isHydrated || toast.variant === "destructive"));
  }, [toast, patient, banner]);
  return isReady;
}

/** Without script, a part of the page's content; with script, at the toast's place. A click closes it without script. */
function Banner(props: { toast: Toast; patient?: boolean; ref?: RefObject<HTMLDetailsElement | null> }) {
  const { toast, patient, ref } = props;
  return (
    <div
      role={toast.variant === "destructive" ? "alert" : "status"}
      data-toast={toast.variant}
      className={`${toastClass(toast)} ${patient ? "" : "banner"} has-[details:not([open])]:hidden`}
    >
      <details
        ref={ref}
        open
        onToggle={({ currentTarget }) => currentTarget.open || closeBanner(toast)}
        className="relative grow pr-8"
      >
        <summary className={closeButtonClass}>
          <Icon of={X} className="size-5" />
          <span className="sr-only">Close</span>
        </summary>
        <ToastContent toast={toast} />
      </details>
    </div>
  );
}
