/** The specification (sections 2 and 7) requires buttons for missing features. Each button shows a toast. */
import type { Toast } from "../lib/http/toast.ts";

const createInfoToast = (title: string, description?: string): Toast => {
  return { title, description, variant: "default", isInfo: true };
};

export const industryToast = (name: string) =>
  createInfoToast(`${name} Clicked`, "This feature is not implemented yet.");

export const paymentToast = ({ action }: { action: string }) =>
  createInfoToast(action, "This is a demo. No payment will be processed.");

export const forgotPasswordToast = () => createInfoToast("Feature coming soon!");
