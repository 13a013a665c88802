import { useRef, useState } from "react";
import { useMoving } from "./moving";

const streakStyles = Array.from({ length: 50 }, (_, index) => {
  // Multiples of the golden ratio, modulo 1, look random and cover the whole range from 0 to 1.
  const spread = (index * 0.618034) % 1;
  const speed = 18 + ((index * 7) % 23);
  return {
    top: `${2 * index + 1}%`,
    width: `${4 + 8 * ((index * 0.37) % 1)}rem`,
    animationDuration: `${speed}s`,
    animationDelay: `${-spread * speed}s`,
    ...(index % 2 ? { right: 0, scale: "-1 1" } : { left: 0 }),
  };
});

export function MovingStreaks() {
  const [isAllowed] = useState(wantsDecoration);
  return isAllowed && <StreakLayer />;
}

function wantsDecoration(): boolean {
  const { connection } = navigator as Navigator & { connection?: { saveData?: boolean } };
  return !connection?.saveData && !matchMedia("(prefers-reduced-data: reduce)").matches;
}

function StreakLayer() {
  const ref = useRef<HTMLDivElement>(null);
  const moving = useMoving(ref);
  return (
    <div ref={ref} aria-hidden className="streaks" data-moving={moving || undefined}>
      {streakStyles.map((style) => (
        <i key={style.top} style={style} />
      ))}
    </div>
  );
}
