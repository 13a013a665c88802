/** The specification (sections 2 and 7) requires buttons for missing features. Each button shows a toast. */
import type { Toast } from "../lib/http/toast.ts";

export function industryToast(name: string): Toast {
  return {
    title: `${name} Clicked`,
    description: "This feature is not implemented yet.",
    variant: "default",
    isInfo: true,
  };
}

export function paymentToast({ action }: { action: string }): Toast {
  return {
    title: action,
    description: "This is a demo. No payment will be processed.",
    variant: "default",
    isInfo: true,
  };
}

export function forgotPasswordToast(): Toast {
  return { title: "Feature coming soon!", variant: "default", isInfo: true };
}
