import type { LinkProps } from "react-router";

/** A toast as in section 2 of the specification. Without JavaScript, a toast is a banner in the page. */
export type Toast = {
  title: string;
  description?: string;
  variant: "default" | "destructive";
  /** True if the toast reports no completed action. The toast has no tick. */
  isInfo?: true;
  action?: { label: string } & Pick<LinkProps, "to" | "state" | "replace" | "preventScrollReset" | "viewTransition">;
  /** Milliseconds until a script removes the toast, 5000 by default. */
  duration?: number;
  lastsForNavigation?: true;
};

export const somethingWentWrong = "Something went wrong";
