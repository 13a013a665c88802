import { animate } from "framer-motion/dom/mini";
import { mayMove } from "./moving";

// `ease` must equal the variable `--ease-out` in app.css.
const timing = { duration: 0.18, ease: [0.2, 0.7, 0.2, 1] } as const;

// `move` waits for at most 400 ms, because the promise `finished` of a replaced animation never settles.
const maxDurationMs = 400;

/** After the animation, the element stays at the last keyframe. Resolves immediately if `mayMove` returns false. */
export default async function move(element: Element, keyframes: Record<string, string[] | number[]>): Promise<void> {
  if (!mayMove()) return;
  const { finished } = animate(element, keyframes, { ...timing, ease: [...timing.ease] });
  await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, maxDurationMs))]);
}
