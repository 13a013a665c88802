import { type RefObject, useEffect } from "react";
import move from "./move";

// Lengths in the viewBox units of `Stations` in route-line.tsx.
const lineStart = 10;
const stationDistance = 20;

/** The last displayed stage of each shipment, by shipment ID. */
const shownStages = new Map<string, number>();

export function StageAnimation(props: { line: RefObject<Element | null>; shipment: string; stage: number }) {
  const { line, shipment, stage } = props;
  useEffect(() => {
    const from = shownStages.get(shipment) ?? stage;
    shownStages.set(shipment, stage);
    const progressLine = line.current?.querySelectorAll("path")[1];
    const station = line.current?.querySelectorAll("circle")[stage - 1];
    if (from >= stage || !progressLine || !station) return;
    progressLine.style.transformOrigin = `${lineStart}px 0`;
    move(progressLine, { scale: [`${(from - 1) / (stage - 1)} 1`, "1 1"] });
    move(station, { translate: [`${(from - stage) * stationDistance}px 0`, "0 0"] });
  }, [line, shipment, stage]);
  return null;
}
