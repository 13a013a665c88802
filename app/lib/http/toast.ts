import type { LinkProps } from "react-router";

export type Toast = {
  title: string;
  description?: string;
  variant: "default" | "destructive";
  /** True if the toast reports information instead of a completed action, so that the toast has no tick icon. */
  isInfo?: true;
  action?: { label: string } & Pick<LinkProps, "to" | "state" | "replace" | "preventScrollReset" | "viewTransition">;
  /** Milliseconds until a script removes the toast, 5000 by default. */
  duration?: number;
  lastsForNavigation?: true;
};

export const somethingWentWrong = "Something went wrong";
