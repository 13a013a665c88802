import { CarouselButtons } from "./carousel-buttons";
import { CarouselControls } from "./carousel-controls";
import { CountUp } from "./count-up";
import { MarqueeLoop } from "./marquee-loop";
import { MovingStreaks } from "./moving-streaks";
import { PauseButton } from "./pause-button";
import { StageAnimation } from "./stage-animation";

export default {
  CarouselControls,
  CountUp,
  MarqueeLoop,
  PauseButton,
  CarouselButtons,
  MovingStreaks,
  StageAnimation,
};
