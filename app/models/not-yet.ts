/** Features that the specification only announces: their buttons show a toast, no more (sections 2 and 7). */
import type { Toast } from "../lib/http/toast.ts";

/** For a press on an industry, by its name. */
export function industryToast(name: string): Toast {
  return { title: `${name} Clicked`, description: "This feature is not implemented yet.", variant: "default" };
}

/** For a press on the button of a payment. */
export function paymentToast({ action }: { action: string }): Toast {
  return { title: action, description: "This is a demo. No payment will be processed.", variant: "default" };
}

/** For 'Forgot password?'. */
export function forgotPasswordToast(): Toast {
  return { title: "Feature coming soon!", variant: "default" };
}
