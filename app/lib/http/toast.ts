import type { LinkProps } from "react-router";

/** A toast of section 2 of the specification; without script a banner of the page. */
export type Toast = {
  title: string;
  description?: string;
  variant: "default" | "destructive";
  /** A link to what the toast is about. */
  action?: { label: string } & Pick<LinkProps, "to" | "state" | "replace" | "preventScrollReset" | "viewTransition">;
  /** How long it stays once script runs, in milliseconds; 5000 when not said. */
  duration?: number;
  /** Of a navigation under way: it stays until that ends, and its link undoes it. */
  lastsForNavigation?: true;
};

/** Said when the backend gives no reason. */
export const somethingWentWrong = "Something went wrong";
