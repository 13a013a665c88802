import { useMotion } from "../motion";

export function MotionSwitch() {
  const motion = useMotion();
  return <div className="hidden size-11 moves:block">{motion && <motion.PauseButton />}</div>;
}
