import { useMotion } from "../motion";

/** Reserves the button's space in the header before the button is loaded, to prevent a layout shift. */
export function MotionSwitch() {
  const motion = useMotion();
  return <div className="hidden size-11 moves:block">{motion && <motion.PauseButton />}</div>;
}
