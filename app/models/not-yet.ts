/** Features that the specification only announces: their buttons show a toast (sections 2 and 7). */
import type { Toast } from "../lib/http/toast.ts";

/** Returns the toast of an industry's button. */
export function industryToast(name: string): Toast {
  return { title: `${name} Clicked`, description: "This feature is not implemented yet.", variant: "default" };
}

/** Returns the toast of a payment's button. */
export function paymentToast({ action }: { action: string }): Toast {
  return { title: action, description: "This is a demo. No payment will be processed.", variant: "default" };
}

/** Returns the toast of "Forgot password?". */
export function forgotPasswordToast(): Toast {
  return { title: "Feature coming soon!", variant: "default" };
}
