import type { IconNode } from "lucide";
import { createElement } from "react";

/** A drawing of the icon set in the colour of the text around it. Decoration: words beside it say what it means. */
export function Icon(props: { of: IconNode; className: string; strokeWidth?: number }) {
  const { of: shapes, className, strokeWidth = 2 } = props;
  const look = {
    viewBox: "0 0 24 24",
    // Where our CSS is missing or not understood, it would fill the page.
    width: 24,
    height: 24,
    fill: "none",
    stroke: "currentColor",
    strokeWidth,
    strokeLinecap: "round",
    strokeLinejoin: "round",
    "aria-hidden": true,
    className,
  } as const;
  return createElement("svg", look, ...shapes.map(([tag, shape]) => createElement(tag, shape)));
}
