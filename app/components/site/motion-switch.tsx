import { useMotion } from "../motion";

/** The place of the pause button in the bar: reserved wherever there may be animation. */
export function MotionSwitch() {
  const motion = useMotion();
  return <div className="hidden size-11 moves:block">{motion && <motion.PauseButton />}</div>;
}
