import { useMotion } from "../motion";

/** The streaks behind every page, loaded when the browser is idle. */
export function Streaks() {
  const motion = useMotion();
  return motion && <motion.MovingStreaks />;
}
