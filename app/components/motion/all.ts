import { CarouselControls } from "./carousel-controls";
import { CountUp } from "./count-up";
import { Loop } from "./loop";
import { PauseButton } from "./pause-button";
import { RowButtons } from "./row-buttons";
import { Traffic } from "./traffic";

export default { CarouselControls, CountUp, Loop, PauseButton, RowButtons, Traffic };
