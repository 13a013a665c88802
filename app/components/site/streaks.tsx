import { useMotion } from "../motion";

export function Streaks() {
  const motion = useMotion();
  return motion && <motion.MovingStreaks />;
}
