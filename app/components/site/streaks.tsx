import { useMotion } from "../motion";

/** The streaks behind every page, once script has nothing else to do. */
export function Streaks() {
  const motion = useMotion();
  return motion && <motion.MovingStreaks />;
}
