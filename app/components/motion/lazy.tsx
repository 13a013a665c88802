import { Pause, Play } from "lucide";
import { type ReactNode, type RefObject, useEffect, useState } from "react";
import { Icon } from "~/components/ui/icon";
import { Button } from "../ui/button";
import { CarouselButtons, CarouselControls } from "./carousel";
import { CountUp } from "./count-up";
import move from "./move";
import { setPaused, useMotionSwitch, useMoving } from "./moving";
import { MovingStreaks } from "./moving-streaks";

function MarqueeLoop({ strip, children }: { strip: RefObject<HTMLElement | null>; children: ReactNode }) {
  const moving = useMoving(strip);
  const [hasMoved, setMoved] = useState(false);
  useEffect(() => {
    if (!strip.current) return;
    // A scrollable row must be reachable by keyboard.
    strip.current.tabIndex = 0;
    strip.current.toggleAttribute("data-moving", moving);
    if (!moving) return;
    strip.current.scrollLeft = 0;
    setMoved(true);
  }, [strip, moving]);
  return hasMoved && children;
}

function PauseButton() {
  const state = useMotionSwitch();
  if (!state) return null;
  const isPaused = state === "paused";
  return (
    <Button look="icon" type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
      <Icon of={isPaused ? Play : Pause} className="size-5" />
      <span className="sr-only">Pause all animations</span>
    </Button>
  );
}

// `lineStart` and `stationDistance` must equal the distances in the viewBox of `Stations` (route-line.tsx).
const lineStart = 10;
const stationDistance = 20;

const lastStageByShipment = new Map<string, number>();

function StageAnimation(props: { line: RefObject<Element | null>; shipment: string; stage: number }) {
  const { line, shipment, stage } = props;
  useEffect(() => {
    const from = lastStageByShipment.get(shipment) ?? stage;
    lastStageByShipment.set(shipment, stage);
    const progressLine = line.current?.querySelectorAll("path")[1];
    const station = line.current?.querySelectorAll("circle")[stage - 1];
    if (from >= stage || !progressLine || !station) return;
    progressLine.style.transformOrigin = `${lineStart}px 0`;
    move(progressLine, { scale: [`${(from - 1) / (stage - 1)} 1`, "1 1"] });
    move(station, { translate: [`${(from - stage) * stationDistance}px 0`, "0 0"] });
  }, [line, shipment, stage]);
  return null;
}

export default {
  CarouselControls,
  CountUp,
  MarqueeLoop,
  PauseButton,
  CarouselButtons,
  MovingStreaks,
  StageAnimation,
};
