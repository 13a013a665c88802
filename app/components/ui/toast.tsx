/** The server renders a toast as a banner, which the toast module replaces with a floating toast. */
import { X } from "lucide";
import { type RefObject, useEffect, useRef } from "react";
import { Icon } from "~/components/ui/icon";
import type { Toast } from "~/lib/http/toast";
import { useIdleImport } from "./idle-import";
import { closeButtonClass, ToastContent, toastClass } from "./toast-content";
import { closeBanner, showToast, showToastNext, toastState, useToasts } from "./toast-state";

let isHydrated = false;

export function Toaster() {
  const Region = useIdleImport(() => import("./toast-region"));
  const { current, isReady } = useToasts();
  useEffect(() => {
    isHydrated = true;
  }, []);
  return Region ? <Region /> : !isReady && current && !current.bannerShown && <Banner toast={current.toast} />;
}

/** Shows a toast, at first as a banner. With `patient`, the toast waits until the visible toast has closed. */
export function PageToast({ toast, patient = false }: { toast: Toast; patient?: boolean }) {
  const banner = useRef<HTMLDetailsElement>(null);
  const isShown = usePageToast(toast, patient, banner);
  return isShown ? null : <Banner toast={toast} patient={patient} ref={banner} />;
}

/** Returns false until the toast module is loaded; the caller must then show the toast as a banner. */
export function usePageToast(
  toast: Toast | undefined,
  patient = false,
  banner?: RefObject<HTMLDetailsElement | null>,
): boolean {
  const { isReady } = useToasts();
  useEffect(() => {
    if (!toast) return;
    if (banner?.current?.open === false) return closeBanner(toast);
    // In the initial HTML, screen readers announce only role=alert. In elements that a script inserts, screen readers
    // also announce role=status.
    const bannerShown = !toastState.isReady;
    if (patient) showToastNext(toast);
    else showToast(toast, bannerShown, bannerShown && (isHydrated || toast.variant === "destructive"));
  }, [toast, patient, banner]);
  return isReady;
}

/** Without JavaScript, the banner is a part of the page. With JavaScript, the banner is at the position of a toast. */
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
