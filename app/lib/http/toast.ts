import type { LinkProps } from "react-router";

/** Section 2 of the specification. Without script, a toast is a banner in the page. */
export type Toast = {
  title: string;
  description?: string;
  variant: "default" | "destructive";
  action?: { label: string } & Pick<LinkProps, "to" | "state" | "replace" | "preventScrollReset" | "viewTransition">;
  /** Milliseconds with script; 5000 by default. */
  duration?: number;
  lastsForNavigation?: true;
};

export const somethingWentWrong = "Something went wrong";
