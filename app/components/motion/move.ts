import { animate } from "framer-motion/dom/mini";
import { mayMove } from "./moving";

// `ease` must equal `--ease-out` in app.css.
const timing = { duration: 0.18, ease: [0.2, 0.7, 0.2, 1] } as const;

// The promise `finished` never settles if another animation replaces this animation, so `move` waits at most this long.
const maxDurationMs = 400;

/** Leaves the element at the last keyframe. Resolves immediately if motion is not allowed. */
export default async function move(element: Element, keyframes: Record<string, string[] | number[]>): Promise<void> {
  if (!mayMove()) return;
  const { finished } = animate(element, keyframes, { ...timing, ease: [...timing.ease] });
  await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, maxDurationMs))]);
}
