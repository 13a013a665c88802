import { CircleAlert, CircleCheck } from "lucide";
import type { MouseEvent } from "react";
import { TextLink } from "~/components/ui/button";
import { Icon } from "~/components/ui/icon";
import type { Toast } from "~/lib/http/toast";

export function toastClass({ variant, isInfo }: Toast): string {
  return `toast rounded-label border-l-4 bg-raised shadow-float ${isInfo ? "border-edge" : variant === "destructive" ? "border-failure" : "border-done"}`;
}

export const closeButtonClass =
  "absolute -top-2 -right-2 flex size-11 items-center justify-center rounded-label text-quiet hover:text-ink";

export function ToastContent({ toast, onFollow }: { toast: Toast; onFollow?: (event: MouseEvent) => void }) {
  const isError = toast.variant === "destructive";
  const { label, ...link } = toast.action ?? { to: "" };
  const mark = isError ? CircleAlert : CircleCheck;
  return (
    <div className="flex gap-3">
      {toast.isInfo || (
        <Icon of={mark} className={`mt-0.5 size-5 shrink-0 ${isError ? "text-failure" : "text-done"}`} />
      )}
      <div>
        <p className="font-semibold">{toast.title}</p>
        {toast.description && <p className="text-sm text-quiet">{toast.description}</p>}
        {label && (
          <TextLink {...link} onClick={onFollow} className="text-sm">
            {label}
          </TextLink>
        )}
      </div>
    </div>
  );
}
