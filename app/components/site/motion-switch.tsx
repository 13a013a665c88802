import { useMotion } from "../motion";

/** Reserves the space in the header, so that the button causes no layout shift. */
export function MotionSwitch() {
  const motion = useMotion();
  return <div className="hidden size-11 moves:block">{motion && <motion.PauseButton />}</div>;
}
