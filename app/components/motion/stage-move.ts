import { type RefObject, useEffect, useRef } from "react";
import move from "./move";

/** Half of what is between two stations of the line, and how far they are apart, in units of its drawing. */
const edge = 10;
const step = 20;

/** When the stage of the shipment in view advances, its station moves along the line, and the line behind it grows. */
export function StageMove({ line, stage }: { line: RefObject<Element | null>; stage: number }) {
  const before = useRef(stage);
  useEffect(() => {
    const from = before.current;
    before.current = stage;
    const way = line.current?.querySelectorAll("path")[1];
    const station = line.current?.querySelectorAll("circle")[stage - 1];
    if (from >= stage || !way || !station) return;
    way.style.transformOrigin = `${edge}px 0`;
    move(way, { scale: [`${(from - 1) / (stage - 1)} 1`, "1 1"] });
    move(station, { translate: [`${(from - stage) * step}px 0`, "0 0"] });
  }, [line, stage]);
  return null;
}
