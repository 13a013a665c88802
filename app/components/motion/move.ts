import { animate } from "framer-motion/dom/mini";
import { mayMove } from "./moving";

/** One easing, as in app.css, and a length between 150 and 250 ms. */
const timing = { duration: 0.18, ease: [0.2, 0.7, 0.2, 1] } as const;

/** When a move counts as over in any case, in milliseconds: one that another takes the place of has no end of its own. */
const maxDuration = 400;

/**
 * Moves an element through keyframes of CSS properties, where it keeps the last; resolves once it is there. Where nothing
 * may move it resolves at once, and the element stays as it is.
 */
export default async function move(element: Element, keyframes: Record<string, string[] | number[]>): Promise<void> {
  if (!mayMove()) return;
  const { finished } = animate(element, keyframes, { ...timing, ease: [...timing.ease] });
  await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, maxDuration))]);
}
