import { type RefObject, useEffect } from "react";
import move from "./move";

/** Where the line begins, and how far its stations are apart, in units of its drawing. */
const lineStart = 10;
const stationDistance = 20;

/** The stage of each shipment when it was last in view, by its id, in this document. */
const lastStages = new Map<string, number>();

/**
 * Where a shipment has advanced since it was last in view, its station moves along the line, and the line behind it grows.
 */
export function StageAnimation(props: { line: RefObject<Element | null>; shipment: string; stage: number }) {
  const { line, shipment, stage } = props;
  useEffect(() => {
    const from = lastStages.get(shipment) ?? stage;
    lastStages.set(shipment, stage);
    const way = line.current?.querySelectorAll("path")[1];
    const station = line.current?.querySelectorAll("circle")[stage - 1];
    if (from >= stage || !way || !station) return;
    way.style.transformOrigin = `${lineStart}px 0`;
    move(way, { scale: [`${(from - 1) / (stage - 1)} 1`, "1 1"] });
    move(station, { translate: [`${(from - stage) * stationDistance}px 0`, "0 0"] });
  }, [line, shipment, stage]);
  return null;
}
