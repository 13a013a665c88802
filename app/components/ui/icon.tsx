import type { IconNode } from "lucide";
import { createElement } from "react";

/** Icons are hidden from screen readers, so text next to an icon must express the icon's meaning. */
export function Icon(props: { of: IconNode; className: string; strokeWidth?: number }) {
  const { of: shapes, className, strokeWidth = 2 } = props;
  const attributes = {
    viewBox: "0 0 24 24",
    // Without CSS, an icon without width and height would fill the page.
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
  return createElement("svg", attributes, ...shapes.map(([tag, shape]) => createElement(tag, shape)));
}
