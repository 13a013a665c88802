import { CircleAlert, CircleCheck } from "lucide-react";
import type { Toast } from "~/lib/flash";

/** A toast, printed by the server as a banner that stays in sight and is gone on the next page. */
export function Flash({ toast }: { toast: Toast }) {
  const failed = toast.variant === "destructive";
  const Mark = failed ? CircleAlert : CircleCheck;
  return (
    <div
      role={failed ? "alert" : "status"}
      className={`sticky top-2 z-10 mb-6 flex gap-3 rounded-label border-l-4 bg-raised px-4 py-3 shadow-float ${failed ? "border-failure" : "border-done"}`}
    >
      <Mark aria-hidden className={`mt-0.5 size-5 shrink-0 ${failed ? "text-failure" : "text-done"}`} />
      <div>
        <p className="font-semibold">{toast.title}</p>
        {toast.description && <p className="text-sm text-quiet">{toast.description}</p>}
      </div>
    </div>
  );
}
