import { CarouselControls } from "./carousel-controls";
import { CountUp } from "./count-up";
import { Loop } from "./loop";
import { MovingStreaks } from "./moving-streaks";
import { PauseButton } from "./pause-button";
import { RowButtons } from "./row-buttons";
import { StageMove } from "./stage-move";

export default { CarouselControls, CountUp, Loop, PauseButton, RowButtons, MovingStreaks, StageMove };
